/**
 * All streams that are open to clients, SSE and WebSocket alike: counts them against the limit, keeps them awake with one timer for all, and closes
 * those whose token is no longer valid.
 */
import { type Role, reaches } from "../schema/actor.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import type { TokenStore } from "./token-store.ts";

export type OpenStream = {
  /** Null: opened without a token. */
  readonly tokenId: string | null;
  /** See `mayOnlyLook`. */
  readonly looks: boolean;
  /** Bytes written to it that its client has not taken. */
  readonly buffered: number;
  /** Called every 15 s. */
  beat(): void;
  close(reason: "shutdown" | "revoked"): void;
};

export const HEARTBEAT_MS = 15_000;

/** Of all streams, those who may only look have at most so many: who operates always finds room. */
const LOOKING_SHARE = 0.75;

export const mayOnlyLook = (caller: { role: Role } | null): boolean => caller === null || !reaches(caller.role, "operate");

const MIN_SHARE = 16 * 1024;
const MAX_SHARE = 2 * 1024 * 1024;
const ALL_SHARES = 32 * 1024 * 1024;

export class OpenStreams {
  readonly #open = new Set<OpenStream>();
  #looking = 0;
  readonly #limit: number;
  readonly #tokens: TokenStore;
  readonly #timer: NodeJS.Timeout;

  constructor(limit: number, tokens: TokenStore, heartbeatMs = HEARTBEAT_MS) {
    this.#limit = limit;
    this.#tokens = tokens;
    this.#timer = setInterval(() => this.beat(), heartbeatMs).unref();
  }

  get size(): number {
    return this.#open.size;
  }

  /** Bytes one stream may have waiting before it is called slow: all of them together hold little, however many there are. */
  get share(): number {
    return Math.max(MIN_SHARE, Math.min(MAX_SHARE, ALL_SHARES / this.#open.size));
  }

  get buffered(): number {
    let sum = 0;
    for (const stream of this.#open) sum += stream.buffered;
    return sum;
  }

  /** Throws `too_many_subscribers`. Ask before anything is sent. */
  mustHaveRoom(caller: { role: Role } | null): void {
    const full = mayOnlyLook(caller) && this.#looking >= Math.max(1, Math.floor(this.#limit * LOOKING_SHARE));
    if (full || this.#open.size >= this.#limit) throw new ProblemError("too_many_subscribers");
  }

  add(stream: OpenStream): void {
    this.#open.add(stream);
    if (stream.looks) this.#looking += 1;
  }

  delete(stream: OpenStream): void {
    if (this.#open.delete(stream) && stream.looks) this.#looking -= 1;
  }

  beat(): void {
    this.closeRevoked();
    for (const stream of this.#open) stream.beat();
  }

  /** Called when a token was revoked; the heartbeat calls it too, for tokens that expired or whose file was replaced. */
  closeRevoked(): void {
    const alive = new Map<string, boolean>();
    for (const stream of [...this.#open]) {
      const { tokenId } = stream;
      if (tokenId === null) continue;
      if (!alive.has(tokenId)) alive.set(tokenId, this.#tokens.alive(tokenId));
      if (!alive.get(tokenId)) stream.close("revoked");
    }
  }

  closeAll(): void {
    clearInterval(this.#timer);
    for (const stream of [...this.#open]) stream.close("shutdown");
  }
}
