// What a session's row learns from events that pass by: its model and modes, its title, its usage.
import type { EventDataOf, PermissionMode, SessionStatusData, Usage } from "../schema/event-data.ts";
import type { SessionRow } from "./session-row.ts";

const MODES: ReadonlySet<string> = new Set<PermissionMode>(["default", "plan", "accept_edits", "bypass"]);
const isMode = (mode: string | undefined): mode is PermissionMode => mode !== undefined && MODES.has(mode);

/** The change an event means for the row; empty for most. */
export function factsOf(type: string, data: unknown, row: SessionRow): Partial<SessionRow> {
  switch (type) {
    case "config.changed": {
      const { model, variant, agent_mode, permission_mode } = data as EventDataOf["config.changed"];
      return {
        ...(model === undefined ? {} : { model }),
        ...(variant === undefined ? {} : { variant }),
        ...(agent_mode === undefined ? {} : { agent_mode }),
        ...(isMode(permission_mode) ? { permission_mode } : {}),
      };
    }
    case "session.updated": {
      const { title } = data as EventDataOf["session.updated"];
      return title === undefined ? {} : { title };
    }
    case "usage.updated": {
      const { scope, ...usage } = data as EventDataOf["usage.updated"];
      return scope === "session" ? { usage: { ...row.usage, ...usage }, usage_told: true } : {};
    }
    default:
      return {};
  }
}

/** A turn's usage counts towards the session's, unless the agent tells the session's itself. */
export const usageAfter = (row: SessionRow, turn: Usage | undefined): Partial<SessionRow> =>
  turn && !row.usage_told ? { usage: addUsage(row.usage, turn) } : {};

function addUsage(sum: Usage | null, turn: Usage): Usage {
  const total: Usage = { ...turn };
  for (const name of [
    "input_tokens",
    "output_tokens",
    "reasoning_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "cost_usd",
  ] as const) {
    const value = (turn[name] ?? 0) + (sum?.[name] ?? 0);
    if (turn[name] !== undefined || sum?.[name] !== undefined) total[name] = value;
  }
  return total;
}

/** Retrying, compacting and stalled are ways of running. */
export function statusFacts({ status }: SessionStatusData): Pick<SessionRow, "status" | "status_detail"> {
  if (status === "retrying" || status === "compacting" || status === "stalled")
    return { status: "running", status_detail: status };
  return { status, status_detail: null };
}
