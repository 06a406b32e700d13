/**
 * A session as lines of JSON: its row, its native messages, its events, the artifacts they name. Left out is what may hold keys: the agent's environment and
 * its MCP servers. What was exported reads the same after an import, event for event. The way back is in import-session.ts.
 */
import type { Log, Stream } from "../log/contract.ts";
import type { UniversalEvent } from "../schema/event.ts";
import { parseRow, RowError, type SessionRow } from "./session-row.ts";
import { type ArtifactLine, type EventLine, FORMAT, type NativeLine } from "./transfer-lines.ts";

/** Small, because the reading of a page stops everything else. */
const PAGE_BYTES = 256 * 1024;

/** `row` is null when the stored one cannot be read: the rest is exported all the same. */
type HeadLine = { kind: "session"; format: number; created_at: number; row: SessionRow | null; unreadable?: string };

const line = (value: HeadLine | NativeLine | ArtifactLine | (Omit<EventLine, "event"> & { event: UniversalEvent })): string =>
  `${JSON.stringify(value)}\n`;

/** Page by page: a session of any size is never in memory as a whole. */
export async function* exportLines(log: Log, stream: Stream): AsyncGenerator<string> {
  // Events up to here, whatever is written meanwhile: each native message they name is exported before them.
  const before = stream.lastCommitted + 1;
  yield line({ kind: "session", format: FORMAT, created_at: stream.created_at, ...rowOf(stream) });
  for (let after = 0, more = true; more; ) {
    const page = stream.readNative({ after, limit: 500, maxBytes: PAGE_BYTES });
    for (const { t_ms, dir, type, disposition, body } of page.messages)
      yield line({ kind: "native", t_ms, dir, type, disposition, base64: body.toString("base64") });
    more = page.has_more;
    after = page.next;
  }
  const shipped = new Set<string>();
  for (let after = 0, more = true; more; ) {
    const page = stream.read({ after, before, limit: 500, maxBytes: PAGE_BYTES });
    for (const [index, json] of page.events.entries()) {
      const event = JSON.parse(json) as UniversalEvent;
      if (event.type === "artifact.written" && !shipped.has(event.data.artifact_id)) {
        shipped.add(event.data.artifact_id);
        yield* artifactLine(log, event.data.artifact_id);
      }
      yield line({ kind: "event", native: page.natives[index] ?? null, event });
    }
    more = page.has_more;
    after = page.next;
  }
}

async function* artifactLine(log: Log, id: string): AsyncGenerator<string> {
  const info = log.artifacts.stat(id);
  const chunks: Buffer[] = [];
  for await (const chunk of (await log.artifacts.openRead(id)) ?? []) chunks.push(chunk as Buffer);
  if (info)
    yield line({
      kind: "artifact",
      artifact_id: id,
      mime: info.mime,
      artifact_kind: info.kind,
      base64: Buffer.concat(chunks).toString("base64"),
    });
}

function rowOf(stream: Stream): Pick<HeadLine, "row" | "unreadable"> {
  try {
    return { row: { ...parseRow(stream.state()), env: {}, mcp_servers: [] } };
  } catch (error) {
    if (error instanceof RowError) return { row: null, unreadable: error.message };
    throw error;
  }
}
