// gemini 0.61 names a session's file by the minute and the id. Loading a session in the minute it was made or loaded writes over its own history,
// for good. So a session is not loaded before that minute is over. Only for agents whose quirks say so.
import { setTimeout as delay } from "node:timers/promises";

const MINUTE_MS = 60_000;
/** Sessions whose first minute is certainly over are forgotten. */
const REMEMBERED = 1_000;

export class YoungSessions {
  readonly #born = new Map<string, number>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  born(id: string): void {
    this.#born.set(id, this.#now());
    const [oldest] = this.#born.keys();
    if (this.#born.size > REMEMBERED && oldest !== undefined) this.#born.delete(oldest);
  }

  /** How long the session must be left alone; 0 when it is old enough, or not from here. */
  restMs(id: string): number {
    const born = this.#born.get(id);
    if (born === undefined) return 0;
    const end = (Math.floor(born / MINUTE_MS) + 1) * MINUTE_MS;
    return Math.max(0, end - this.#now());
  }

  async grown(id: string): Promise<void> {
    const rest = this.restMs(id);
    if (rest > 0) await delay(rest);
  }
}
