/**
 * Questions that start a program: asked once for all who want to know, few at a time, and the answer is kept. Without this, whoever may ask could fill the
 * machine with agents. Not here: what is asked.
 */
import { ProblemError } from "../schema/problem-codes.ts";

export type ProbeLimits = {
  /** At the same time. */
  running: number;
  /** That wait for their turn. */
  waiting: number;
  /** How long one may take before its askers are informed that it does not answer. It keeps its place until it is really over. */
  timeout_ms: number;
  fresh_ms: number;
};

type Kept = { answer: Promise<unknown>; at: number };

/** How many answers are kept: one for each agent and directory that was asked about. */
const KEPT = 500;

export class Probes {
  readonly #limits: ProbeLimits;
  readonly #now: () => number;
  readonly #kept = new Map<string, Kept>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(limits: ProbeLimits, now: () => number = Date.now) {
    this.#limits = limits;
    this.#now = now;
  }

  /** The same `key` is the same question. A failure is not kept. Throws `not_ready` when too many wait. */
  ask<T>(key: string, work: () => Promise<T>): Promise<T> {
    const kept = this.#kept.get(key);
    if (kept && this.#now() - kept.at < this.#limits.fresh_ms) return kept.answer as Promise<T>;
    const answer = this.#inTurn(work);
    const entry: Kept = { answer, at: this.#now() };
    this.#kept.delete(key);
    this.#kept.set(key, entry);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= KEPT) break;
      this.#kept.delete(oldest);
    }
    answer.catch(() => {
      if (this.#kept.get(key) === entry) this.#kept.delete(key);
    });
    return answer;
  }

  /** What was said before does not hold any more. */
  forget(prefix: string): void {
    for (const key of [...this.#kept.keys()]) if (key.startsWith(prefix)) this.#kept.delete(key);
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limits.running) {
      if (this.#waiting.length >= this.#limits.waiting)
        throw new ProblemError("not_ready", "Too many agents are being asked at the same time. Try again in a moment.");
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#running++;
    const done = work().finally(() => {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    });
    return within(done, this.#limits.timeout_ms);
  }
}

export async function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`It did not answer within ${ms / 1000} s.`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
