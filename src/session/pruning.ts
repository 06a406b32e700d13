/**
 * Which sessions are old enough to be removed. A session is never among them while somebody may need it: it has a process, something is open in it, messages
 * wait for it, it is pinned or tagged, or it is one of the newest that are kept in any case. Not here: when that is done, and the record of it.
 */
import type { Log, StreamPage, StreamRow } from "../log/contract.ts";
import type { PrunedSession } from "../schema/prune.ts";
import { isImporting } from "./import-mark.ts";
import type { SessionManager } from "./session-manager.ts";
import { parseRow, type SessionRow } from "./session-row.ts";

const PAGE = 200;

export type PruneRule = {
  /** Ended sessions whose last event is older go. Milliseconds since 1970; absent: none of them. */
  endedBefore?: number;
  /** The same for sessions that have not ended and could be resumed. */
  restingBefore?: number;
  /** So many of the newest stay, of those that match. */
  keep: number;
  agent?: string;
  directory?: string;
  /** Only those it is true for. */
  only?(sessionId: string): Promise<boolean>;
};

/** What the configuration says about old sessions. */
export type RetentionPolicy = {
  /** Age at which ended sessions go, in milliseconds. Absent: never. */
  ended_ms?: number;
  /** The same for sessions that have not ended and have no process. */
  dormant_ms?: number;
  /** So many of the newest stay in any case. */
  keep: number;
};

/** A person wants to keep it. */
export const isPinned = ({ pinned, tags }: SessionRow): boolean => pinned === true || (tags?.length ?? 0) > 0;

/** The newest first. What is found may be removed before the next is asked for. */
export async function* prunable(log: Log, manager: SessionManager, rule: PruneRule): AsyncGenerator<PrunedSession> {
  let kept = 0;
  let before: string | undefined;
  for (;;) {
    const page: StreamPage = await log.list("session", {
      order: "updated",
      limit: PAGE,
      ...(before === undefined ? {} : { before }),
    });
    for (const stream of page.streams) {
      const row = readable(stream);
      if (!row || !(await matches(row, rule))) continue;
      if (isPinned(row)) continue;
      if (kept < rule.keep) kept++;
      else if (isOld(stream, row, rule) && (await manager.isUnused(stream.id))) yield described(stream, row);
    }
    if (page.next === null) return;
    before = page.next;
  }
}

/** One that cannot be read is for a person to look at, and one that is being imported is not there yet. */
function readable({ state }: StreamRow): SessionRow | undefined {
  if (isImporting(state)) return undefined;
  try {
    return parseRow(state);
  } catch {
    return undefined;
  }
}

async function matches(row: SessionRow, { agent, directory, only }: PruneRule): Promise<boolean> {
  if (agent !== undefined && row.agent !== agent) return false;
  if (directory !== undefined && row.directory !== directory) return false;
  return only === undefined || only(row.session_id);
}

function isOld({ updated_at }: StreamRow, { ended }: SessionRow, { endedBefore, restingBefore }: PruneRule): boolean {
  const limit = ended ? endedBefore : restingBefore;
  return limit !== undefined && updated_at <= limit;
}

const described = (stream: StreamRow, row: SessionRow): PrunedSession => ({
  session_id: stream.id,
  agent: row.agent,
  directory: row.directory,
  title: row.title,
  status: row.ended ? "ended" : "dormant",
  updated_at: new Date(stream.updated_at).toISOString(),
  events: stream.last_sequence,
  native_messages: stream.last_native,
});
