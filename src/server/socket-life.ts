/** What every WebSocket of the daemon has in common: it is asked whether it is still there, and closed with a reason. Not here: what is said over it. */
import type { RawData, WebSocket } from "ws";

export const NORMAL = 1000;
export const GOING_AWAY = 1001;
const POLICY = 1008;

/** Answers that a client has not read. Over it, pings get none: a client that reads has never so many before it. */
const MAX_UNREAD_PONGS = 64 * 1024;

/** Pings in a row without an answer after which a client counts as gone. */
const MAX_UNANSWERED = 3;

export class SocketLife {
  readonly #ws: WebSocket;
  readonly #gone: () => void;
  #unanswered = 0;

  /** `gone` may be called more than once. */
  constructor(ws: WebSocket, gone: () => void) {
    this.#ws = ws;
    this.#gone = gone;
  }

  start(): void {
    this.#ws.on("pong", () => {
      this.#unanswered = 0;
    });
    this.#ws.on("ping", (data) => {
      if (this.#ws.readyState === this.#ws.OPEN && this.#ws.bufferedAmount < MAX_UNREAD_PONGS) this.#ws.pong(data);
    });
    this.#ws.on("close", this.#gone);
    this.#ws.on("error", () => this.#ws.terminate());
  }

  /** Who does not answer is gone; who does not read cannot answer, and is left to TCP. */
  beat(): void {
    if (this.#ws.bufferedAmount > 0) return;
    if (this.#unanswered >= MAX_UNANSWERED) return this.#ws.terminate();
    this.#unanswered++;
    this.#ws.ping();
  }

  close(reason: "shutdown" | "revoked"): void {
    if (reason === "revoked") this.#ws.close(POLICY, "the token is no longer valid");
    else this.#ws.close(GOING_AWAY, "the daemon stops");
    if (this.#ws.bufferedAmount > 0) this.#ws.terminate();
    this.#gone();
  }
}

export const bytesOf = (data: RawData): Buffer =>
  Buffer.isBuffer(data) ? data : Buffer.concat(Array.isArray(data) ? data : [new Uint8Array(data)]);
