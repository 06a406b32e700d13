/**
 * Native messages of one stream on their way to the ledger, and back. The body is their bytes, each followed by a line end; the head says of each where it
 * came from, and how many line ends are in what was stored of it. Both are short for thousands of lines of one kind.
 *
 * In the body, a line that begins with TEMPLATE holds what the lines after it have in common, as JSON; one that begins with MIDDLE is a message without that;
 * LITERAL stands before a message that begins with one of the three itself. All others are messages as they came.
 *
 * A head is JSON: `runs` of [direction, type, disposition, how many], `at` as runs of [milliseconds, how many], `inner` as [index, line ends]. The first
 * version wrote a list of [direction, milliseconds, type, disposition, length] and nothing between messages.
 */
import type { Disposition, LedgerDirection, NativeEntry, NativeRow } from "../contract.ts";
import { type LineTemplate, middleOf, templateOf } from "./line-template.ts";
import { TextBuffer } from "./text-buffer.ts";

const CHUNK_MESSAGES = 1000;
const CHUNK_BYTES = 512 * 1024;
const LF = 10;
const [LITERAL, TEMPLATE, MIDDLE] = ["\x1d", "\x1e", "\x1f"];
const LINE_END = Buffer.from([LF]);
const marks = new Set([LITERAL, TEMPLATE, MIDDLE].map((mark) => mark.charCodeAt(0)));
/** Texts from this length on are encoded on their own: gathering pays for small ones. */
const LARGE = 64 * 1024;

type MessageRun = [dir: LedgerDirection, type: string, disposition: Disposition, count: number];
type TimeRun = [t_ms: number, count: number];
type Head = { runs: MessageRun[]; at: TimeRun[]; inner: [index: number, lineEnds: number][] };
type OldHead = [dir: LedgerDirection, t_ms: number, type: string, disposition: Disposition, length: number][];

/** A template that leaves no more than this of a line is good enough. */
const LONG_MIDDLE = 32;
/** What another template must cover more, about what it costs itself. */
const WORTH_ANOTHER = 24;

export class NativeChunk {
  /** Number of the first message. */
  readonly first: number;
  readonly #runs: MessageRun[] = [];
  readonly #at: TimeRun[] = [];
  readonly #inner: Head["inner"] = [];
  /** What was written before the open text. */
  readonly #parts: Buffer[] = [];
  #text = new TextBuffer("utf8");
  /** The message before, which may begin a template, and the template in use. */
  #line = "";
  #template: LineTemplate | null = null;
  /** What the template leaves of a line, at most, before a better one is looked for. */
  #enough = LONG_MIDDLE;
  #count = 0;
  #size = 0;

  constructor(first: number) {
    this.first = first;
  }

  /** Number of the last message. */
  get last(): number {
    return this.first + this.#count - 1;
  }

  get full(): boolean {
    return this.#count >= CHUNK_MESSAGES || this.#size >= CHUNK_BYTES;
  }

  add({ dir, t_ms, type, disposition, raw }: NativeEntry): void {
    const run = this.#runs[this.#runs.length - 1];
    if (run !== undefined && run[1] === type && run[0] === dir && run[2] === disposition) run[3]++;
    else this.#runs.push([dir, type, disposition, 1]);
    const time = this.#at[this.#at.length - 1];
    if (time?.[0] === t_ms) time[1]++;
    else this.#at.push([t_ms, 1]);
    const short = typeof raw === "string" && raw.length < LARGE;
    const inner = short ? this.#addText(raw) : this.#addBytes(typeof raw === "string" ? Buffer.from(raw, "utf8") : raw);
    if (inner > 0) this.#inner.push([this.#count, inner]);
    this.#count++;
    this.#size += raw.length;
  }

