/**
 * A session as lines of JSON: its row, its native messages, its events, the artifacts they name. Left out is what may hold keys: the agent's environment, its
 * MCP servers, and other secrets (export-redaction.ts). What was exported reads the same after an import, event for event. The way back is in
 * import-session.ts.
 */
import type { Log, Stream } from "../log/contract.ts";
import type { UniversalEvent } from "../schema/event.ts";
import type { ExportRedaction } from "./export-redaction.ts";
import { parseRow, RowError, type SessionRow } from "./session-row.ts";
import { type ArtifactLine, type EventLine, FORMAT, type NativeLine } from "./transfer-lines.ts";

/** Small, because the reading of a page stops everything else. Events are stored many to a row: a page of less would read the same row again. */
const NATIVE_PAGE_BYTES = 64 * 1024;
const EVENT_PAGE_BYTES = 512 * 1024;

/** `row` is null when the stored one cannot be read: the rest is exported all the same. */
type HeadLine = { kind: "session"; format: number; created_at: number; row: SessionRow | null; unreadable?: string };

const line = (value: HeadLine | NativeLine | ArtifactLine | (Omit<EventLine, "event"> & { event: UniversalEvent })): string =>
  `${JSON.stringify(value)}\n`;

/** Page by page: a session of any size is never in memory as a whole. `redaction` null: verbatim, but for the agent's environment and MCP servers. */
export async function* exportLines(log: Log, stream: Stream, redaction: ExportRedaction | null): AsyncGenerator<string> {
  // Events up to here, whatever is written meanwhile: each native message they name is exported before them, and secrets were looked for.
  const before = redaction?.before ?? stream.lastCommitted + 1;
  const { row, ...rest } = await rowOf(stream);
  yield line({
    kind: "session",
    format: FORMAT,
    created_at: stream.created_at,
    row: row && (redaction?.row(row) ?? row),
    ...rest,
  });
  for (let after = 0, more = true; more; ) {
    const page = await stream.readNative({ after, limit: 500, maxBytes: NATIVE_PAGE_BYTES });
    for (const { native_seq, t_ms, dir, type, disposition, body } of page.messages) {
      const bytes = redaction?.native(native_seq, body) ?? body;
      yield line({ kind: "native", t_ms, dir, type, disposition, base64: bytes.toString("base64") });
    }
    more = page.has_more;
    after = page.next;
  }
  const shipped = new Set<string>();
  for (let after = 0, more = true; more; ) {
    const page = await stream.read({ after, before, limit: 1_000, maxBytes: EVENT_PAGE_BYTES });
    for (const [index, json] of page.events.entries()) {
      const [type = "", native = null] = [page.types[index], page.natives[index]];
      // Nearly all events are deltas that stay as they are: they pass as they are stored.
      if (type === "item.delta" && !redaction?.changesDelta(page.sequences[index] ?? 0)) {
        yield `{"kind":"event","native":${native},"event":${json}}\n`;
        continue;
      }
      const event = JSON.parse(json) as UniversalEvent;
      if (event.type === "artifact.written" && !shipped.has(event.data.artifact_id)) {
        shipped.add(event.data.artifact_id);
        yield* artifactLine(log, event.data.artifact_id, redaction);
      }
      yield line({ kind: "event", native, event: redaction?.event(event) ?? event });
    }
    more = page.has_more;
    after = page.next;
  }
}

async function* artifactLine(log: Log, artifactId: string, redaction: ExportRedaction | null): AsyncGenerator<string> {
  const info = await log.artifacts.stat(artifactId);
  if (!info) return;
  const chunks: Buffer[] = [];
  for await (const chunk of (await log.artifacts.openRead(artifactId)) ?? []) chunks.push(chunk as Buffer);
  const stored = Buffer.concat(chunks);
  const { id, bytes } = redaction?.artifact(artifactId, info.mime, stored) ?? { id: artifactId, bytes: stored };
  const { mime, kind: artifact_kind } = info;
  yield line({ kind: "artifact", artifact_id: id, mime, artifact_kind, base64: bytes.toString("base64") });
}

async function rowOf(stream: Stream): Promise<Pick<HeadLine, "row" | "unreadable">> {
  try {
    return { row: { ...parseRow((await stream.row()).state), env: {}, mcp_servers: [] } };
  } catch (error) {
    if (error instanceof RowError) return { row: null, unreadable: error.message };
    throw error;
  }
}
