/** Tasks of this daemon: their processes, their streams in the log, and what their sessions report about them. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "../log/contract.ts";
import type { TaskEvent } from "../schema/task.ts";
import type { IdSource } from "../session/ids.ts";
import type { SessionManager } from "../session/session-manager.ts";
import { ProcessRegistry } from "../transports/index.ts";
import { TaskService, TaskStreams, Tasks } from "../workspace/tasks/index.ts";
import { agentEnvironment } from "./agent-host.ts";

export type DaemonTasksOptions = {
  dataDir: string;
  env: NodeJS.ProcessEnv;
  log: Log;
  ids: IdSource;
  clock(): string;
  manager(): SessionManager;
  warn(message: string, fields: Record<string, unknown>): void;
};

export type DaemonTasks = {
  service: TaskService;
  /** For the start, after the orphans were ended and the sessions recovered. Returns how many tasks were open. */
  closeLost(): Promise<number>;
};

export function createTasks({ dataDir, env, log, ids, clock, manager, warn }: DaemonTasksOptions): DaemonTasks {
  const outputDirectory = join(dataDir, "task-output");
  // What an earlier daemon kept there is in the log as events and artifacts.
  rmSync(outputDirectory, { recursive: true, force: true });
  mkdirSync(outputDirectory, { recursive: true, mode: 0o700 });
  const tell = async (sessionId: string, event: TaskEvent): Promise<void> => {
    const session = await manager().get(sessionId);
    if (!session.projection.ended) session.say([{ do: "event", synthetic: true, ...event }]);
  };
  const streams = new TaskStreams({
    log,
    nextEvent: () => ids.nextEvent(),
    clock,
    onTold: (sessionId, event) =>
      void tell(sessionId, event).catch((error: unknown) =>
        warn("a session could not report its task", { session_id: sessionId, error: String(error) }),
      ),
  });
  const tasks = new Tasks({
    sink: streams,
    recorder: new ProcessRegistry(join(dataDir, "processes")),
    outputDirectory,
    storeOutput: streams.storeOutput,
  });
  const service = new TaskService({ tasks, streams, log, environment: () => agentEnvironment(env) });
  return { service, closeLost: () => streams.closeLost() };
}
