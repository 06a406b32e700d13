/** What a session's row takes over from its facts: only what events changed, so that a row that was made otherwise (an import) stays as it is. */
import { isName } from "../schema/session.ts";
import type { SessionFacts } from "../schema/snapshot.ts";
import type { SessionRow } from "./session-row.ts";

const SAME = ["title", "model", "variant", "agent_mode", "permission_mode", "usage", "usage_told", "last_error"] as const;

/** What an agent calls its model or its mode is given back to it when it starts again, so it obeys the rules for what a client names. */
const NAMES: ReadonlySet<string> = new Set<(typeof SAME)[number]>(["model", "variant", "agent_mode"]);
/** A title stands in every list. */
const TITLE_CHARS = 500;
/** Of a character that takes two. */
const HALF = /[\ud800-\udbff]$/;

/** The change of the row that a change of facts means; empty for most. */
export function rowChange(before: SessionFacts, after: SessionFacts): Partial<SessionRow> {
  if (before === after) return {};
  const change: Partial<SessionRow> = {};
  for (const name of SAME)
    if (before[name] !== after[name] && !(NAMES.has(name) && isNoName(after[name])))
      Object.assign(change, { [name]: after[name] });
  if (change.title && change.title.length > TITLE_CHARS)
    change.title = `${change.title.slice(0, TITLE_CHARS - 1).replace(HALF, "")}…`;
  if (before.status !== after.status) Object.assign(change, stateOf(after.status));
  if (before.ended !== after.ended) Object.assign(change, { ended: after.ended, status: "ended", status_detail: null });
  return change;
}

const isNoName = (value: unknown): boolean => typeof value === "string" && !isName(value);

/** Retrying, compacting and stalled are ways of running. */
function stateOf(status: SessionFacts["status"]): Pick<SessionRow, "status" | "status_detail"> {
  if (status === "retrying" || status === "compacting" || status === "stalled")
    return { status: "running", status_detail: status };
  return { status, status_detail: null };
}
