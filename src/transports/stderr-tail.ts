/**
 * What a child process said on stderr, in bounded memory: its first 20 and last 50 lines. Takes every byte, always,
 * because a full stderr pipe stops the child. It does not look for meaning in the text.
 */

export const STDERR_HEAD_LINES = 20;
export const STDERR_TAIL_LINES = 50;
export const STDERR_LINE_BYTES = 4096;

const LF = 10;
const CR = 13;

/**
 * `head` is everything when nothing was left out, else the first 20 lines; `tail` is there only when lines were left out.
 * A line over 4 KiB is cut and says so itself; that alone does not set `truncated`, which speaks of whole lines.
 */
export interface StderrOutput {
  head: string | null;
  tail: string | null;
  truncated: boolean;
  total_lines: number;
}

export class StderrTail {
  readonly #onLine: ((line: string) => void) | undefined;
  readonly #head: string[] = [];
  /** A ring of the last lines that did not fit the head. */
  readonly #tail: string[] = [];
  #total = 0;
  readonly #line = Buffer.allocUnsafe(STDERR_LINE_BYTES);
  #kept = 0;
  #dropped = 0;

  constructor(onLine?: (line: string) => void) {
    this.#onLine = onLine;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let lf = chunk.indexOf(LF); lf !== -1; lf = chunk.indexOf(LF, from)) {
      this.#append(chunk, from, lf);
      this.#finishLine();
      from = lf + 1;
    }
    this.#append(chunk, from, chunk.length);
  }

  end(): void {
    if (this.#kept > 0) this.#finishLine();
  }

  /** May be asked at any time; an unfinished last line counts as a line. */
  output(): StderrOutput {
    const open = this.#kept > 0 ? [this.#openLine()] : [];
    const total = this.#total + open.length;
    const rest = [...this.#tailInOrder(), ...open];
    if (total === 0) return { head: null, tail: null, truncated: false, total_lines: 0 };
    if (total <= STDERR_HEAD_LINES + STDERR_TAIL_LINES) {
      return { head: [...this.#head, ...rest].join("\n"), tail: null, truncated: false, total_lines: total };
    }
    return {
      head: this.#head.join("\n"),
      tail: rest.slice(-STDERR_TAIL_LINES).join("\n"),
      truncated: true,
      total_lines: total,
    };
  }

  #append(chunk: Buffer, from: number, to: number): void {
    const copied = chunk.copy(this.#line, this.#kept, from, to);
    this.#kept += copied;
    this.#dropped += to - from - copied;
  }

  #openLine(): string {
    const end = this.#dropped === 0 && this.#line[this.#kept - 1] === CR ? this.#kept - 1 : this.#kept;
    const text = this.#line.toString("utf8", 0, end);
    return this.#dropped === 0 ? text : `${text}… [${this.#dropped} more bytes]`;
  }

  #finishLine(): void {
    const line = this.#kept === 0 ? "" : this.#openLine();
    this.#kept = 0;
    this.#dropped = 0;
    if (this.#total < STDERR_HEAD_LINES) this.#head.push(line);
    else this.#tail[(this.#total - STDERR_HEAD_LINES) % STDERR_TAIL_LINES] = line;
    this.#total += 1;
    this.#onLine?.(line);
  }

  #tailInOrder(): string[] {
    const beyond = this.#total - STDERR_HEAD_LINES;
    if (beyond <= STDERR_TAIL_LINES) return this.#tail;
    const oldest = beyond % STDERR_TAIL_LINES;
    return [...this.#tail.slice(oldest), ...this.#tail.slice(0, oldest)];
  }
}
