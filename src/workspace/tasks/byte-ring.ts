/** The newest bytes of a stream, at most so many. Copies what it takes, so that it never holds more memory than it says. */

const FIRST_BYTES = 4 * 1024;

export class ByteRing {
  readonly #capacity: number;
  #bytes = Buffer.alloc(0);
  /** Bytes ever taken; the newest one has the place `#total - 1`. */
  #total = 0;
  #kept = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Place of the oldest byte that is kept. */
  get start(): number {
    return this.#total - this.#kept;
  }

  get total(): number {
    return this.#total;
  }

  push(bytes: Buffer): void {
    this.#grow(Math.min(this.#kept + bytes.length, this.#capacity));
    this.#total += bytes.length;
    const newest = bytes.subarray(Math.max(0, bytes.length - this.#bytes.length));
    this.#kept = Math.min(this.#kept + newest.length, this.#bytes.length);
    if (newest.length === 0) return;
    const at = (this.#total - newest.length) % this.#bytes.length;
    const first = newest.copy(this.#bytes, at);
    newest.copy(this.#bytes, 0, first);
  }

  /** The bytes from `from` up to `to`, both inside of what is kept. */
  copy(from: number, to: number): Buffer {
    const out = Buffer.allocUnsafe(Math.max(0, to - from));
    if (out.length === 0) return out;
    const at = from % this.#bytes.length;
    const first = this.#bytes.copy(out, 0, at, Math.min(at + out.length, this.#bytes.length));
    this.#bytes.copy(out, first, 0, out.length - first);
    return out;
  }

  /** Forgets the bytes, not the count. */
  clear(): void {
    this.#bytes = Buffer.alloc(0);
    this.#kept = 0;
  }

  #grow(needed: number): void {
    if (needed <= this.#bytes.length) return;
    const kept = this.copy(this.start, this.#total);
    const size = Math.min(this.#capacity, Math.max(needed, this.#bytes.length * 2, FIRST_BYTES));
    this.#bytes = Buffer.alloc(size);
    const at = this.start % size;
    const first = kept.copy(this.#bytes, at);
    kept.copy(this.#bytes, 0, first);
  }
}
