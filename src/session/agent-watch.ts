/**
 * How long the agent has been silent: in a running turn that is reported, without one the agent is put to rest. Needs no timer of its own, neither for an
 * event nor for a session: somebody asks now and then.
 */
import type { AgentTasks } from "./agent-tasks.ts";
import { stalled } from "./outcomes.ts";
import type { SessionContext } from "./session-context.ts";
import type { SessionRecord } from "./session-record.ts";

export type WatchOptions = {
  record: SessionRecord;
  context: Pick<SessionContext, "agent" | "now" | "times">;
  tasks: AgentTasks | null;
  /** Puts the agent to rest. */
  rest(): Promise<void>;
};

export class AgentWatch {
  readonly #options: WatchOptions;
  #lastSign: number;
  /** The agent is not read: nobody can know whether it is silent. */
  #paused = false;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#lastSign = this.#options.context.now();
  }

  /** The agent gave a sign of life. Returns when. */
  sign(): number {
    this.#lastSign = this.#options.context.now();
    return this.#lastSign;
  }

  setPaused(paused: boolean): void {
    this.#paused = paused;
    this.sign();
  }

  /** Of an agent that runs. */
  tick(now: number): void {
    if (!this.#paused) this.#options.record.guard(() => this.#tick(now));
  }

  #tick(now: number): void {
    const { record, context, tasks, rest } = this.#options;
    const { stall_ms, idle_ms } = context.times;
    const silent = now - this.#lastSign;
    if (record.projection.facts.status === "running" && silent > stall_ms) record.emit([stalled(silent)]);
    // An agent with a command that still runs is not idle: the command would end with it.
    const idle = !record.projection.open && !tasks?.running && silent > idle_ms;
    if (idle && context.agent.capabilities.resume) void rest();
  }
}
