/**
 * Bytes to text in pieces of at most 8 KiB that never split a character, also when a character comes in two reads. Bytes that are no UTF-8 become U+FFFD; each
 * piece says how many bytes it stands for, so that the count stays right. All pieces together are what decoding everything at once would give.
 */

export const CHUNK_BYTES = 8 * 1024;
/** One byte becomes at most three: U+FFFD. */
const WORST_BYTES = Math.floor(CHUNK_BYTES / 3);
const NOTHING = Buffer.alloc(0);

export type TextChunk = {
  text: string;
  /** Bytes of the program's output that this text stands for. */
  bytes: number;
};

export class Utf8Chunks {
  /** The beginning of a character whose rest has not come yet: at most 3 bytes. */
  #open: Buffer = NOTHING;

  push(read: Buffer): TextChunk[] {
    const bytes = this.#open.length === 0 ? read : Buffer.concat([this.#open, read]);
    const whole = characterStart(bytes, bytes.length);
    // A copy: a view would keep the whole read in memory.
    this.#open = whole === bytes.length ? NOTHING : Buffer.from(bytes.subarray(whole));
    return cut(bytes.subarray(0, whole));
  }

  /** What is left when nothing more will come: a character that was never finished. */
  end(): TextChunk[] {
    const rest = this.#open;
    this.#open = NOTHING;
    return cut(rest);
  }
}

function cut(bytes: Buffer): TextChunk[] {
  const chunks: TextChunk[] = [];
  for (let at = 0; at < bytes.length; ) {
    let piece = bytes.subarray(at, cutPlace(bytes, at + CHUNK_BYTES));
    let text = piece.toString("utf8");
    if (Buffer.byteLength(text) > CHUNK_BYTES) {
      piece = bytes.subarray(at, cutPlace(bytes, at + WORST_BYTES));
      text = piece.toString("utf8");
    }
    chunks.push({ text, bytes: piece.length });
    at += piece.length;
  }
  return chunks;
}

/** The end is always a place to cut: what is unfinished there is not known to go on. */
const cutPlace = (bytes: Buffer, at: number): number => (at >= bytes.length ? bytes.length : characterStart(bytes, at));

/** The last place not after `at` where the bytes can be cut without splitting a character. */
export function characterStart(bytes: Buffer, at: number): number {
  for (let back = 1; back <= 3 && back <= at; back++) {
    const byte = bytes[at - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    return sequenceLength(byte) > back ? at - back : at;
  }
  return at;
}

/** How many bytes a character has that begins with this one; 1 for a byte that begins none. */
function sequenceLength(lead: number): number {
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  return lead >= 0xf0 && lead <= 0xf4 ? 4 : 1;
}
