/**
 * Bytes of an event stream to blocks, with every byte kept: the blocks' bytes, one after the other, and the rest at the end are what came in. Lines may end in
 * LF, CRLF or CR, also where a chunk ends between them. It reads fields; it does not look into `data`.
 */

const LF = 0x0a;
const CR = 0x0d;
/** What is kept of a block over the limit. */
const HEAD_BYTES = 64 * 1024;

/** One block of the stream: an event, or only comments. */
export interface SseBlock {
  /** Verbatim, with its line ends and the blank line. Of a block over the limit, its beginning. */
  readonly bytes: Buffer;
  /** Null when the block had no `event:` line. */
  readonly event: string | null;
  /** Null when it had no `data:` line: a comment or a field alone. */
  readonly data: string | null;
  /** Null when it had no `id:` line. */
  readonly id: string | null;
  /** Lines that begin with a colon: heartbeats. */
  readonly comments: readonly string[];
  /** How many bytes the block had, when that was over the limit. */
  readonly oversize: number | null;
}

export interface SseReaderOptions {
  /** A block over this is cut. */
  readonly maxBlockBytes: number;
  onBlock(block: ReadBlock): void;
}

/** A block as it was read. Its fields are read when they are asked for: most blocks are known by their text. */
export class ReadBlock implements SseBlock {
  readonly bytes: Buffer;
  readonly text: string;
  readonly oversize: number | null;
  #fields: SseFields | null = null;

  constructor(bytes: Buffer, oversize: number | null) {
    this.bytes = bytes;
    this.text = bytes.toString("utf8");
    this.oversize = oversize;
  }

  get event(): string | null {
    return this.#read().event;
  }

  get data(): string | null {
    return this.#read().data;
  }

  get id(): string | null {
    return this.#read().id;
  }

  get comments(): readonly string[] {
    return this.#read().comments;
  }

  #read(): SseFields {
    this.#fields ??= readFields(this.text);
    return this.#fields;
  }
}

export class SseReader {
  readonly #options: SseReaderOptions;
  #parts: Buffer[] = [];
  #keptBytes = 0;
  #blockBytes = 0;
  #lineBytes = 0;
  /** A blank line ends a block only after a line that was not blank: extra blank lines belong to the block that follows. */
  #hasLine = false;
  /** The last chunk ended in CR: an LF at the start of the next one belongs to it. */
  #afterCr = false;

  constructor(options: SseReaderOptions) {
    this.#options = options;
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    let start = 0;
    let at = 0;
    if (this.#afterCr && chunk[0] === LF) at = 1;
    this.#afterCr = false;
    let nextLf = chunk.indexOf(LF, at);
    let nextCr = chunk.indexOf(CR, at);
    while (nextLf !== -1 || nextCr !== -1) {
      const isCr = nextCr !== -1 && (nextLf === -1 || nextCr < nextLf);
      const end = isCr ? nextCr : nextLf;
      const isBlank = this.#lineBytes + (end - at) === 0;
      at = end + 1;
      if (isCr && at === chunk.length) this.#afterCr = true;
      if (isCr && chunk[at] === LF) at += 1;
      this.#lineBytes = 0;
      if (!isBlank) this.#hasLine = true;
      else if (this.#hasLine) {
        this.#keep(chunk.subarray(start, at));
        start = at;
        this.#emit();
      }
      if (nextLf !== -1 && nextLf < at) nextLf = chunk.indexOf(LF, at);
      if (nextCr !== -1 && nextCr < at) nextCr = chunk.indexOf(CR, at);
    }
    this.#lineBytes += chunk.length - at;
    this.#keep(chunk.subarray(start));
  }

  /** The stream is over. What it cut off is no event, but it is kept: returned verbatim. */
  end(): Buffer {
    const rest = Buffer.concat(this.#parts);
    this.#reset();
    return rest;
  }

  #keep(bytes: Buffer): void {
    this.#blockBytes += bytes.length;
    const room = this.#blockBytes <= this.#options.maxBlockBytes ? bytes.length : HEAD_BYTES - this.#keptBytes;
    if (this.#blockBytes > this.#options.maxBlockBytes && this.#keptBytes > HEAD_BYTES) {
      this.#parts = [Buffer.from(Buffer.concat(this.#parts).subarray(0, HEAD_BYTES))];
      this.#keptBytes = HEAD_BYTES;
      return;
    }
    if (room <= 0 || bytes.length === 0) return;
    const kept = bytes.subarray(0, room);
    this.#parts.push(kept);
    this.#keptBytes += kept.length;
  }

  #emit(): void {
    const bytes = this.#parts.length === 1 ? (this.#parts[0] ?? Buffer.alloc(0)) : Buffer.concat(this.#parts);
    const oversize = this.#blockBytes > this.#options.maxBlockBytes ? this.#blockBytes : null;
    this.#reset();
    this.#options.onBlock(new ReadBlock(bytes, oversize));
  }

  #reset(): void {
    this.#parts = [];
    this.#keptBytes = 0;
    this.#blockBytes = 0;
    this.#lineBytes = 0;
    this.#hasLine = false;
  }
}

const NO_COMMENTS: readonly string[] = [];

export type SseFields = Pick<SseBlock, "event" | "data" | "id" | "comments">;

/** The fields of one block of text. */
export function readFields(text: string): SseFields {
  return twoLines(text) ?? allLines(text);
}

/** What nearly every block is: one `event:` and one `data:` line, with LF. Null for any other. */
function twoLines(text: string): SseFields | null {
  if (!text.startsWith("event: ")) return null;
  const end = text.indexOf("\n");
  if (!text.startsWith("data: ", end + 1) || text.indexOf("\n", end + 1) !== text.length - 2 || text.includes("\r")) return null;
  return { event: text.slice(7, end), data: text.slice(end + 7, -2), id: null, comments: NO_COMMENTS };
}

function allLines(text: string): SseFields {
  let event: string | null = null;
  let id: string | null = null;
  const data: string[] = [];
  const comments: string[] = [];
  // A stream may begin with a byte order mark.
  const plain = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  for (const line of plain.split(/\r\n|\n|\r/)) {
    if (line === "") continue;
    const colon = line.indexOf(":");
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "") comments.push(value);
    else if (name === "data") data.push(value);
    else if (name === "event") event = value;
    else if (name === "id") id = value;
  }
  return { event, id, data: data.length === 0 ? null : data.join("\n"), comments };
}
