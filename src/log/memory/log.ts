/**
 * A log in memory: the whole contract without a disk. It keeps the contract honest, because it shares no storage with the other engine, and makes unit tests
 * fast. Nothing outlives the process.
 */
import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import type {
  ArtifactAbout,
  ArtifactInfo,
  Artifacts,
  Documents,
  GlobalBatch,
  ListOptions,
  Log,
  LogHealth,
  LogStats,
  Stream,
  StreamKind,
  StreamPage,
  StreamRow,
  StreamWriter,
  SubscribeOptions,
  Subscription,
} from "../contract.ts";
import { exists } from "../entry-errors.ts";
import { LogError } from "../log-error.ts";
import { Pump, Tail } from "../tail.ts";
import { listArtifacts, ownersOf } from "./artifact-list.ts";
import { type MemoryBatch, PlacedMemoryBatch } from "./batch.ts";
import { MemoryDocuments } from "./documents.ts";
import { MemorySearch } from "./search.ts";
import { MemoryStream } from "./stream.ts";
import { MemoryWriter } from "./writer.ts";

export type MemoryLogOptions = {
  /** Subscribers that threw. */
  onError?(error: LogError | null): void;
};

export async function openMemoryLog(options: MemoryLogOptions = {}): Promise<Log> {
  return new MemoryLog(options);
}

type Owned = { info: ArtifactInfo; bytes: Buffer; streams: Set<MemoryStream> };

export class MemoryLog implements Log {
  readonly id = randomBytes(16).toString("hex");
  readonly epoch = randomBytes(6).toString("hex");
  readonly beginning = "0";
  readonly documents: Documents;
  readonly artifacts: Artifacts;
  readonly search = new MemorySearch();
  readonly pump = new Pump();
  readonly store = new MemoryDocuments();
  readonly #onError: (error: LogError | null) => void;
  readonly #streams = new Map<string, MemoryStream>();
  readonly #artifacts = new Map<string, Owned>();
  readonly #dirty = new Set<MemoryStream>();
  /** Every batch that was committed, with the number of the first event of it. */
  readonly #history: PlacedMemoryBatch[] = [];
  readonly #all: Tail<PlacedMemoryBatch>;
  #end = 0;
  #writers = 0;
  #commits = 0;
  #scheduled: NodeJS.Immediate | undefined;
  #waiting: (() => void)[] = [];
  #closed = false;

