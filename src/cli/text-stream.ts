/** Text that comes in pieces, and when its parts can be printed. Not here: Markdown (markdown.ts). */

export type TextStream = {
  /** What can be printed now. */
  push(delta: string): string;
  /** What came and cannot be printed yet. */
  readonly tail: string;
  /** Nothing more comes: the rest, with its line end. */
  end(): string;
};

/** As it comes: into a pipe. The printer ends its last line. */
export class PlainStream implements TextStream {
  readonly tail = "";
  readonly push = (delta: string): string => delta;
  readonly end = (): string => "";
}

/** Whole lines, each of them changed. */
export class LineStream implements TextStream {
  readonly #change: (line: string) => string;
  #line = "";

  constructor(change: (line: string) => string = (line) => line) {
    this.#change = change;
  }

  push(delta: string): string {
    const lines = (this.#line + delta).split("\n");
    this.#line = lines.pop() ?? "";
    return lines.map((line) => `${this.#change(line)}\n`).join("");
  }

  get tail(): string {
    return this.#line === "" ? "" : this.#change(this.#line);
  }

  end(): string {
    return this.#line === "" ? "" : this.push("\n");
  }
}
