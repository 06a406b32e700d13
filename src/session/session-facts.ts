/** What a session's row takes over from its facts: only what events changed, so that a row that was made otherwise (an import) stays as it is. */
import type { SessionFacts } from "../schema/snapshot.ts";
import type { SessionRow } from "./session-row.ts";

const SAME = ["title", "model", "variant", "agent_mode", "permission_mode", "usage", "usage_told", "last_error"] as const;

/** The change of the row that a change of facts means; empty for most. */
export function rowChange(before: SessionFacts, after: SessionFacts): Partial<SessionRow> {
  if (before === after) return {};
  const change: Partial<SessionRow> = {};
  for (const name of SAME) if (before[name] !== after[name]) Object.assign(change, { [name]: after[name] });
  if (before.status !== after.status) Object.assign(change, stateOf(after.status));
  if (before.ended !== after.ended) Object.assign(change, { ended: after.ended, status: "ended", status_detail: null });
  return change;
}

/** Retrying, compacting and stalled are ways of running. */
function stateOf(status: SessionFacts["status"]): Pick<SessionRow, "status" | "status_detail"> {
  if (status === "retrying" || status === "compacting" || status === "stalled")
    return { status: "running", status_detail: status };
  return { status, status_detail: null };
}
