/**
 * Many short texts to one Buffer, at the least cost: a chunk of a thousand events is half a megabyte.
 */

/** Text waits as a rope and is encoded in pieces of this size: one by one is slow, and a string of all of them has to be allocated outside the young heap. */
const PIECE_CHARS = 12 * 1024;
const FIRST_SLAB = 64 * 1024;
const NEXT_SLAB = 576 * 1024;
/** Of what is returned: memory beside it that is kept with it. */
const MOST_WASTE = 0.15;

/** `latin1` for text that holds one byte a unit, as it was read from the disk: it is copied, not decoded and encoded. */
export type TextEncoding = "utf8" | "latin1";

export class TextBuffer {
  readonly #encoding: TextEncoding;
  readonly #bytesAUnit: number;
  readonly #size: number;
  #text = "";
  #slab: Buffer | undefined;
  #used = 0;

  /** `size`: how many bytes it may become, about. Right, it saves a copy. */
  constructor(encoding: TextEncoding, size = FIRST_SLAB) {
    this.#encoding = encoding;
    this.#size = size;
    this.#bytesAUnit = encoding === "utf8" ? 3 : 1;
  }

  add(text: string): void {
    this.#text += text;
    if (this.#text.length > PIECE_CHARS) this.#spill();
  }

  get empty(): boolean {
    return this.#slab === undefined && this.#text === "";
  }

  /** All of it so far. More may be added; what was returned stays as it is. */
  bytes(): Buffer {
    if (this.#slab === undefined) return Buffer.from(this.#text, this.#encoding);
    this.#spill();
    const used = this.#slab.subarray(0, this.#used);
    if (this.#slab.length - this.#used <= this.#used * MOST_WASTE) return used;
    // Batches are kept for those who may want them: a view of a large slab would keep all of it.
    const own = Buffer.allocUnsafeSlow(this.#used);
    used.copy(own);
    return own;
  }

  /** All of it, for somebody who keeps it: short texts lie in a pool of Node, and one of them would keep the 8 kB that others have left. */
  ownBytes(): Buffer {
    const bytes = this.bytes();
    if (bytes.length * (1 + MOST_WASTE) >= bytes.buffer.byteLength) return bytes;
    const own = Buffer.allocUnsafeSlow(bytes.length);
    bytes.copy(own);
    return own;
  }

  #spill(): void {
    const slab = this.#room(this.#text.length * this.#bytesAUnit);
    this.#used += slab.write(this.#text, this.#used, this.#encoding);
    this.#text = "";
  }

  #room(bytes: number): Buffer {
    const slab = this.#slab;
    if (slab !== undefined && slab.length - this.#used >= bytes) return slab;
    const size = slab === undefined ? this.#size : Math.max(NEXT_SLAB, 2 * slab.length);
    const grown = Buffer.allocUnsafeSlow(Math.max(size, this.#used + bytes));
    slab?.copy(grown, 0, 0, this.#used);
    this.#slab = grown;
    return grown;
  }
}
