// Notices when a run of Amp has silently stopped. Amp writes whole messages only, so silence is normal while the model or a tool works:
// what counts as too long depends on what Amp was last seen doing. It keeps time and calls back; it decides nothing else.
import { arr, isRecord, rec, str } from "../../json.ts";

export type WatchdogTimes = {
  /** Before the first message: tools and MCP servers are started. */
  start_ms: number;
  /** While the model is at work, until stdin is closed. An empty answer has no message at all: only then does Amp say that it is done. */
  nudge_ms: number;
  /** While the model is at work, until the run is given up. */
  silence_ms: number;
  /** jan, may: after a message with `stop_reason: null` nothing ever comes. */
  incomplete_ms: number;
  /** Asking for a login on stdin, where nobody can answer. */
  login_ms: number;
  /** From the result to the exit. */
  exit_ms: number;
};

export const WATCHDOG_TIMES: WatchdogTimes = {
  start_ms: 120_000,
  nudge_ms: 20_000,
  silence_ms: 600_000,
  incomplete_ms: 10_000,
  login_ms: 2_000,
  exit_ms: 30_000,
};

/** What the run was last seen doing. While tools run there is no limit: a build may take hours. */
export type RunPhase = "starting" | "model" | "tools" | "incomplete" | "login" | "done" | "leaving";

export type WatchdogAlarm = { phase: Exclude<RunPhase, "tools">; after_ms: number };

export class Watchdog {
  readonly #times: WatchdogTimes;
  readonly #onAlarm: (alarm: WatchdogAlarm) => void;
  readonly #onNudge: () => void;
  #phase: RunPhase = "starting";
  #nudge: NodeJS.Timeout | null = null;
  #alarm: NodeJS.Timeout | null = null;
  #paused = false;

  constructor(times: WatchdogTimes, onNudge: () => void, onAlarm: (alarm: WatchdogAlarm) => void) {
    this.#times = times;
    this.#onNudge = onNudge;
    this.#onAlarm = onAlarm;
    this.#arm();
  }

  get phase(): RunPhase {
    return this.#phase;
  }

  /** Any line of stdout, as it came. */
  saw(data: unknown): void {
    this.#phase = phaseAfter(this.#phase, data);
    this.#arm();
  }

  /** We wrote something, or stderr did: a sign of life. */
  touch(): void {
    this.#arm();
  }

  login(): void {
    this.#phase = "login";
    this.#arm();
  }

  /** While the run is not read, its silence is ours. */
  setPaused(paused: boolean): void {
    this.#paused = paused;
    this.#arm();
  }

  stop(): void {
    if (this.#nudge) clearTimeout(this.#nudge);
    if (this.#alarm) clearTimeout(this.#alarm);
    this.#nudge = null;
    this.#alarm = null;
  }

  #arm(): void {
    this.stop();
    const phase = this.#phase;
    if (phase === "tools" || this.#paused) return;
    const limit = this.#limit(phase);
    this.#alarm = setTimeout(() => this.#onAlarm({ phase, after_ms: limit }), limit);
    if (phase === "model" && this.#times.nudge_ms < limit) this.#nudge = setTimeout(() => this.#onNudge(), this.#times.nudge_ms);
  }

  #limit(phase: Exclude<RunPhase, "tools">): number {
    switch (phase) {
      case "starting":
        return this.#times.start_ms;
      case "model":
        return this.#times.silence_ms;
      case "incomplete":
        return this.#times.incomplete_ms;
      case "login":
        return this.#times.login_ms;
      case "done":
      case "leaving":
        return this.#times.exit_ms;
      default:
        return phase satisfies never;
    }
  }
}

export function phaseAfter(phase: RunPhase, data: unknown): RunPhase {
  if (!isRecord(data)) return phase;
  switch (data.type) {
    case "system":
    case "user":
      return "model";
    case "assistant":
      return afterAssistant(rec(data.message));
    case "result":
      return "leaving";
    default:
      return phase;
  }
}

function afterAssistant(message: Record<string, unknown>): RunPhase {
  if (message.stop_reason === null) return "incomplete";
  if (message.stop_reason === "end_turn") return "done";
  return arr(message.content).some((block) => str(rec(block).type) === "tool_use") ? "tools" : "model";
}

/** From the configuration file, `agents.amp.watchdog`; what is not a positive number keeps its default. */
export function watchdogTimes(settings: unknown): WatchdogTimes {
  const times = { ...WATCHDOG_TIMES };
  for (const [name, value] of Object.entries(rec(settings)))
    if (name in times && typeof value === "number" && value > 0) times[name as keyof WatchdogTimes] = value;
  return times;
}
