/** What the daemon gives to its sessions: the log, the agents, clocks, limits, and what happens beside them. */
import type { Agent, AgentHost, AgentInspection } from "../agents/contract.ts";
import type { Log } from "../log/contract.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import type { SessionWhereabouts } from "../schema/session.ts";
import type { AdoptTask } from "./agent-tasks.ts";
import type { CarryOptions } from "./carried-memory.ts";
import type { IdSource } from "./ids.ts";
import type { SessionTimes } from "./session-context.ts";
import type { SkillSource } from "./skill-source.ts";
import type { TrustedDirectories } from "./trust-gate.ts";
import type { WorkspaceCheckpoints } from "./workspace-checkpoints.ts";

export type ManagerOptions = {
  log: Log;
  ids: IdSource;
  clock: () => string;
  now: () => number;
  /** Undefined when there is no such agent. */
  agent(id: string): { agent: Agent; host: AgentHost } | undefined;
  /** Whether its program is there; may be an answer of some time ago. */
  inspect(id: string): Promise<AgentInspection>;
  directories: TrustedDirectories;
  /** Absent: no checkpoints are taken. */
  checkpoints?: WorkspaceCheckpoints | undefined;
  /** Absent: commands of agents that go on beside their turns are no tasks. */
  adoptTask?: AdoptTask | undefined;
  /** Absent: messages use no skills. */
  skills?: SkillSource | undefined;
  times: SessionTimes;
  limits: { sessions: number; queued: number };
  defaultDirectory: string;
  /** See `SessionContext.agentEnvironment`. */
  agentEnvironment(sessionId: string): Record<string, string>;
  warn(message: string, fields: Record<string, unknown>): void;
  /** In a fleet: where a session of this node is, for its view. */
  whereabouts?: ((id: string) => SessionWhereabouts) | undefined;
  /** In a fleet: see `SessionContext.carry`. */
  carry?: CarryOptions | undefined;
  /** Something beside its agent works for it: it is not removed unasked. */
  isUsed?(id: string): boolean;
  /** It is gone: so must be what belongs to it elsewhere. */
  onRemoved?(id: string): Promise<void>;
  /** True when the search index knows every session that is not in memory. */
  searchReady(): boolean;
};

/** Throws agent_unknown. */
export function agentOf({ agent }: Pick<ManagerOptions, "agent">, id: string): { agent: Agent; host: AgentHost } {
  const found = agent(id);
  if (!found) throw new ProblemError("agent_unknown", `There is no agent ${JSON.stringify(id)}. List them with GET /v1/agents.`);
  return found;
}
