/** What a live session is given by its manager: the log, its agent, clocks and limits. */
import type { Agent, AgentHost } from "../agents/contract.ts";
import type { Log } from "../log/contract.ts";
import type { SessionProjection } from "../schema/projection/session-projection.ts";
import type { SessionWhereabouts } from "../schema/session.ts";
import type { AdoptTask } from "./agent-tasks.ts";
import type { CarryOptions } from "./carried-memory.ts";
import type { IdSource } from "./ids.ts";
import type { SkillSource } from "./skill-source.ts";
import type { TrustedDirectories } from "./trust-gate.ts";
import type { WorkspaceCheckpoints } from "./workspace-checkpoints.ts";

export type SessionTimes = {
  /** An idle agent process is put to rest after this long; the next message resumes it. */
  idle_ms: number;
  /** A running turn without a sign of life for this long is called stalled. */
  stall_ms: number;
  /** An interrupt the agent does not confirm in this time ends the turn by force. */
  interrupt_ms: number;
};

export type SessionContext = {
  log: Log;
  ids: IdSource;
  clock: () => string;
  now: () => number;
  agent: Agent;
  host: AgentHost;
  directories: TrustedDirectories;
  /** Absent: no checkpoints are taken. */
  checkpoints?: WorkspaceCheckpoints | undefined;
  /** Absent: commands of the agent that go on beside its turns are no tasks. */
  adoptTask?: AdoptTask | undefined;
  /** Absent: messages use no skills. */
  skills?: SkillSource | undefined;
  /** The state after all that is in the stream. */
  projection: SessionProjection;
  times: SessionTimes;
  limits: { queued: number };
  /** In a fleet: where the session is, for its view. */
  whereabouts?: ((id: string) => SessionWhereabouts) | undefined;
  /** In a fleet, whose nodes do not share what agents keep. */
  carry?: CarryOptions | undefined;
  /** How a process that serves one session alone knows which one that is. */
  agentEnvironment(sessionId: string): Record<string, string>;
  /** The session's object is of no use any more; forget it. `closed` settles when no process of it is left. */
  lost(closed: Promise<void>): void;
  /** Settles when no process of an earlier object of this session is left. */
  predecessor?: Promise<void> | undefined;
};
