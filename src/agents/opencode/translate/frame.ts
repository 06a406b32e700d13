// Reads one recorded row of OpenCode traffic into a frame: an event of any of its streams, a request of ours, an answer, the server's own output.
// Shapes only; what a frame means is the translator's business.

import type { NativeMessage } from "../../contract.ts";
import { isRecord, type JsonRecord, num, rec, str } from "../../json.ts";

/** One event, whichever stream carried it. `directory` is known on the streams that carry all directories. */
export type ServerEvent = { id: string | null; type: string; data: JsonRecord; directory: string | null };

export type Frame =
  | { kind: "event"; event: ServerEvent }
  /** `/global/event` repeats every durable event in this form, right after the event itself. */
  | { kind: "sync"; event: ServerEvent }
  | { kind: "keepalive" }
  | {
      kind: "request";
      id: string | null;
      method: string;
      path: string;
      query: URLSearchParams;
      body: unknown;
      directory: string | null;
    }
  | { kind: "response"; id: string | null; status: number; body: unknown }
  | { kind: "transport_error"; id: string | null; message: string }
  | { kind: "stream"; phase: string }
  | { kind: "stderr"; text: string }
  | { kind: "exit"; code: number | null; signal: string | null }
  | { kind: "unknown"; what: string };

export function readFrame(message: NativeMessage): Frame {
  switch (message.dir) {
    case "sse":
      return readStream(rec(message.data));
    case "http":
    case "in":
    case "out":
      return readHttp(message.data);
    case "err":
      return readErr(message.data);
    case "exit": {
      const data = rec(message.data);
      return { kind: "exit", code: num(data.code) ?? null, signal: str(data.signal) ?? null };
    }
    default:
      return { kind: "unknown", what: "a row of an unknown direction" };
  }
}

function readStream(data: JsonRecord): Frame {
  if (typeof data.comment === "string") return { kind: "keepalive" };
  // Recordings of other tools say which stream it was.
  const json = isRecord(data.json) && typeof data.stream === "string" ? data.json : data;
  const directory = str(json.directory) ?? str(rec(json.location).directory) ?? null;
  const payload = isRecord(json.payload) ? json.payload : json;
  const type = str(payload.type);
  if (type === undefined) return { kind: "unknown", what: "an event without a type" };
  if (type === "sync") return readSync(rec(payload.syncEvent), directory);
  const body = payload.properties ?? payload.data;
  if (body !== undefined && !isRecord(body)) return { kind: "unknown", what: `event ${type} without properties` };
  return { kind: "event", event: { id: str(payload.id) ?? null, type, data: rec(body), directory } };
}

/** The type of a repeated event carries the version of its schema: `message.updated.1`. */
function readSync(sync: JsonRecord, directory: string | null): Frame {
  const type = str(sync.type)?.replace(/\.\d+$/, "");
  if (type === undefined) return { kind: "unknown", what: "a sync frame without an event" };
  return { kind: "sync", event: { id: str(sync.id) ?? null, type, data: rec(sync.data), directory } };
}

function readHttp(data: unknown): Frame {
  if (!isRecord(data)) return { kind: "unknown", what: "an HTTP row that is not an object" };
  const id = requestId(data.id);
  switch (data.phase) {
    case "request": {
      const [path = "", search = ""] = (str(data.path) ?? "").split("?", 2);
      const query = new URLSearchParams(search);
      const header = str(rec(data.headers)["x-opencode-directory"]);
      const directory = query.get("directory") ?? header ?? null;
      return { kind: "request", id, method: str(data.method) ?? "GET", path, query, body: data.body, directory };
    }
    case "response":
      return { kind: "response", id, status: num(data.status) ?? 0, body: data.body };
    case "sse-open":
    case "sse-headers":
    case "sse-body":
    case "sse-ended":
    case "sse-closed-by-client":
      return { kind: "stream", phase: data.phase };
    default:
      return { kind: "unknown", what: `an HTTP row of phase ${str(data.phase) ?? "none"}` };
  }
}

function readErr(data: unknown): Frame {
  if (typeof data === "string") return { kind: "stderr", text: data };
  const row = rec(data);
  const phase = str(row.phase);
  if (phase === "transport-error")
    return { kind: "transport_error", id: requestId(row.id), message: str(row.message) ?? str(row.code) ?? "no answer" };
  if (phase !== undefined) return { kind: "stream", phase };
  return { kind: "stderr", text: str(row.text) ?? "" };
}

const requestId = (value: unknown): string | null =>
  typeof value === "number" || typeof value === "string" ? String(value) : null;

/** The path without ids and names, so that there are few of them: `/session/:id/message`. */
export function routeOf(path: string): string {
  const parts = path.split("/").filter(Boolean);
  return `/${parts.map((part, index) => (isName(part, parts[index - 1]) ? ":id" : part)).join("/")}`;
}

const NAMED_AFTER = new Set([
  "session",
  "mcp",
  "permission",
  "permissions",
  "question",
  "message",
  "part",
  "pty",
  "auth",
  "project",
]);
const FIXED = new Set([
  "status",
  "request",
  "saved",
  "current",
  "active",
  "shells",
  "reply",
  "reject",
  "prompt",
  "compact",
  "git",
]);

const isName = (part: string, before: string | undefined): boolean =>
  /^[a-z]{3}_/.test(part) || (before !== undefined && NAMED_AFTER.has(before) && !FIXED.has(part));
