/**
 * Slows down guessing of tokens, per remote address, loopback included. The same wrong token again is not another guess: a forgotten tab with an old
 * cookie must not lock its owner out. While an address is blocked, the right token is refused too; otherwise the block would not stop guessing.
 */
import { createHash } from "node:crypto";

const FREE_GUESSES = 10;
const FIRST_BLOCK_MS = 1_000;
const LONGEST_BLOCK_MS = 60_000;
const FORGET_MS = 15 * 60_000;
const MAX_ADDRESSES = 10_000;
const MAX_REMEMBERED = 256;

type Record = { guesses: Set<string>; failures: number; last: number; blockedUntil: number };

export class FailureBackOff {
  readonly #records = new Map<string, Record>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Milliseconds this address has to wait; 0 when it may try. */
  wait(address: string): number {
    const record = this.#records.get(address);
    return record ? Math.max(0, record.blockedUntil - this.#now()) : 0;
  }

  failed(address: string, secret: string): void {
    const record = this.#recordOf(address);
    const guess = createHash("sha256").update(secret).digest("base64").slice(0, 16);
    if (record.guesses.has(guess)) return;
    if (record.guesses.size < MAX_REMEMBERED) record.guesses.add(guess);
    record.failures++;
    record.last = this.#now();
    const over = record.failures - FREE_GUESSES;
    if (over >= 0) record.blockedUntil = this.#now() + Math.min(LONGEST_BLOCK_MS, FIRST_BLOCK_MS * 2 ** over);
  }

  #recordOf(address: string): Record {
    const now = this.#now();
    const known = this.#records.get(address);
    if (known && now - known.last < FORGET_MS) return known;
    if (this.#records.size >= MAX_ADDRESSES) this.#forget(now);
    const record: Record = { guesses: new Set(), failures: 0, last: now, blockedUntil: 0 };
    this.#records.delete(address);
    this.#records.set(address, record);
    return record;
  }

  /** The old ones; when all are young, the one known longest. */
  #forget(now: number): void {
    for (const [address, record] of this.#records) if (now - record.last >= FORGET_MS) this.#records.delete(address);
    const [oldest] = this.#records.keys();
    if (this.#records.size >= MAX_ADDRESSES && oldest !== undefined) this.#records.delete(oldest);
  }
}
