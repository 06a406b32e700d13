/**
 * Bytes in any chunks to whole lines. Knows nothing of JSON. A chunk may end inside a UTF-8 character, so text exists
 * only after a line is complete.
 */
import { isAscii, isUtf8 } from "node:buffer";
import { createHash, type Hash } from "node:crypto";

export const DEFAULT_MAX_LINE_BYTES = 64 * 1024 * 1024;
export const OVERSIZE_HEAD_BYTES = 64 * 1024;

/** Lines from this length on are delivered as bytes, also where text was asked for: who keeps them would have to encode them again. */
export const LONG_LINE_BYTES = 64 * 1024;

const LF = 10;
const CR = 13;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const FIRST_ALLOCATION = 4096;

/** A line over the cap: what is left of it. `bytes` and `sha256` cover the whole line without its line end. */
export interface OversizeLine {
  head: Buffer;
  bytes: number;
  sha256: string;
}

export interface LineFramerOptions {
  maxLineBytes?: number;
  /** A line without its line end is empty: dropped unless asked for (SSE needs them, NDJSON does not). */
  keepBlankLines?: boolean;
  /** The line may share memory with the pushed chunk: copy it to keep it for long. Must not throw. */
  onLine(line: Buffer): void;
  /**
   * For readers that want text: gets each line that is valid UTF-8 and shorter than `LONG_LINE_BYTES`, in place of `onLine`. Encoded as UTF-8, the text
   * is the line's bytes again. Pieces of an ASCII chunk share memory with each other. Must not throw.
   */
  onTextLine?(line: string): void;
  /** Called once, when the long line ends. Must not throw. */
  onOversize(oversize: OversizeLine): void;
}

/**
 * Lines end at `\n` only (U+2028 and a lone `\r` are content), one `\r` before it is dropped, and so is a BOM at the start
 * of the stream. The result does not depend on where the chunks were split. Memory: at most the cap, whatever the line's length.
 */
export class LineFramer {
  readonly #options: LineFramerOptions;
  readonly #max: number;
  /** Bytes of the stream's start that may still become a BOM; null once that is decided. */
  #start: Buffer | null = Buffer.alloc(0);
  /** The open line so far. It grows by doubling: a list of chunks would need gigabytes for one-byte chunks. */
  #pending: Buffer | null = null;
  #pendingBytes = 0;
  #oversize: OversizeHash | null = null;
  #ended = false;

  constructor(options: LineFramerOptions) {
    this.#options = options;
    this.#max = options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES;
  }

