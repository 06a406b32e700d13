/**
 * Takes up an exported session. A file is data from anywhere: all of it is checked before anything is written, and nothing in it starts a program or widens
 * what an agent may do. What it cannot bring in: environment, MCP servers, system prompt, permission mode, ownership marks, trust in a directory. The native
 * conversation is taken up only when the caller asks for it: the file decides which one that is.
 */
import { setImmediate } from "node:timers/promises";
import type { Log, Stream, StreamWriter } from "../log/contract.ts";
import { withdrawn } from "../log/log-error.ts";
import { type Actor, EMBEDDED } from "../schema/actor.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import { eventIn, ImportCheck } from "./import-check.ts";
import { ImportMark } from "./import-mark.ts";
import { type ImportSource, textSource } from "./import-source.ts";
import { metadataFault } from "./metadata-size.ts";
import type { SessionRow } from "./session-row.ts";
import { type ArtifactLine, type BodyLine, bytesOf, type ImportedRow, LineError, readSessionLine } from "./transfer-lines.ts";

export type ImportOptions = {
  /** Default: the id it had. */
  session_id?: string;
  /** Who imports it. */
  actor?: Actor;
  /** Go on with the native conversation the file names, as `resume_native` of a new session does. */
  resume?: boolean;
};

/** Metadata the daemon gives a meaning to. A file must not claim it. */
const RESERVED_METADATA = ["created_by"];
/** Claude Code also takes the path of a transcript as the session to resume. */
const LOOKS_LIKE_PATH = /[/\\]|\.jsonl?$/i;
const MIME = /^[\w.+-]+\/[\w.+-]+(; ?[\w.+-]+=[\w.+-]+)*$/;
/** Lines that are checked or written before others get their turn, and how much text of them. */
const LINES_PER_TURN = 200;
const BYTES_PER_TURN = 512 * 1024;
/** Written before the next is read: the log commits as fast as the file is read. */
const STEP_BYTES = 4 * 1024 * 1024;

type Checked = { row: SessionRow; open: boolean };

/** Resolves when all of it is in the log, committed. Nothing is left of an import that fails; of one that the daemon died over, after its next start. */
export async function importSession(log: Log, source: string | ImportSource, options: ImportOptions = {}): Promise<Stream> {
  const file = typeof source === "string" ? textSource(source) : source;
  const { row, open } = await check(file, options);
  log.assertWritable();
  const id = row.session_id;
  if (await log.row("session", id)) throw exists(id);
  const mark = await ImportMark.put(log, id);
  let stream: StreamWriter | undefined;
  try {
    stream = await log.create("session", id, mark.stateOf(row));
    await write(stream, file);
    // It was exported in the middle of something: the first to load it closes that, as after a crash.
    if (open) stream.setOpenSince(1);
    // In the commit of the last events: from now on it is a session like others.
    stream.setState(JSON.stringify(row), { sync: true });
    await stream.committed();
  } catch (error) {
    if (stream) await log.delete("session", id);
    mark.remove();
    throw withdrawn(error);
  }
  mark.remove();
  return stream;
}

const exists = (id: string): ProblemError =>
  new ProblemError("session_exists", `There is a session ${id} already. Import it under another session_id.`);

/** Lets others have their turn after so many lines, or so much text of them. */
class Turns {
  #lines = 0;
  #bytes = 0;

