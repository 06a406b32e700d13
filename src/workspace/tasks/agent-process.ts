/**
 * A command that an agent runs by itself, as the process of a task: its output and its end are what the agent reports about it. It has no input and takes no signal;
 * it ends when its agent stops it, or is lost with its agent.
 */
import type { OutputStream, ProcessListener, TaskExit, TaskProcess } from "./task-process.ts";

/** What an agent reported about a command of its own. */
export type AgentCommand = {
  session_id: string;
  tool_name: string;
  command: string;
  cwd: string;
  title: string | null;
  /** Asks the agent to stop it; its end is reported like any other. Null: the agent cannot. */
  stop: (() => Promise<void>) | null;
};

export class AgentProcess implements TaskProcess {
  readonly pid = null;
  readonly inputBacklog = 0;
  readonly canStop: boolean;
  readonly #stop: (() => Promise<void>) | null;
  #listener: ProcessListener | null = null;
  /** What was reported before the task was announced. */
  #early: ((listener: ProcessListener) => void)[] = [];
  #over = false;

  constructor(stop: (() => Promise<void>) | null) {
    this.#stop = stop;
    this.canStop = stop !== null;
  }

  /** From now on the listener gets everything, also what was reported before. */
  open(listener: ProcessListener): this {
    this.#listener = listener;
    for (const told of this.#early.splice(0)) told(listener);
    return this;
  }

  output(stream: OutputStream, text: string): void {
    if (text !== "") this.#tell((listener) => listener.onOutput(stream, Buffer.from(text)));
  }

  exited(exit: TaskExit): void {
    this.#end((listener) => listener.onExit(exit));
  }

  /** Its agent says nothing of it any more, or says that it failed. */
  lost(reason: string): void {
    this.#end((listener) => listener.onSpawnError(new Error(reason)));
  }

  /** Rejects with what the agent said when it did not want to. */
  async askToStop(): Promise<void> {
    if (!this.#over) await this.#stop?.();
  }

  write(): boolean {
    return false;
  }

  signal(): boolean {
    return false;
  }

  endInput(): void {}
  pause(): void {}
  resume(): void {}

  /** Its story cannot be written down: the agent goes on with it, and only that is said. */
  stop(): void {
    this.lost("its events could not be stored");
  }

  #end(tell: (listener: ProcessListener) => void): void {
    if (this.#over) return;
    this.#over = true;
    this.#tell(tell);
  }

  #tell(tell: (listener: ProcessListener) => void): void {
    if (this.#listener) tell(this.#listener);
    else this.#early.push(tell);
  }
}