  push(chunk: Buffer): void {
    if (this.#ended) return;
    const bytes = this.#start === null ? chunk : this.#withoutBom(this.#start, chunk);
    let from = this.#pushText(bytes);
    for (let lf = bytes.indexOf(LF, from); lf !== -1; lf = bytes.indexOf(LF, from)) {
      if (this.#pending === null && this.#oversize === null && lf - from <= this.#max) {
        this.#deliver(bytes.subarray(from, lf));
      } else {
        this.#append(bytes.subarray(from, lf));
        this.#finish();
      }
      from = lf + 1;
    }
    if (from < bytes.length) this.#append(bytes.subarray(from));
  }

  /** Delivers the whole lines of a chunk as text, as far as that can be done for all at once; returns where the rest begins. */
  #pushText(bytes: Buffer): number {
    const { onTextLine } = this.#options;
    if (onTextLine === undefined || this.#oversize !== null) return 0;
    const end = bytes.lastIndexOf(LF) + 1;
    if (end === 0) return 0;
    let from = 0;
    if (this.#pending !== null) {
      from = bytes.indexOf(LF) + 1;
      this.#append(bytes.subarray(0, from - 1));
      this.#finish();
    }
    const whole = bytes.subarray(from, end);
    if (isAscii(whole)) return from + this.#asciiLines(whole, onTextLine);
    return isUtf8(whole) ? from + this.#utf8Lines(whole, onTextLine) : from;
  }

  /** One text for all, and each line a piece of it. */
  #asciiLines(whole: Buffer, onTextLine: (line: string) => void): number {
    const text = whole.toString("latin1");
    const longest = Math.min(this.#max, LONG_LINE_BYTES - 1);
    let at = 0;
    for (let lf = text.indexOf("\n"); lf !== -1; lf = text.indexOf("\n", at)) {
      if (lf - at > longest) break;
      const end = lf > at && text.charCodeAt(lf - 1) === CR ? lf - 1 : lf;
      if (end > at || this.#options.keepBlankLines === true) onTextLine(text.slice(at, end));
      at = lf + 1;
    }
    return at;
  }

  /** A text a line: in one text for all, a single character outside Latin-1 would double the size of every line and slow down all that reads them. */
  #utf8Lines(whole: Buffer, onTextLine: (line: string) => void): number {
    const longest = Math.min(this.#max, LONG_LINE_BYTES - 1);
    let at = 0;
    for (let lf = whole.indexOf(LF); lf !== -1; lf = whole.indexOf(LF, at)) {
      if (lf - at > longest) break;
      const end = lf > at && whole[lf - 1] === CR ? lf - 1 : lf;
      if (end > at || this.#options.keepBlankLines === true) onTextLine(whole.toString("utf8", at, end));
      at = lf + 1;
    }
    return at;
  }

  /** Delivers the last line when the stream stopped without a line end. Later pushes are ignored. */
  end(): void {
    if (this.#ended) return;
    if (this.#start !== null && this.#start.length > 0) this.#append(this.#start);
    this.#ended = true;
    if (this.#pending !== null || this.#oversize !== null) this.#finish();
  }

  #withoutBom(start: Buffer, chunk: Buffer): Buffer {
    const bytes = start.length === 0 ? chunk : Buffer.concat([start, chunk]);
    const seen = Math.min(bytes.length, BOM.length);
    const isPrefix = bytes.compare(BOM, 0, seen, 0, seen) === 0;
    if (isPrefix && seen < BOM.length) {
      this.#start = Buffer.from(bytes);
      return Buffer.alloc(0);
    }
    this.#start = null;
    return isPrefix ? bytes.subarray(BOM.length) : bytes;
  }

  #deliver(line: Buffer): void {
    const content = line.length > 0 && line[line.length - 1] === CR ? line.subarray(0, -1) : line;
    const { keepBlankLines, onTextLine, onLine } = this.#options;
    if (content.length === 0 && keepBlankLines !== true) return;
    if (onTextLine !== undefined && content.length < LONG_LINE_BYTES && isUtf8(content)) onTextLine(content.toString("utf8"));
    else onLine(content);
  }

  #append(part: Buffer): void {
    if (this.#oversize !== null) {
      this.#oversize.update(part);
      return;
    }
    const total = this.#pendingBytes + part.length;
    const last = part.length > 0 ? part[part.length - 1] : CR;
    // One byte over the cap is allowed to wait when it is a `\r`: it may belong to the line end.
    if (total > this.#max + 1 || (total === this.#max + 1 && last !== CR)) {
      this.#oversize = new OversizeHash();
      if (this.#pending !== null) this.#oversize.update(this.#pending.subarray(0, this.#pendingBytes));
      this.#oversize.update(part);
      this.#pending = null;
      this.#pendingBytes = 0;
      return;
    }
    const pending = this.#room(total);
    part.copy(pending, this.#pendingBytes);
    this.#pendingBytes = total;
  }

  #room(total: number): Buffer {
    if (this.#pending !== null && this.#pending.length >= total) return this.#pending;
    const wanted = Math.max(total, (this.#pending?.length ?? 0) * 2, FIRST_ALLOCATION);
    const grown = Buffer.allocUnsafe(Math.max(total, Math.min(wanted, this.#max + 1)));
    this.#pending?.copy(grown, 0, 0, this.#pendingBytes);
    this.#pending = grown;
    return grown;
  }

  #finish(): void {
    const { onOversize } = this.#options;
    if (this.#oversize !== null) {
      const oversize = this.#oversize.finish();
      this.#oversize = null;
      onOversize(oversize);
      return;
    }
    const line = (this.#pending ?? Buffer.alloc(0)).subarray(0, this.#pendingBytes);
    this.#pending = null;
    this.#pendingBytes = 0;
    this.#deliver(line);
  }
}

/** Hashes a line that is too long to keep. Holds back one trailing `\r`, which may turn out to be the line end. */
class OversizeHash {
  readonly #hash: Hash = createHash("sha256");
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  #bytes = 0;
  #heldCr = false;

  update(part: Buffer): void {
    if (part.length === 0) return;
    if (this.#heldCr) this.#take(Buffer.from([CR]));
    this.#heldCr = part[part.length - 1] === CR;
    this.#take(this.#heldCr ? part.subarray(0, -1) : part);
  }

  finish(): OversizeLine {
    return { head: Buffer.concat(this.#head), bytes: this.#bytes, sha256: this.#hash.digest("hex") };
  }

  #take(part: Buffer): void {
    this.#hash.update(part);
    this.#bytes += part.length;
    if (this.#headBytes >= OVERSIZE_HEAD_BYTES) return;
    const piece = Buffer.from(part.subarray(0, OVERSIZE_HEAD_BYTES - this.#headBytes));
    this.#head.push(piece);
    this.#headBytes += piece.length;
  }
}