  async took(text: string): Promise<void> {
    this.#lines++;
    this.#bytes += text.length;
    if (this.#lines < LINES_PER_TURN && this.#bytes < BYTES_PER_TURN) return;
    this.#lines = 0;
    this.#bytes = 0;
    await setImmediate();
  }
}

/** The lines were checked: they are only taken apart here. */
async function write(stream: StreamWriter, file: ImportSource): Promise<void> {
  const turns = new Turns();
  let waiting = 0;
  let first = true;
  for await (const text of file.lines()) {
    if (!first && text.trim() !== "") put(stream, JSON.parse(text) as BodyLine);
    first = false;
    waiting += text.length;
    if (waiting >= STEP_BYTES) {
      await stream.committed();
      waiting = 0;
    }
    await turns.took(text);
  }
}

function put(stream: StreamWriter, line: BodyLine): void {
  if (line.kind === "artifact") return putArtifact(stream, line);
  if (line.kind === "native") {
    const { kind: _, base64, ...entry } = line;
    return void stream.appendNative({ ...entry, raw: bytesOf(base64) });
  }
  const event = eventIn(line, stream.id);
  const { sequence, type } = event as { sequence: number; type: string };
  stream.append({ text: JSON.stringify(event), sequence, type, native: line.native });
}

function putArtifact(stream: StreamWriter, { artifact_kind, mime, base64 }: ArtifactLine): void {
  stream.artifacts.put(bytesOf(base64), { kind: artifact_kind, mime: MIME.test(mime) ? mime : "application/octet-stream" });
}

async function check(file: ImportSource, options: ImportOptions): Promise<Checked> {
  let number = 0;
  let head: { row: ImportedRow; body: ImportCheck } | undefined;
  const turns = new Turns();
  try {
    for await (const text of file.lines()) {
      number++;
      const body = head?.body;
      if (!body) head = atLine(number, () => begin(text, options));
      else if (text.trim() !== "") atLine(number, () => body.take(text));
      await turns.took(text);
    }
  } catch (error) {
    // A line that is too long was not counted yet.
    throw error instanceof LineError ? faultOf(number + 1, error.message) : error;
  }
  if (!head) throw faultOf(1, "is not there");
  const { row, body } = head;
  atLine(number, () => body.finish());
  const id = options.session_id ?? row.session_id;
  return { row: { ...rowOf(row, id, options, body.ended), imported_queue: body.queued }, open: body.open };
}

function begin(text: string, { session_id, resume }: ImportOptions): { row: ImportedRow; body: ImportCheck } {
  const { row } = readSessionLine(text);
  const fault = metadataFault(metadataOf(row));
  if (fault !== null) throw new LineError(`has a wrong value: row.metadata ${fault}`);
  if (resume && LOOKS_LIKE_PATH.test(row.native_session_id ?? ""))
    throw new ProblemError("not_resumable", "The file names a path as its native session. Import it without resume.");
  return { row, body: new ImportCheck(session_id ?? row.session_id) };
}

/** Everything that goes wrong with a line is the file's fault, and is reported with its number. */
function atLine<T>(number: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof ProblemError) throw error;
    throw faultOf(number, error instanceof LineError ? error.message : `cannot be read (${String(error)})`);
  }
}

const faultOf = (number: number, what: string): ProblemError =>
  new ProblemError("invalid_request", `Line ${number} ${what}. The file was changed or cut, or another version wrote it.`);

const metadataOf = ({ metadata = {} }: ImportedRow): NonNullable<ImportedRow["metadata"]> =>
  Object.fromEntries(Object.entries(metadata).filter(([name]) => !RESERVED_METADATA.includes(name)));

/** The row with everything left out that would start or widen something. */
const rowOf = (
  row: ImportedRow,
  session_id: string,
  { resume = false, actor = EMBEDDED }: ImportOptions,
  ended: SessionRow["ended"],
): SessionRow => ({
  session_id,
  agent: row.agent,
  agent_version: row.agent_version ?? null,
  native_session_id: resume ? (row.native_session_id ?? null) : null,
  status: ended ? "ended" : "dormant",
  status_detail: null,
  directory: row.directory,
  trust: "ask",
  model: row.model ?? null,
  variant: row.variant ?? null,
  agent_mode: row.agent_mode ?? null,
  permission_mode: "default",
  title: row.title ?? null,
  metadata: metadataOf(row),
  env: {},
  mcp_servers: [],
  system_prompt: null,
  fork: resume && row.fork === true,
  forked_from: row.forked_from ?? null,
  ...(row.parent_session_id === undefined ? {} : { parent_session_id: row.parent_session_id }),
  created_by: actor,
  usage: row.usage ?? null,
  ...(row.usage_told === true ? { usage_told: true } : {}),
  last_error: row.last_error ?? null,
  ended,
});
