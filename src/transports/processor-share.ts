/**
 * How much of a busy processor the agents get. Each agent is the leader of a session of its own, and Linux gives every session ("autogroup") the same share: a hundred
 * busy agents would leave the daemon, which must hear all of them, a hundredth. So from a number of agents on, each one's share is made smaller, and together they
 * weigh no more than that number. A processor that has time gives it to them all the same. Where the system has no autogroups, nothing happens.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/** Agents for each processor before shares become smaller. */
const AGENTS_EACH = 4;
/** A level of `nice` makes a share smaller by a fifth: three levels halve it. */
const LEVELS_A_HALF = 3;
const LAST_LEVEL = 19;
/** The kernel lets those without privileges change one group in 100 ms (EAGAIN). */
const PACE_MS = 110;

const fileOf = (pid: number | "self"): string => `/proc/${pid}/autogroup`;

/** The level of `nice` at which this many weigh as much as `whole` without it. */
export const levelFor = (agents: number, whole: number): number =>
  agents <= whole ? 0 : Math.min(LAST_LEVEL, Math.ceil(LEVELS_A_HALF * Math.log2(agents / whole)));

export class ProcessorShares {
  readonly #whole: number;
  /** Process → the level its session has. */
  readonly #levels = new Map<number, number>();
  #pause: NodeJS.Timeout | undefined;

  constructor(whole: number) {
    this.#whole = whole;
  }

  /** The leader of a session that was just started. One that is in our own session is left as it is. */
  add(pid: number): void {
    const group = groupOf(pid);
    if (group === null || group === groupOf("self")) return;
    this.#levels.set(pid, 0);
    this.#adjust();
  }

  /** It has ended: its number may soon be another's. */
  remove(pid: number): void {
    if (this.#levels.delete(pid)) this.#adjust();
  }

  #adjust(): void {
    if (this.#pause !== undefined) return;
    const wanted = levelFor(this.#levels.size, this.#whole);
    for (const [pid, level] of this.#levels) {
      if (level === wanted) continue;
      const done = setLevel(pid, wanted);
      if (done === "later") return this.#again();
      this.#levels.set(pid, wanted);
    }
  }

  #again(): void {
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      this.#adjust();
    }, PACE_MS).unref();
  }
}

/** All agents of this process. */
export const processorShares = new ProcessorShares(AGENTS_EACH * availableParallelism());

/** The autogroup of a process; null where there are none. */
function groupOf(pid: number | "self"): string | null {
  try {
    return /^(\S+) nice /.exec(readFileSync(fileOf(pid), "utf8"))?.[1] ?? null;
  } catch {
    return null;
  }
}

/** "done" also when the process is gone or the system refuses: it is not tried again. */
function setLevel(pid: number, level: number): "done" | "later" {
  try {
    writeFileSync(fileOf(pid), String(level));
    return "done";
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EAGAIN" ? "later" : "done";
  }
}
