/**
 * Streams that somebody follows here and that another process writes: how far they have come is looked up a few times a second, all of them in one question. Where
 * the owner sends what it commits, this is what remains when it cannot be reached.
 */
import type { PostgresStream } from "./stream.ts";
import type { StreamStore } from "./stream-store.ts";

const POLL_MS = 250;

export class Followed {
  readonly #streams = new Map<number, PostgresStream>();
  readonly #store: StreamStore;
  readonly #onThrow: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #looking = false;

  constructor(store: StreamStore, onThrow: (error: unknown) => void) {
    this.#store = store;
    this.#onThrow = onThrow;
  }

  add(stream: PostgresStream): void {
    this.#streams.set(stream.no, stream);
    this.#timer ??= setInterval(() => void this.#look().catch(this.#onThrow), POLL_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#streams.clear();
  }

  async #look(): Promise<void> {
    for (const [no, stream] of this.#streams) if (stream.tail.size === 0 || stream.isWritten) this.#streams.delete(no);
    if (this.#streams.size === 0) return this.stop();
    if (this.#looking) return;
    this.#looking = true;
    try {
      const found = await this.#store.progress([...this.#streams.keys()]);
      for (const [no, stream] of this.#streams) {
        const row = found.get(no);
        if (row !== undefined) stream.advance(row);
      }
    } finally {
      this.#looking = false;
    }
  }
}
