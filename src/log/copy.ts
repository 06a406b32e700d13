/**
 * Copies a log into another one of any engine, through the contract alone. It can be interrupted at any moment and begun again: a stream goes on where its copy
 * ends. Until the end the copy carries a mark, and is not to be used. Texts of the search index are made anew by who keeps it; cursors of the old log do not
 * fit the new one, which is another log.
 */
import { createHash, type Hash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { STREAM_KINDS } from "../schema/stream-kind.ts";
import type { ArtifactOwner, Log, Stream, StreamKind, StreamRow, StreamWriter } from "./contract.ts";
import { LogError } from "./log-error.ts";

const MARK = { kind: "copy", id: "unfinished" };
const PAGE = 1000;
/** Some are large. */
const DOCUMENTS_PAGE = 100;

export type CopyOptions = {
  from: Log;
  to: Log;
  /** Kinds of documents that nobody asks a stream's writer for, although their ids begin with that of the stream. */
  notOfWriters: readonly string[];
  onStream?(done: number, all: number): void;
};

export type Copied = { streams: number; events: number; native_messages: number; documents: number; artifacts: number };

/** Throws for a log that is being copied into. */
export async function mustBeWhole(log: Log): Promise<void> {
  if ((await log.documents.get(MARK.kind, MARK.id)) === undefined) return;
  throw new LogError("migration_failed", "A copy into this log has not ended. Run the same dragoman migrate again.");
}

/** Rejects with `migration_failed` when the target has something of its own, or when the check at the end finds a difference. */
export async function copyLog({ from, to, notOfWriters, onStream }: CopyOptions): Promise<Copied> {
  await mustBeWhole(from);
  await begin(from, to);
  const copied: Copied = { streams: 0, events: 0, native_messages: 0, documents: 0, artifacts: 0 };
  const streams = await allStreams(from);
  const writers = new Map<string, StreamWriter>();
  for (const [index, { kind, id }] of streams.entries()) {
    writers.set(`${kind}/${id}`, await copyStream(from, to, kind, id));
    onStream?.(index + 1, streams.length);
  }
  copied.documents = await copyDocuments(from, to, { writers, notOfWriters });
  copied.artifacts = await copyArtifacts(from, writers);
  await to.committed();
  for (const { kind, id } of streams) {
    const row = await compare(from, to, kind, id);
    copied.streams++;
    copied.events += row.last_sequence;
    copied.native_messages += row.last_native;
  }
  to.documents.delete(MARK.kind, MARK.id);
  await to.committed();
  return copied;
}

async function begin(from: Log, to: Log): Promise<void> {
  const begun = await to.documents.get(MARK.kind, MARK.id);
  if (begun === from.id) return;
  const isEmpty = (await Promise.all(STREAM_KINDS.map((kind) => to.list(kind, { limit: 1 })))).every(
    ({ streams }) => streams.length === 0,
  );
  if (begun !== undefined || !isEmpty) {
    const what = begun === undefined ? "has sessions of its own" : "holds a part of another log";
    throw new LogError("migration_failed", `The target ${what}: copy into an empty one.`);
  }
  to.documents.put(MARK.kind, MARK.id, from.id, { sync: true });
  await to.committed();
}

/** The oldest first, so that lists by time of creation stay as they are. */
async function allStreams(log: Log): Promise<ArtifactOwner[]> {
  const found: (ArtifactOwner & { at: number })[] = [];
  for (const kind of STREAM_KINDS) {
    for (let before: string | null | undefined; before !== null; ) {
      const page = await log.list(kind, { limit: PAGE, ...(before === undefined ? {} : { before }) });
      if (page.damaged.length > 0)
        throw new LogError("migration_failed", `${page.damaged[0]} is damaged, and cannot be copied. Restore it, or remove it.`);
      found.push(...page.streams.map(({ id, created_at }) => ({ kind, id, at: created_at })));
      before = page.next;
    }
  }
  return found.reverse().sort((a, b) => a.at - b.at);
}

async function copyStream(from: Log, to: Log, kind: StreamKind, id: string): Promise<StreamWriter> {
  const source = await from.stream(kind, id);
  if (source === undefined) throw new LogError("stream_deleted", `${kind} ${id} is not there any more.`);
  const row = await source.row();
  const writer = (await to.writer(kind, id)) ?? (await to.create(kind, id, row.state, { created_at: row.created_at }));
  while (writer.lastNative < row.last_native) {
    const page = await source.readNative({ after: writer.lastNative, limit: PAGE });
    for (const { dir, t_ms, type, disposition, body } of page.messages)
      writer.appendNative({ dir, t_ms, type, disposition, raw: body });
    await writer.committed({ bounded: false });
  }
  while (writer.last < row.last_sequence) {
    const page = await source.read({ after: writer.last, limit: PAGE });
    for (const [index, text] of page.events.entries()) {
      const [sequence, type, native] = [page.sequences[index] ?? 0, page.types[index] ?? "", page.natives[index] ?? null];
      writer.append({ text, sequence, type, native, written_at: row.updated_at });
    }
    await writer.committed({ bounded: false });
  }
  if (writer.state() !== row.state) writer.setState(row.state);
  writer.setOpenSince(row.open_since);
  await writer.committed({ bounded: false });
  return writer;
}

type Writers = { writers: ReadonlyMap<string, StreamWriter>; notOfWriters: readonly string[] };

async function copyDocuments(from: Log, to: Log, { writers, notOfWriters }: Writers): Promise<number> {
  let count = 0;
  for (let after: { kind: string; id: string } | undefined; ; ) {
    const page = await from.documents.dump({ limit: DOCUMENTS_PAGE, ...(after === undefined ? {} : { after }) });
    for (const { kind, id, body, expires_at } of page) {
      const owner = notOfWriters.includes(kind) || expires_at !== null ? undefined : ownerOf(id, writers);
      if (owner !== undefined) owner.writer.documents.put(kind, owner.rest, body);
      else to.documents.put(kind, id, body, expires_at === null ? {} : { expiresAt: expires_at });
      after = { kind, id };
      count++;
    }
    await to.committed();
    if (page.length < DOCUMENTS_PAGE) return count;
  }
}

/** Ids of documents begin with `<id>/` for sessions, with `<kind>:<id>/` for others. */
function ownerOf(id: string, writers: ReadonlyMap<string, StreamWriter>): { writer: StreamWriter; rest: string } | undefined {
  const at = id.indexOf("/");
  const name = id.slice(0, Math.max(0, at));
  const colon = name.indexOf(":");
  const writer = writers.get(`session/${name}`) ?? writers.get(`${name.slice(0, colon)}/${name.slice(colon + 1)}`);
  return writer && { writer, rest: id.slice(at + 1) };
}

async function copyArtifacts(from: Log, writers: ReadonlyMap<string, StreamWriter>): Promise<number> {
  let count = 0;
  for (let before: string | null | undefined; before !== null; ) {
    const page = await from.artifacts.list({ limit: 100, ...(before === undefined ? {} : { before }) });
    for (const { artifact_id, kind, mime, name, created_at, owners } of page.artifacts) {
      const read = await from.artifacts.openRead(artifact_id);
      if (read === undefined) continue;
      const bytes = await buffer(read);
      for (const owner of owners) {
        const writer = writers.get(`${owner.kind}/${owner.id}`);
        writer?.artifacts.put(bytes, { kind, mime, ...(name === null ? {} : { name }), created_at });
        await writer?.committed({ bounded: false });
      }
      count++;
    }
    before = page.next;
  }
  return count;
}

/** Every event and every native message of both, and what the rows say. */
async function compare(from: Log, to: Log, kind: StreamKind, id: string): Promise<StreamRow> {
  const [one, other] = [await from.stream(kind, id), await to.stream(kind, id)];
  if (one === undefined || other === undefined) throw different(kind, id, "it is not there");
  const [row, copy] = [await one.row(), await other.row()];
  for (const field of ["created_at", "updated_at", "last_sequence", "last_native", "open_since", "state"] as const)
    if (row[field] !== copy[field]) throw different(kind, id, `its ${field} differs`);
  if ((await digest(one)) !== (await digest(other))) throw different(kind, id, "its events or native messages differ");
  return row;
}

async function digest(stream: Stream): Promise<string> {
  const hash = createHash("sha256");
  for (let after = 0, more = true; more; ) {
    const page = await stream.read({ after, limit: PAGE });
    for (const [index, event] of page.events.entries()) add(hash, event, page.types[index], String(page.natives[index]));
    [after, more] = [page.next, page.has_more];
  }
  for (let after = 0, more = true; more; ) {
    const page = await stream.readNative({ after, limit: PAGE });
    for (const { dir, t_ms, type, disposition, body } of page.messages) add(hash, dir, String(t_ms), type, disposition, body);
    [after, more] = [page.next, page.has_more];
  }
  return hash.digest("hex");
}

function add(hash: Hash, ...parts: (string | Buffer | undefined)[]): void {
  for (const part of parts) hash.update(part ?? "").update("\0");
}

const different = (kind: StreamKind, id: string, how: string): LogError =>
  new LogError(
    "migration_failed",
    `The copy of ${kind} ${id} is not like the original: ${how}. Nothing of the original was changed.`,
  );
