/**
 * A number of places for requests that cost memory or time: the others wait in line. A place is held until the response is over. Its holder must make
 * progress: one whose client owes us something, the rest of its request or the reading of what was written, and does nothing loses its connection when
 * somebody waits, so that nobody can sit on all places. Who waits for us is never blamed for it, however long we take.
 */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

const STALL_MS = 2_000;

type Holder = { response: ServerResponse; socket: Socket; moved: number };
type Waiter = { start(): void };

export class Slots {
  readonly #size: number;
  readonly #stallMs: number;
  #taken = 0;
  readonly #holders = new Set<Holder>();
  readonly #waiting = new Set<Waiter>();
  #timer: NodeJS.Timeout | null = null;

  constructor(size: number, stallMs = STALL_MS) {
    this.#size = size;
    this.#stallMs = stallMs;
  }

  /** Resolves when it is this response's turn; never when its client is gone before. */
  async take(response: ServerResponse, socket: Socket): Promise<void> {
    if (this.#taken >= this.#size) await this.#wait(response);
    else this.#taken += 1;
    const holder: Holder = { response, socket, moved: moved(socket) };
    this.#holders.add(holder);
    response.once("close", () => this.#release(holder));
    if (response.closed || socket.destroyed) this.#release(holder);
  }

  #wait(response: ServerResponse): Promise<void> {
    return new Promise((resolve) => {
      const waiter: Waiter = { start: resolve };
      this.#waiting.add(waiter);
      response.once("close", () => this.#waiting.delete(waiter));
      this.#timer ??= setInterval(() => this.#dropStalled(), this.#stallMs).unref();
    });
  }

  #release(holder: Holder): void {
    if (!this.#holders.delete(holder)) return;
    const [next] = this.#waiting;
    if (next === undefined) this.#taken -= 1;
    else {
      this.#waiting.delete(next);
      next.start();
    }
    if (this.#waiting.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #dropStalled(): void {
    for (const holder of [...this.#holders]) {
      const now = moved(holder.socket);
      if (now === holder.moved && owes(holder)) holder.socket.destroy();
      holder.moved = now;
    }
  }
}

const owes = ({ response, socket }: Holder): boolean =>
  !response.req.complete || socket.writableLength > 0 || response.writableLength > 0;

/** Bytes that went either way. */
const moved = (socket: Socket): number => socket.bytesRead + socket.bytesWritten - socket.writableLength;
