/**
 * All streams that are open to clients, SSE and WebSocket alike: counts them against the limit, keeps them awake with one timer for all, and closes
 * those whose token is no longer valid.
 */
import { ProblemError } from "../schema/problem-codes.ts";
import type { TokenStore } from "./token-store.ts";

export type OpenStream = {
  /** Null: opened without a token. */
  readonly tokenId: string | null;
  /** Bytes written to it that its client has not taken. */
  readonly buffered: number;
  /** Called every 15 s. */
  beat(): void;
  close(reason: "shutdown" | "revoked"): void;
};

export const HEARTBEAT_MS = 15_000;

const MIN_SHARE = 16 * 1024;
const MAX_SHARE = 2 * 1024 * 1024;
const ALL_SHARES = 32 * 1024 * 1024;

export class OpenStreams {
  readonly #open = new Set<OpenStream>();
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
  mustHaveRoom(): void {
    if (this.#open.size >= this.#limit) throw new ProblemError("too_many_subscribers");
  }

  add(stream: OpenStream): void {
    this.#open.add(stream);
  }

  delete(stream: OpenStream): void {
    this.#open.delete(stream);
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
