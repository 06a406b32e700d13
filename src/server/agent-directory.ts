// What the server needs to know about agents. The daemon implements it; the server never meets an agent.
import type { ModeInfo, ModelInfo } from "../schema/event-data.ts";
import type { AgentInfo, VerifyReport } from "../schema/session.ts";

/** One line of an installation's progress. */
export type InstallProgress = { message: string };

/** Every method throws ProblemError: `agent_unknown`, `agent_not_found`, `install_failed`, `unsupported`, `never_verified`. */
export interface AgentDirectory {
  /** `start`: programs may be started to learn their versions; otherwise only what is known is reported. */
  list(start: boolean): Promise<AgentInfo[]>;
  inspect(id: string, start: boolean): Promise<AgentInfo>;
  /** Both start the agent. `directory` undefined: the daemon's default. Its settings count only when it is trusted. */
  models(id: string, directory: string | undefined): Promise<ModelInfo[]>;
  modes(id: string, directory: string | undefined): Promise<ModeInfo[]>;
  /** The last one that was kept. */
  verifyReport(id: string): Promise<VerifyReport>;
  install(id: string, onProgress: (progress: InstallProgress) => void): Promise<AgentInfo>;
}
