/** Long work in slices: other work of the daemon gets its turn every few milliseconds. */
import { setImmediate } from "node:timers/promises";

const SLICE_MS = 8;

export class Slices {
  #began = performance.now();
  #count = 0;

  /** Whether it is time to let others work. Asks the clock only now and then. */
  get over(): boolean {
    return (++this.#count & 31) === 0 && performance.now() - this.#began > SLICE_MS;
  }

  async pause(): Promise<void> {
    await setImmediate();
    this.#began = performance.now();
  }
}