  constructor(options: MemoryLogOptions) {
    this.#onError = (error) => options.onError?.(error);
    const source = {
      end: () => this.#end,
      next: (after: number) => this.#next(after),
      from: (batch: PlacedMemoryBatch) => batch.from,
      to: (batch: PlacedMemoryBatch) => batch.to,
    };
    this.#all = new Tail(source, this.pump, (error) => this.report(error));
    this.documents = this.#makeDocuments();
    this.artifacts = {
      stat: async (id) => this.#artifactOf(id)?.info,
      openRead: async (id, range = {}) => {
        const found = this.#artifactOf(id);
        return found && Readable.from([found.bytes.subarray(range.start ?? 0, (range.end ?? found.bytes.length - 1) + 1)]);
      },
      list: async (options) => listArtifacts([...this.#artifacts.values()], options),
      owners: async (id) => ownersOf(this.#artifactOf(id)),
      usage: async () => {
        const all = [...this.#artifacts.values()];
        return { count: all.length, bytes: all.reduce((sum, { info }) => sum + info.bytes, 0) };
      },
    };
  }

  get commits(): number {
    return this.#commits;
  }

  async create(kind: StreamKind, id: string, state: string, options: { created_at?: number } = {}): Promise<StreamWriter> {
    this.admit();
    if (this.#streams.has(key(kind, id))) throw exists({ kind, id });
    const stream = new MemoryStream(this, { kind, id, created_at: options.created_at ?? Date.now() }, state);
    this.#streams.set(key(kind, id), stream);
    this.enlist(stream);
    return new MemoryWriter(this, stream, ++this.#writers);
  }

  async writer(kind: StreamKind, id: string): Promise<StreamWriter | undefined> {
    const stream = this.#streams.get(key(kind, id));
    return stream && new MemoryWriter(this, stream, ++this.#writers);
  }

  async stream(kind: StreamKind, id: string): Promise<Stream | undefined> {
    return this.#streams.get(key(kind, id));
  }

  async row(kind: StreamKind, id: string): Promise<StreamRow | undefined> {
    const stream = this.#streams.get(key(kind, id));
    return stream?.isCommitted ? stream.row() : undefined;
  }

  async list(kind: StreamKind, options: ListOptions = {}): Promise<StreamPage> {
    const time = (stream: MemoryStream): number => (options.order === "updated" ? stream.updatedAt : stream.created_at);
    const place = (stream: MemoryStream): string => `${time(stream)}.${stream.no}`;
    const [at = Number.POSITIVE_INFINITY, no = Number.POSITIVE_INFINITY] = options.before?.split(".").map(Number) ?? [];
    const found = [...this.#streams.values()]
      .filter((stream) => stream.kind === kind && stream.isCommitted)
      .filter((stream) => options.ids?.includes(stream.id) !== false)
      .filter((stream) => !options.onlyOpen || stream.committedOpenSince !== null)
      .filter((stream) => fits(stream.committedState, options))
      .filter((stream) => time(stream) < at || (time(stream) === at && stream.no < no))
      .sort((a, b) => time(b) - time(a) || b.no - a.no);
    const shown = found.slice(0, Math.max(1, options.limit ?? 50));
    const last = shown.at(-1);
    const next = found.length > shown.length && last ? place(last) : null;
    return { streams: await Promise.all(shown.map((stream) => stream.row())), damaged: [], next };
  }

  async delete(kind: StreamKind, id: string, options: { documents?: readonly string[] } = {}): Promise<boolean> {
    this.admit();
    const stream = this.#streams.get(key(kind, id));
    if (!stream) return false;
    this.#streams.delete(key(kind, id));
    this.#dirty.delete(stream);
    stream.delete();
    this.search.forget(stream);
    this.store.forget(stream, options.documents ?? []);
    for (const [artifactId, { streams }] of this.#artifacts) {
      streams.delete(stream);
      if (streams.size === 0) this.#artifacts.delete(artifactId);
    }
    for (let index = this.#history.length - 1; index >= 0; index--)
      if (this.#history[index]?.of(stream)) this.#history.splice(index, 1);
    return true;
  }

  async erased(): Promise<void> {
    await this.committed();
  }

  async end(): Promise<string> {
    return String(this.#end);
  }

  async assertCursor(cursor: string): Promise<void> {
    this.#startAt(cursor);
  }

  subscribeAll(options: SubscribeOptions<GlobalBatch> & { after?: string }): Subscription {
    return this.#all.subscribe(this.#startAt(options.after), options);
  }

  assertWritable(): void {
    this.admit();
  }

  onPressure(): () => void {
    return () => undefined;
  }

  health(): LogHealth {
    return { state: "ok", pending_bytes: 0, damage: { places: 0, streams: [], message: null } };
  }

  stats(): LogStats {
    let subscribers = this.#all.size;
    for (const stream of this.#streams.values()) subscribers += stream.tail.size;
    return { commits: this.#commits, failed_commits: 0, events: this.#end, subscribers, pending_bytes: 0 };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    await this.committed();
    this.#closed = true;
    for (const stream of this.#streams.values()) stream.tail.end("closed");
    this.#all.end("closed");
    this.pump.stop();
  }

  // ── for the streams of this log ──

  admit(): void {
    if (this.#closed) throw new LogError("log_closed", "The log is closed: dragoman is stopping.");
  }

  enlist(stream?: MemoryStream): void {
    if (stream) this.#dirty.add(stream);
    this.#scheduled ??= setImmediate(() => this.#commit());
  }

  committed(): Promise<void> {
    if (this.#scheduled === undefined) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  putArtifact(stream: MemoryStream, bytes: Buffer, about: ArtifactAbout): ArtifactInfo {
    const sha = createHash("sha256").update(bytes).digest("hex");
    const artifact_id = `art_${sha}`;
    const known = this.#artifacts.get(artifact_id);
    known?.streams.add(stream);
    if (known) return known.info;
    const { kind, mime, name = null } = about;
    const place = { artifact_id, path: `/v1/artifacts/${artifact_id}`, digest: `sha256:${sha}` };
    const info = { ...place, bytes: bytes.length, mime, kind, name, created_at: about.created_at ?? Date.now() };
    this.#artifacts.set(artifact_id, { info, bytes: Buffer.from(bytes), streams: new Set([stream]) });
    return info;
  }

  report(error: unknown): void {
    this.#onError(error instanceof LogError ? error : new LogError("write_failed", String(error), {}, error));
  }

  #commit(): void {
    this.#scheduled = undefined;
    const streams = [...this.#dirty];
    this.#dirty.clear();
    this.#commits++;
    const batches: { stream: MemoryStream; batch: MemoryBatch; placed: PlacedMemoryBatch }[] = [];
    for (const stream of streams) {
      const batch = stream.commit();
      if (!batch) continue;
      const placed = new PlacedMemoryBatch(batch, this.#end);
      this.#end = placed.to;
      this.#history.push(placed);
      batches.push({ stream, batch, placed });
    }
    for (const resolve of this.#waiting.splice(0)) resolve();
    for (const { stream, batch, placed } of batches) {
      stream.tail.publish(batch);
      this.#all.publish(placed);
    }
  }

  #startAt(cursor = this.beginning): number {
    if (!/^[0-9]{1,15}$/.test(cursor))
      throw new LogError("invalid_cursor", "This is no cursor. Take one from an `id:` of the stream.");
    if (Number(cursor) <= this.#end) return Number(cursor);
    throw new LogError(
      "cursor_too_large",
      `The cursor ${cursor} lies beyond the end of this log: read again from the beginning.`,
    );
  }

  #next(after: number): PlacedMemoryBatch | undefined {
    return this.#history.find((batch) => batch.to > after)?.tail(after);
  }

  #artifactOf(id: string): Owned | undefined {
    if (!/^art_[0-9a-f]{64}$/.test(id))
      throw new LogError("invalid_artifact_id", "An artifact id is art_ and 64 hex digits. Take it from an event.");
    return this.#artifacts.get(id);
  }

  #makeDocuments(): Documents {
    const change = (work: () => void): void => {
      this.admit();
      work();
      this.enlist();
    };
    return {
      get: async (kind, id) => this.store.get(kind, id),
      put: (kind, id, body, options) => change(() => this.store.put(kind, id, body, options?.expiresAt)),
      delete: (kind, id) => change(() => this.store.delete(kind, id)),
      list: async (kind, options) => this.store.list(kind, options),
      dump: async (options) => this.store.dump(options),
      committed: () => this.committed(),
    };
  }
}

function fits(state: string, { where = {}, tag, archived, pinned }: ListOptions): boolean {
  let fields: Record<string, unknown> = {};
  try {
    fields = Object(JSON.parse(state));
  } catch {
    // A state that is no JSON has no fields.
  }
  if (Object.entries(where).some(([name, value]) => fields[name] !== value)) return false;
  if (tag !== undefined && !(Array.isArray(fields.tags) && fields.tags.includes(tag))) return false;
  if (archived !== undefined && (fields.archived === true) !== archived) return false;
  return pinned === undefined || (fields.pinned === true) === pinned;
}

const key = (kind: StreamKind, id: string): string => `${kind}/${id}`;
