/**
 * Commands that the agent of one session runs beside its turns, as tasks: each has a stream of its own, and the session reports its start and its end. What the
 * drafts say goes there; which command goes on is the translator's to say.
 */
import { AgentError, type Connection } from "../agents/contract.ts";
import type { Draft, DraftOf } from "../schema/draft.ts";

/** A command of an agent, for whoever keeps tasks. */
export type AgentCommand = {
  session_id: string;
  tool_name: string;
  command: string;
  cwd: string;
  title: string | null;
  stop: (() => Promise<void>) | null;
};

export interface AdoptedTask {
  output(stream: "stdout" | "stderr", text: string): void;
  exited(exit: { code: number | null; signal: string | null; stopped?: string }): void;
  lost(reason: string): void;
}

/** Makes a task of a command that runs already. */
export type AdoptTask = (command: AgentCommand) => AdoptedTask;

const STOPPED = "stopped in the agent";

export type AgentTasksOptions = {
  session_id: string;
  directory: string;
  adopt: AdoptTask;
  connection(): Connection | null;
};

export class AgentTasks {
  readonly #options: AgentTasksOptions;
  readonly #open = new Map<string, AdoptedTask>();

  constructor(options: AgentTasksOptions) {
    this.#options = options;
  }

  /** True while a command of the agent goes on: it would end with its agent. */
  get running(): boolean {
    return this.#open.size > 0;
  }

  /** Drafts of tasks; others are not looked at. What is reported about a task that was never started, or has ended, is nothing. */
  take(drafts: readonly Draft[]): void {
    for (const draft of drafts) {
      if (draft.do === "task.start") this.#start(draft);
      else if (draft.do === "task.output") this.#open.get(draft.key)?.output(draft.stream ?? "stdout", draft.text);
      else if (draft.do === "task.end") this.#end(draft);
    }
  }

  /** The agent is gone: its commands are gone with it, or nobody reports about them any more. */
  lost(reason: string): void {
    for (const task of this.#open.values()) task.lost(reason);
    this.#open.clear();
  }

  #start({ key, tool_name, command, cwd, title, native }: DraftOf<"task.start">): void {
    if (this.#open.has(key)) return;
    const { session_id, directory, adopt, connection } = this.#options;
    const stop = async (): Promise<void> => {
      const line = connection();
      if (!line?.stopTask) throw new AgentError("agent_gone", "The agent that runs this command is gone.");
      await line.stopTask(native);
    };
    const canStop = native !== undefined && connection()?.stopTask !== undefined;
    const about = { session_id, tool_name, command, cwd: cwd ?? directory, title: title ?? null };
    this.#open.set(key, adopt({ ...about, stop: canStop ? stop : null }));
  }

  #end({ key, status, exit_code, error }: DraftOf<"task.end">): void {
    const task = this.#open.get(key);
    this.#open.delete(key);
    if (status === "failed") task?.lost(error ?? "the agent says that it failed");
    else task?.exited({ code: exit_code ?? null, signal: null, ...(status === "stopped" ? { stopped: STOPPED } : {}) });
  }
}
