/**
 * The newest batches that somebody follows, bounded in bytes: a subscriber whose socket was full for a moment goes on without reading the log.
 */
import type { EventBatch } from "./batch.ts";

const MAX_BYTES = 8 * 1024 * 1024;

export class BatchCache {
  readonly #batches = new Map<string, EventBatch>();
  #bytes = 0;

  /** The batch that follows `after`. */
  get(stream: number, after: number): EventBatch | undefined {
    return this.#batches.get(`${stream}:${after}`);
  }

  put(stream: number, batch: EventBatch): void {
    const key = `${stream}:${batch.first - 1}`;
    const old = this.#batches.get(key);
    if (old !== undefined) this.#drop(key, old);
    this.#batches.set(key, batch);
    this.#bytes += batch.size;
    for (const [oldest, dropped] of this.#batches) {
      if (this.#bytes <= MAX_BYTES) return;
      this.#drop(oldest, dropped);
    }
  }

  #drop(key: string, batch: EventBatch): void {
    this.#batches.delete(key);
    this.#bytes -= batch.size;
  }
}
