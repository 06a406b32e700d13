/** Counts bytes that were read and are not stored yet, and stops the reading when they are too many: a flood never grows memory. It stores nothing itself. */

export const HIGH_BYTES = 256 * 1024;
export const LOW_BYTES = 64 * 1024;

export class BackPressure {
  readonly #source: { pause(): void; resume(): void };
  #waiting = 0;
  #paused = false;

  constructor(source: { pause(): void; resume(): void }) {
    this.#source = source;
  }

  /** Bytes that wait now. */
  get waiting(): number {
    return this.#waiting;
  }

  /** These bytes are stored when the promise is settled, whether it succeeds or not. */
  add(bytes: number, stored: Promise<unknown>): void {
    this.#waiting += bytes;
    const done = (): void => this.#done(bytes);
    stored.then(done, done);
    if (this.#paused || this.#waiting < HIGH_BYTES) return;
    this.#paused = true;
    this.#source.pause();
  }

  #done(bytes: number): void {
    this.#waiting -= bytes;
    if (!this.#paused || this.#waiting > LOW_BYTES) return;
    this.#paused = false;
    this.#source.resume();
  }
}
