// What a scenario needs that an agent may not have. Such a scenario is skipped, and the reason is said.
import type { AgentCapabilities } from "../agents/contract.ts";
import type { Action, Scenario, Turn } from "./scenario/index.ts";
import type { VerifyProfile } from "./verify-profile.ts";

/** Why this agent cannot play it; null when it can. */
export function unmetNeed(scenario: Scenario, able: AgentCapabilities, profile: VerifyProfile): string | null {
  const { session = {}, turns } = scenario;
  const does = (what: Action["do"]) => turns.some((turn) => turn.actions?.some((action) => action.do === what));
  const mode = session.permission_mode;
  if (mode !== undefined && !able.permission_modes.includes(mode)) return `no permission mode ${mode}`;
  if (session.mcp_servers?.length && !able.mcp_servers) return "takes no MCP servers";
  if (session.system_prompt !== undefined && !able.system_prompt) return "takes no system prompt";
  if (turns.some(hasImage) && !able.images) return "takes no images";
  if (callsTool(turns, "ask") && !able.questions) return "asks no questions";
  if (scenario.replies?.permissions && scenario.expect?.events?.includes("permission.requested") && !able.permissions)
    return "asks for no permissions";
  if (turns.some((turn) => turn.delivery?.mode === "resume") && !able.resume) return "cannot resume";
  if (does("interrupt") && !able.interrupt) return "cannot be interrupted";
  if (does("compact") && profile.compact === null) return "cannot be told to compact";
  if (does("set_model") && profile.models.other === undefined) return "has one model only";
  return null;
}

/** It needs a daemon that nobody else uses. */
export const needsOwnDaemon = (scenario: Scenario): boolean =>
  scenario.turns.some((turn) => turn.delivery?.mode === "resume" || turn.actions?.some((action) => action.do === "kill_agent"));

const hasImage = (turn: Turn): boolean => turn.attachments?.some((attachment) => attachment.type === "image") ?? false;

const callsTool = (turns: readonly Turn[], tool: string): boolean =>
  turns.some((turn) =>
    turn.steps.some((step) => step.blocks.some((block) => block.type === "tool" && "name" in block && block.name === tool)),
  );
