/**
 * How much one token may ask: requests a second, with a burst, and requests at once. Open streams do not count once they are open. Not here: wrong tokens
 * (failure-back-off), and how many streams there may be (open-streams).
 */
import { RetryLaterError } from "./auth.ts";

export type RequestLimitOptions = {
  /** Refilled at this rate; twice as many may come in a burst. */
  perSecond: number;
  atOnce: number;
  now?: () => number;
};

type Usage = { left: number; at: number; running: number };

/** Entries of tokens that have been idle are dropped at this number. */
const MAX_IDLE = 2_000;

export class RequestLimits {
  readonly #options: RequestLimitOptions;
  readonly #now: () => number;
  readonly #usages = new Map<string, Usage>();

  constructor(options: RequestLimitOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** Throws `too_many_requests`. Call what it returns when the request is answered; calling it again does nothing. */
  enter(tokenId: string): () => void {
    const { perSecond, atOnce } = this.#options;
    const usage = this.#usageOf(tokenId);
    if (usage.left < 1)
      throw refusal(
        Math.ceil(((1 - usage.left) * 1000) / perSecond),
        `more than ${perSecond} requests a second`,
        "requests_per_second",
      );
    if (usage.running >= atOnce) throw refusal(1_000, `more than ${atOnce} requests at once`, "concurrent_requests");
    usage.left--;
    usage.running++;
    let over = false;
    return () => {
      if (over) return;
      over = true;
      usage.running--;
    };
  }

  #usageOf(tokenId: string): Usage {
    const { perSecond } = this.#options;
    const now = this.#now();
    const known = this.#usages.get(tokenId);
    if (known) {
      known.left = Math.min(perSecond * 2, known.left + (Math.max(0, now - known.at) * perSecond) / 1000);
      known.at = now;
      return known;
    }
    if (this.#usages.size >= MAX_IDLE) for (const [id, usage] of this.#usages) if (usage.running === 0) this.#usages.delete(id);
    const usage: Usage = { left: perSecond * 2, at: now, running: 0 };
    this.#usages.set(tokenId, usage);
    return usage;
  }
}

const refusal = (waitMs: number, what: string, limit: string): RetryLaterError =>
  new RetryLaterError(
    "too_many_requests",
    waitMs,
    `This token sent ${what}. Wait ${Math.max(1, Math.ceil(waitMs / 1000))} s, or raise limits.${limit} in the configuration.`,
  );
