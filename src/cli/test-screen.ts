// A terminal just good enough for readline: what would stand on the glass after all that was written.
import { Writable } from "node:stream";

export class TestScreen extends Writable {
  readonly isTTY = true;
  readonly columns: number;
  readonly #rows: string[][] = [[]];
  #row = 0;
  #column = 0;

  constructor(columns: number) {
    super({ decodeStrings: false });
    this.columns = columns;
  }

  get lines(): string[] {
    return this.#rows.map((row) =>
      Array.from(row, (cell) => cell ?? " ")
        .join("")
        .trimEnd(),
    );
  }

  override _write(chunk: unknown, _: BufferEncoding, done: () => void): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's language is made of them
    for (const [token] of String(chunk).matchAll(/\u001b\[[0-9;]*[A-Za-z]|[\s\S]/gu)) this.#take(token);
    done();
  }

  #take(token: string): void {
    if (token === "\n") this.#to(this.#row + 1, 0);
    else if (token === "\r") this.#column = 0;
    else if (token.length === 1 || !token.startsWith("\u001b")) this.#put(token);
    else this.#control(token.at(-1) ?? "", Number(token.slice(2, -1) || "1"));
  }

  #put(character: string): void {
    if (this.#column >= this.columns) this.#to(this.#row + 1, 0);
    const row = this.#rows[this.#row] ?? [];
    row[this.#column] = character;
    this.#column += 1;
  }

  #control(name: string, count: number): void {
    if (name === "A") this.#to(Math.max(0, this.#row - count), this.#column);
    if (name === "B") this.#to(this.#row + count, this.#column);
    if (name === "C") this.#column = Math.min(this.columns - 1, this.#column + count);
    if (name === "D") this.#column = Math.max(0, this.#column - count);
    if (name === "G") this.#column = count - 1;
    if (name === "K") this.#rows[this.#row]?.splice(this.#column);
    if (name === "J") {
      this.#rows[this.#row]?.splice(this.#column);
      this.#rows.splice(this.#row + 1);
    }
  }

  #to(row: number, column: number): void {
    while (this.#rows.length <= row) this.#rows.push([]);
    this.#row = row;
    this.#column = column;
  }
}
