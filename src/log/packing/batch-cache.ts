/**
 * The batches that were last wanted, bounded in bytes: a subscriber whose socket was full for a moment goes on without reading the log, and many who are
 * behind together read it once.
 */
import type { EventBatch } from "./batch.ts";

const LEAST_BYTES = 8 * 1024 * 1024;
const MOST_BYTES = 64 * 1024 * 1024;
/** How far apart readers of one session come to be, each with some of it in the buffers of the kernel. */
const BYTES_A_READER = 512 * 1024;

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

  /** `readers`: how many there are who may want it. */
  put(stream: number, batch: EventBatch, readers: number): void {
    const most = Math.min(MOST_BYTES, LEAST_BYTES + readers * BYTES_A_READER);
    const key = `${stream}:${batch.first - 1}`;
    const old = this.#batches.get(key);
    if (old !== undefined) this.#drop(key, old);
    this.#batches.set(key, batch);
    this.#bytes += batch.size;
    for (const [oldest, dropped] of this.#batches) {
      if (this.#bytes <= most) return;
      this.#drop(oldest, dropped);
    }
  }

  #drop(key: string, batch: EventBatch): void {
    this.#batches.delete(key);
    this.#bytes -= batch.size;
  }
}
