/**
 * A session as lines of JSON, and back: its row, its native messages, its events, the artifacts they name. Nothing is left out but the agent's environment and
 * other secrets (export-redaction.ts). What was exported reads the same after an import, event for event.
 */
import type { Log, NativeDirection, Stream } from "../log/contract.ts";
import type { UniversalEvent } from "../schema/event.ts";
import { checkGrammar } from "../schema/grammar.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import type { ExportRedaction } from "./export-redaction.ts";
import { parseRow, type SessionRow } from "./session-row.ts";

const FORMAT = 1;

export type TransferLine =
  | { kind: "session"; format: number; created_at: number; row: SessionRow }
  | { kind: "artifact"; artifact_id: string; mime: string; artifact_kind: string; base64: string }
  | {
      kind: "native";
      t_ms: number;
      dir: NativeDirection;
      type: string;
      disposition: "mapped" | "noted" | "heartbeat" | "unparsed";
      base64: string;
    }
  | { kind: "event"; native: number | null; event: UniversalEvent };

const line = (value: TransferLine): string => `${JSON.stringify(value)}\n`;

/** Page by page: a session of any size is never in memory as a whole. `redaction` null: verbatim, but for the agent's environment. */
export async function* exportLines(log: Log, stream: Stream, redaction: ExportRedaction | null): AsyncGenerator<string> {
  const row = { ...parseRow(stream.state()), env: {} };
  yield line({ kind: "session", format: FORMAT, created_at: stream.created_at, row: redaction?.row(row) ?? row });
  for (let after = 0, more = true; more; ) {
    const page = stream.readNative({ after, limit: 500, maxBytes: 1024 * 1024 });
    for (const { native_seq, t_ms, dir, type, disposition, body } of page.messages) {
      const bytes = redaction?.native(native_seq, body) ?? body;
      yield line({ kind: "native", t_ms, dir, type, disposition, base64: bytes.toString("base64") });
    }
    more = page.has_more;
    after = page.next;
  }
  const shipped = new Set<string>();
  for (let after = 0, more = true; more; ) {
    const page = stream.read({ after, limit: 1_000 });
    for (const [index, json] of page.events.entries()) {
      const event = JSON.parse(json) as UniversalEvent;
      if (event.type === "artifact.written" && !shipped.has(event.data.artifact_id)) {
        shipped.add(event.data.artifact_id);
        yield* artifactLine(log, event.data.artifact_id, redaction);
      }
      yield line({ kind: "event", native: page.natives[index] ?? null, event: redaction?.event(event) ?? event });
    }
    more = page.has_more;
    after = page.next;
  }
}

async function* artifactLine(log: Log, artifactId: string, redaction: ExportRedaction | null): AsyncGenerator<string> {
  const info = log.artifacts.stat(artifactId);
  if (!info) return;
  const chunks: Buffer[] = [];
  for await (const chunk of log.artifacts.openRead(artifactId) ?? []) chunks.push(chunk as Buffer);
  const stored = Buffer.concat(chunks);
  const { id, bytes } = redaction?.artifact(artifactId, info.mime, stored) ?? { id: artifactId, bytes: stored };
  const { mime, kind: artifact_kind } = info;
  yield line({ kind: "artifact", artifact_id: id, mime, artifact_kind, base64: bytes.toString("base64") });
}

/** Checks everything before anything is written; then the session stands in the log as it did where it came from. */
export function importLines(log: Log, ndjson: string, sessionId: string | undefined): Stream {
  const lines = parseLines(ndjson);
  const [head] = lines;
  if (head?.kind !== "session" || head.format !== FORMAT)
    throw new ProblemError(
      "invalid_request",
      `This is no session exported by dragoman (format ${FORMAT}): its first line must be the session.`,
    );
  const id = sessionId ?? head.row.session_id;
  if (log.stream("session", id))
    throw new ProblemError("session_exists", `There is a session ${id} already. Import it under another session_id.`);
  const events = lines.flatMap((each) => (each.kind === "event" ? [{ ...each, event: { ...each.event, session_id: id } }] : []));
  const [fault] = checkGrammar(events.map(({ event }) => event));
  if (fault)
    throw new ProblemError(
      "invalid_request",
      `Event ${fault.sequence} breaks rule ${fault.rule}: ${fault.message}. The file was changed or cut.`,
    );
  const row: SessionRow = {
    ...head.row,
    session_id: id,
    env: {},
    status: head.row.ended ? "ended" : "dormant",
    status_detail: null,
  };
  const stream = log.createStream("session", id, JSON.stringify(row));
  for (const each of lines) {
    if (each.kind === "native")
      stream.appendNative({
        dir: each.dir,
        t_ms: each.t_ms,
        type: each.type,
        disposition: each.disposition,
        raw: Buffer.from(each.base64, "base64"),
      });
    if (each.kind === "artifact")
      log.artifacts.put(Buffer.from(each.base64, "base64"), { kind: each.artifact_kind, mime: each.mime });
  }
  for (const { native, event } of events)
    stream.append({ text: JSON.stringify({ ...event, raw: null }), sequence: event.sequence, type: event.type, native });
  return stream;
}

function parseLines(ndjson: string): TransferLine[] {
  return ndjson
    .split("\n")
    .filter((text) => text.trim() !== "")
    .map((text, index) => {
      try {
        return JSON.parse(text) as TransferLine;
      } catch (error) {
        throw new ProblemError(
          "invalid_request",
          `Line ${index + 1} is not JSON (${error instanceof Error ? error.message : String(error)}). The file was changed or cut.`,
        );
      }
    });
}
