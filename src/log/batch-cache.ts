/**
 * The batches that were last wanted, bounded in bytes: a subscriber whose socket was full for a moment goes on without reading the log, and many who are
 * behind together read it once.
 */
import type { EventBatch } from "./batch.ts";

/** One hundred readers of one session, each with a few megabytes in the buffers of the kernel, are this far apart. */
const MAX_BYTES = 24 * 1024 * 1024;

export class BatchCache {
  readonly #batches = new Map<string, EventBatch>();
  #bytes = 0;

  /** The batch that follows `after`. */
  get(stream: number, after: number): EventBatch | undefined {
    const key = `${stream}:${after}`;
    const batch = this.#batches.get(key);
    if (batch === undefined) return undefined;
    // To the end of the line: others are likely to come for it too.
    this.#batches.delete(key);
    this.#batches.set(key, batch);
    return batch;
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
