/**
 * One request at a time on each connection. A client may send the next ones at once (pipelining), but they are only looked at when the answer before has
 * gone out: otherwise every answer would be made and kept for a client that reads none of them.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Requests that may wait on one connection, and on all together. Who sends more loses the connection. */
const MAX_WAITING = 256;
const MAX_WAITING_OF_ALL = 4_096;

type Waiting = { response: ServerResponse; start(): void };
type Line = { busy: boolean; waiting: Waiting[] };

export class Pipelining {
  readonly #lines = new WeakMap<Socket, Line>();
  #waiting = 0;

  /** Calls `start` now, or when the connection's earlier responses are over. */
  inOrder({ socket }: IncomingMessage, response: ServerResponse, start: () => void): void {
    const line = this.#lineOf(socket);
    if (!line.busy) this.#begin(socket, line, { response, start });
    else if (line.waiting.length >= MAX_WAITING || this.#waiting >= MAX_WAITING_OF_ALL) socket.destroy();
    else {
      line.waiting.push({ response, start });
      this.#waiting += 1;
    }
  }

  #lineOf(socket: Socket): Line {
    const known = this.#lines.get(socket);
    if (known !== undefined) return known;
    const line: Line = { busy: false, waiting: [] };
    this.#lines.set(socket, line);
    socket.once("close", () => {
      this.#waiting -= line.waiting.length;
      line.waiting = [];
    });
    return line;
  }

  #begin(socket: Socket, line: Line, { response, start }: Waiting): void {
    line.busy = true;
    response.once("close", () => this.#next(socket, line));
    start();
  }

  #next(socket: Socket, line: Line): void {
    line.busy = false;
    const next = line.waiting.shift();
    if (next === undefined) return;
    this.#waiting -= 1;
    if (!socket.destroyed) this.#begin(socket, line, next);
  }
}
