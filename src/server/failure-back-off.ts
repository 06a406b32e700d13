/**
 * Slows down guessing of tokens, per address range and per beginning of the guessed token. Asked only about wrong tokens: a right one is always looked up
 * first, so nobody can lock the owner out. The same wrong token again is not another guess: a forgotten tab with an old token costs nothing.
 */
import { createHash } from "node:crypto";
import { isIPv6 } from "node:net";

const FREE_GUESSES = 10;
const FIRST_BLOCK_MS = 1_000;
const LONGEST_BLOCK_MS = 60_000;
const FORGET_MS = 15 * 60_000;
const MAX_RECORDS = 10_000;
const MAX_REMEMBERED = 256;
const PREFIX_LENGTH = 4;

type Record = { guesses: Set<string>; failures: number; last: number; blockedUntil: number };

export class FailureBackOff {
  readonly #records = new Map<string, Record>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Counts a wrong token. Returns the milliseconds its sender has to wait; 0 while guesses are free. */
  failed(address: string | undefined, secret: string): number {
    const guess = createHash("sha256").update(secret).digest("base64").slice(0, 16);
    const keys = [`range ${addressRange(address)}`, `prefix ${secret.slice(0, PREFIX_LENGTH)}`];
    return Math.max(...keys.map((key) => this.#count(key, guess)));
  }

  #count(key: string, guess: string): number {
    const record = this.#recordOf(key);
    const now = this.#now();
    const wait = Math.max(0, record.blockedUntil - now);
    if (record.guesses.has(guess)) return wait;
    if (record.guesses.size < MAX_REMEMBERED) record.guesses.add(guess);
    record.failures++;
    record.last = now;
    const over = record.failures - FREE_GUESSES;
    if (over < 0) return 0;
    record.blockedUntil = now + Math.min(LONGEST_BLOCK_MS, FIRST_BLOCK_MS * 2 ** Math.min(over, 16));
    return over === 0 ? 0 : record.blockedUntil - now;
  }

  #recordOf(key: string): Record {
    const now = this.#now();
    const known = this.#records.get(key);
    if (known && now - known.last < FORGET_MS) return known;
    if (this.#records.size >= MAX_RECORDS) this.#forget(now);
    const record: Record = { guesses: new Set(), failures: 0, last: now, blockedUntil: 0 };
    this.#records.delete(key);
    this.#records.set(key, record);
    return record;
  }

  /** The old ones; when all are young, the one known longest. */
  #forget(now: number): void {
    for (const [key, record] of this.#records) if (now - record.last >= FORGET_MS) this.#records.delete(key);
    const [oldest] = this.#records.keys();
    if (this.#records.size >= MAX_RECORDS && oldest !== undefined) this.#records.delete(oldest);
  }
}

/** Addresses one party can choose among: this machine, an IPv4 /24, an IPv6 /64. Undefined is the unix socket. */
export function addressRange(address: string | undefined): string {
  if (address === undefined) return "this machine";
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "").split("%")[0] ?? "";
  if (plain === "::1" || plain.startsWith("127.")) return "this machine";
  if (!isIPv6(plain)) return `${plain.split(".").slice(0, 3).join(".")}.0/24`;
  return `${expanded(plain).slice(0, 4).join(":")}::/64`;
}

function expanded(address: string): string[] {
  const [head = "", tail] = address.split("::");
  const first = head === "" ? [] : head.split(":");
  const last = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - first.length - last.length);
  return [...first, ...Array.from({ length: zeros }, () => "0"), ...last].map((group) =>
    group.toLowerCase().replace(/^0+(?=.)/, ""),
  );
}