  /** This and what follows: how many line ends there are in what was stored of the message. */
  #addBytes(raw: Buffer): number {
    this.#closeText();
    if (marks.has(raw[0] ?? 0)) this.#parts.push(Buffer.from(LITERAL));
    this.#parts.push(raw, LINE_END);
    return raw.reduce((sum, byte) => sum + (byte === LF ? 1 : 0), 0);
  }

  #put(mark: string, text: string): number {
    this.#text.add(`${mark}${text}\n`);
    let lineEnds = 0;
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lineEnds++;
    return lineEnds;
  }

  /** Blocks of an event stream have line ends, most of them in what they have in common. */
  #addText(raw: string): number {
    const previous = this.#line;
    this.#line = raw;
    const middle = this.#template === null ? null : middleOf(this.#template, raw);
    if (middle !== null && middle.length <= this.#enough) return this.#put(MIDDLE, middle);
    const template = previous === "" ? null : templateOf(previous, raw);
    // One that was made where an id changed fits what follows, too, and leaves most of it out: a better one takes its place.
    if (middle !== null && (template === null || raw.length - covered(template) > middle.length - WORTH_ANOTHER)) {
      // Lines with two places that differ, as a text and an id, have no better one: it is not looked for again with each of them.
      this.#enough = middle.length + WORTH_ANOTHER;
      return this.#put(MIDDLE, middle);
    }
    if (template === null) return this.#put(marks.has(raw.charCodeAt(0)) ? LITERAL : "", raw);
    this.#template = template;
    this.#enough = LONG_MIDDLE;
    this.#text.add(`${TEMPLATE}${template.json}\n`);
    return this.#put(MIDDLE, middleOf(template, raw) ?? "");
  }

  /** How many there are of each type and disposition. */
  counts(): Map<string, Map<Disposition, number>> {
    return countsOf(this.#runs);
  }

  head(): string {
    const head: Head = { runs: this.#runs, at: this.#at, inner: this.#inner };
    return JSON.stringify(head);
  }

  body(): Buffer {
    this.#closeText();
    const [only] = this.#parts;
    return this.#parts.length === 1 && only !== undefined ? only : Buffer.concat(this.#parts);
  }

  #closeText(): void {
    if (this.#text.empty) return;
    this.#parts.push(this.#text.bytes());
    this.#text = new TextBuffer("utf8");
  }
}

/** The same, of a chunk that was stored. */
export function countsOfHead(headJson: string): Map<string, Map<Disposition, number>> {
  const head: Head | OldHead = JSON.parse(headJson);
  return countsOf(Array.isArray(head) ? head.map(([dir, , type, disposition]) => [dir, type, disposition, 1]) : head.runs);
}

function countsOf(runs: readonly MessageRun[]): Map<string, Map<Disposition, number>> {
  const counts = new Map<string, Map<Disposition, number>>();
  for (const [, type, disposition, count] of runs) {
    const ofType = counts.get(type) ?? new Map<Disposition, number>();
    counts.set(type, ofType.set(disposition, (ofType.get(disposition) ?? 0) + count));
  }
  return counts;
}

const covered = ({ before, after }: LineTemplate): number => before.length + after.length;

export function readNativeChunk(first: number, headJson: string, body: Buffer): NativeRow[] {
  const head: Head | OldHead = JSON.parse(headJson);
  return Array.isArray(head) ? readOld(first, head, body) : read(first, head, body);
}

function read(first: number, head: Head, body: Buffer): NativeRow[] {
  const inner = new Map(head.inner);
  const times = head.at.flatMap(([t_ms, count]) => new Array<number>(count).fill(t_ms));
  const lines = new BodyReader(body);
  const rows: NativeRow[] = [];
  for (const [dir, type, disposition, count] of head.runs) {
    for (let left = count; left > 0; left--) {
      const index = rows.length;
      const message = lines.next(inner.get(index) ?? 0);
      rows.push({ native_seq: first + index, dir, t_ms: times[index] ?? 0, type, disposition, body: message });
    }
  }
  return rows;
}

class BodyReader {
  readonly #body: Buffer;
  #at = 0;
  #before: Buffer = Buffer.alloc(0);
  #after: Buffer = Buffer.alloc(0);

  constructor(body: Buffer) {
    this.#body = body;
  }

  /** The next message, which has so many line ends inside. */
  next(lineEnds: number): Buffer {
    const mark = String.fromCharCode(this.#body[this.#at] ?? 0);
    if (mark === TEMPLATE) {
      const [before = "", after = ""]: string[] = JSON.parse(this.#take(0).toString("utf8", 1));
      this.#before = Buffer.from(before);
      this.#after = Buffer.from(after);
      return this.next(lineEnds);
    }
    const message = this.#take(lineEnds);
    if (mark === MIDDLE) return Buffer.concat([this.#before, message.subarray(1), this.#after]);
    return mark === LITERAL ? message.subarray(1) : message;
  }

  #take(lineEnds: number): Buffer {
    const from = this.#at;
    let end = this.#body.indexOf(LF, from);
    for (let more = lineEnds; more > 0; more--) end = this.#body.indexOf(LF, end + 1);
    this.#at = end + 1;
    return this.#body.subarray(from, end);
  }
}

function readOld(first: number, head: OldHead, body: Buffer): NativeRow[] {
  let offset = 0;
  return head.map(([dir, t_ms, type, disposition, length], index) => {
    const part = body.subarray(offset, offset + length);
    offset += length;
    return { native_seq: first + index, dir, t_ms, type, disposition, body: part };
  });
}
