// What a scenario needs that an agent may not have. Such a scenario is skipped, and the reason is said.
import type { Agent, SkillDoorName } from "../agents/contract.ts";
import type { VerifyProfile } from "../agents/kit/verify/profile.ts";
import type { PermissionMode } from "../schema/event-data.ts";
import type { Action, Scenario, Turn } from "./scenario/index.ts";

const DOORS: Record<"skill_folder" | "mcp_server", readonly (SkillDoorName | null | undefined)[]> = {
  skill_folder: ["plugin_directory", "skill_root"],
  mcp_server: ["mcp_server"],
};

/** Why this agent cannot play it; null when it can. */
export function skipReason(
  scenario: Scenario,
  agent: Pick<Agent, "capabilities" | "skills" | "forkPlace">,
  profile: VerifyProfile,
): string | null {
  const { capabilities: able, skills } = agent;
  const { session = {}, turns } = scenario;
  const does = (what: Action["do"]) => turns.some((turn) => turn.actions?.some((action) => action.do === what));
  const mode = session.permission_mode;
  const modes = [mode, ...turns.flatMap(modesOf)].filter((one) => one !== undefined);
  const unknown = modes.find((one) => !able.permission_modes.includes(one));
  if (unknown !== undefined) return `no permission mode ${unknown}`;
  for (const need of scenario.needs ?? []) {
    if (need === "fork_place") {
      if (!agent.forkPlace) return "cannot branch off at an earlier point";
    } else if (!DOORS[need].includes(skills?.door)) return "is not handed skills that way";
  }
  if (session.permissive && !profile.permissive) return "has no permission rules of its own";
  if (session.mcp_servers?.length && !able.mcp_servers) return "takes no MCP servers";
  if (session.system_prompt !== undefined && !able.system_prompt) return "takes no system prompt";
  if (turns.some(hasImage) && !able.images) return "takes no images";
  if (callsTool(turns, "ask") && !able.questions) return "asks no questions";
  // Whether a directory is trusted is asked by the daemon.
  if (
    session.trust !== "ask" &&
    scenario.replies?.permissions &&
    scenario.expect?.events?.includes("permission.requested") &&
    !able.permissions
  )
    return "asks for no permissions";
  const comes = (mode: string) => turns.some((turn) => turn.delivery?.mode === mode);
  if ((comes("resume") || comes("crash")) && !able.resume) return "cannot resume";
  if (comes("fork") && !able.fork) return "cannot fork";
  if (does("interrupt") && !able.interrupt) return "cannot be interrupted";
  if (does("kill_agent") && profile.process === false) return "has no process to kill";
  if (does("compact") && profile.compact === null) return "cannot be asked to compact";
  if (does("set_model") && profile.models.other === undefined) return "has one model only";
  return null;
}

/** It needs a daemon that nobody else uses. */
export const needsOwnDaemon = (scenario: Scenario): boolean =>
  killsDaemon(scenario) ||
  scenario.turns.some((turn) => turn.delivery?.mode === "resume" || turn.actions?.some((action) => action.do === "kill_agent"));

/** Its daemon is killed: it has to be a process of its own. */
export const killsDaemon = (scenario: Scenario): boolean => scenario.turns.some((turn) => turn.delivery?.mode === "crash");

const modesOf = (turn: Turn): PermissionMode[] =>
  (turn.actions ?? []).flatMap((action) => (action.do === "set_permission_mode" ? [action.mode] : []));

const hasImage = (turn: Turn): boolean => turn.attachments?.some((attachment) => attachment.type === "image") ?? false;

const callsTool = (turns: readonly Turn[], tool: string): boolean =>
  turns.some((turn) =>
    turn.steps.some((step) => step.blocks.some((block) => block.type === "tool" && "name" in block && block.name === tool)),
  );
