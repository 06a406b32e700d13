/**
 * Takes up an exported session. A file is data from anywhere: all of it is checked before anything is written, and nothing in it starts a program or widens
 * what an agent may do. What it cannot bring in: environment, MCP servers, system prompt, permission mode, ownership marks, trust in a directory. The native
 * conversation is taken up only when the caller asks for it: the file decides which one that is.
 */
import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { Log, Stream, StreamWriter } from "../log/contract.ts";
import { withdrawn } from "../log/log-error.ts";
import { type Actor, EMBEDDED } from "../schema/actor.ts";
import type { UniversalEvent } from "../schema/event.ts";
import { Grammar } from "../schema/grammar.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import { eventFault } from "../schema/validate.ts";
import type { SessionRow } from "./session-row.ts";
import {
  type ArtifactLine,
  bytesOf,
  type EventLine,
  type ImportedRow,
  LineError,
  type NativeLine,
  readBodyLine,
  readSessionLine,
} from "./transfer-lines.ts";

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
const EVENT_ID = /^evt_[\w-]{1,100}$/;
/** Claude Code also takes the path of a transcript as the session to resume. */
const LOOKS_LIKE_PATH = /[/\\]|\.jsonl?$/i;
const MIME = /^[\w.+-]+\/[\w.+-]+(; ?[\w.+-]+=[\w.+-]+)*$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
/** Lines checked before others get their turn. */
const LINES_PER_TURN = 200;

type CheckedEvent = { json: string; event: UniversalEvent; native: number | null };
type CheckedNative = Omit<NativeLine, "base64" | "kind"> & { raw: Buffer };
type CheckedArtifact = { bytes: Buffer; kind: string; mime: string };
type Checked = { row: SessionRow; natives: CheckedNative[]; artifacts: CheckedArtifact[]; events: CheckedEvent[]; open: boolean };

/** Resolves when all of it is in the log, committed. Nothing is left of an import that fails. */
export async function importSession(log: Log, ndjson: string, options: ImportOptions = {}): Promise<Stream> {
  const checked = await check(ndjson, options);
  log.assertWritable();
  const id = checked.row.session_id;
  if (await log.stream("session", id))
    throw new ProblemError("session_exists", `There is a session ${id} already. Import it under another session_id.`);
  const stream = await log.create("session", id, JSON.stringify(checked.row));
  try {
    for (const { bytes, kind, mime } of checked.artifacts) stream.artifacts.put(bytes, { kind, mime });
    write(stream, checked);
    await stream.committed();
    return stream;
  } catch (error) {
    await log.delete("session", id);
    throw withdrawn(error);
  }
}

function write(stream: StreamWriter, { natives, events, open }: Checked): void {
  for (const native of natives) stream.appendNative(native);
  for (const { json, event, native } of events) stream.append({ text: json, sequence: event.sequence, type: event.type, native });
  // It was exported in the middle of something: the first to load it closes that, as after a crash.
  if (open) stream.setOpenSince(1);
}

async function check(ndjson: string, options: ImportOptions): Promise<Checked> {
  const texts = ndjson.split("\n");
  const head = atLine(1, () => readSessionLine(texts[0] ?? ""));
  const { native_session_id } = head.row;
  if (options.resume && LOOKS_LIKE_PATH.test(native_session_id ?? ""))
    throw new ProblemError("not_resumable", "The file names a path as its native session. Import it without resume.");
  const id = options.session_id ?? head.row.session_id;
  const body = new ImportCheck(id);
  for (let at = 1; at < texts.length; at++) {
    const text = texts[at] ?? "";
    if (text.trim() !== "") atLine(at + 1, () => body.take(text));
    if (at % LINES_PER_TURN === 0) await setImmediate();
  }
  return {
    ...atLine(texts.length, () => body.finish()),
    row: { ...rowOf(head.row, id, options, body.ended), imported_queue: body.queued },
  };
}

/** Everything that goes wrong with a line is the file's fault, and is reported with its number. */
function atLine<T>(number: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const message = error instanceof LineError ? error.message : `cannot be read (${String(error)})`;
    throw new ProblemError(
      "invalid_request",
      `Line ${number} ${message}. The file was changed or cut, or another version wrote it.`,
    );
  }
}

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
  metadata: Object.fromEntries(Object.entries(row.metadata ?? {}).filter(([name]) => !RESERVED_METADATA.includes(name))),
  env: {},
  mcp_servers: [],
  system_prompt: null,
  fork: resume && row.fork === true,
  forked_from: row.forked_from ?? null,
  created_by: actor,
  usage: row.usage ?? null,
  ...(row.usage_told === true ? { usage_told: true } : {}),
  ended,
});

/** Checks the lines after the first, one by one. */
class ImportCheck {
  readonly #sessionId: string;
  readonly #grammar = new Grammar();
  readonly #natives: CheckedNative[] = [];
  readonly #artifacts: CheckedArtifact[] = [];
  readonly #events: CheckedEvent[] = [];
  #ended: SessionRow["ended"] = null;

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
  }

  /** How the events say that the session ended. */
  get ended(): SessionRow["ended"] {
    return this.#ended;
  }

  take(text: string): void {
    const line = readBodyLine(text);
    switch (line.kind) {
      case "native":
        return this.#native(line);
      case "artifact":
        return this.#artifact(line);
      case "event":
        return this.#event(line);
      default:
        line satisfies never;
    }
  }

  finish(): Omit<Checked, "row"> {
    if (this.#events.length === 0) throw new LineError("is the last one, and no line was an event");
    const open = this.#ended === null && this.#grammar.open().length > 0;
    return { natives: this.#natives, artifacts: this.#artifacts, events: this.#events, open };
  }

  /** Whether messages wait in the file: see `SessionRow.imported_queue`. */
  get queued(): boolean {
    return this.#grammar.session.queue.length > 0;
  }

  #native({ kind: _, base64, ...entry }: NativeLine): void {
    this.#natives.push({ ...entry, raw: bytesOf(base64) });
  }

  #artifact({ artifact_id, mime, artifact_kind, base64 }: ArtifactLine): void {
    const bytes = bytesOf(base64);
    const id = `art_${createHash("sha256").update(bytes).digest("hex")}`;
    if (id !== artifact_id) throw new LineError(`names the artifact ${artifact_id}, but its bytes are those of ${id}`);
    this.#artifacts.push({ bytes, kind: artifact_kind, mime: MIME.test(mime) ? mime : "application/octet-stream" });
  }

  #event({ native, event: value }: EventLine): void {
    const candidate = { ...value, session_id: this.#sessionId, raw: null };
    const fault = eventFault(candidate);
    if (fault) throw new LineError(`has an event that does not fit the schema: ${fault}`);
    const event = candidate as unknown as UniversalEvent;
    if (!EVENT_ID.test(event.event_id)) throw new LineError("has a wrong event_id");
    if (!TIME.test(event.time)) throw new LineError("has a wrong time: it must be RFC 3339 in UTC with milliseconds");
    if (native !== null && native > this.#natives.length)
      throw new LineError(`names the native message ${native}, but there are only ${this.#natives.length} before it`);
    const [broken] = this.#grammar.check(event);
    if (broken) throw new LineError(`has event ${event.sequence}, which breaks rule ${broken.rule}: ${broken.message}`);
    if (event.type === "session.ended") this.#ended = event.data;
    this.#events.push({ json: JSON.stringify(event), event, native });
  }
}
