// The bottom of a terminal: the prompt being typed, and above it the last line of output while it still grows. Everything finished scrolls away above.
// It draws on a readline interface and knows nothing of sessions.
import { clearScreenDown, cursorTo, type Interface, moveCursor } from "node:readline";
import { Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { terminalText } from "./output.ts";

const NARROWEST = 20;

export class LiveArea extends Writable {
  readonly isTTY = true;
  readonly #readline: Interface;
  readonly #screen: NodeJS.WritableStream & { columns?: number };
  /** Output without its line end yet. */
  #growing = "";
  #growingShown = false;
  #closed = false;

  constructor(readline: Interface, screen: NodeJS.WritableStream & { columns?: number }) {
    super({ decodeStrings: false });
    this.#readline = readline;
    this.#screen = screen;
  }

  override _write(chunk: unknown, _: BufferEncoding, done: () => void): void {
    const lines = (this.#growing + terminalText(String(chunk))).split("\n");
    this.#growing = lines.pop() ?? "";
    const whole = lines;
    for (let cut = this.#tooLong(); cut > 0; cut = this.#tooLong()) {
      whole.push(this.#growing.slice(0, cut).trimEnd());
      this.#growing = this.#growing.slice(cut);
    }
    this.#draw(whole);
    done();
  }

  /** A line was entered: what grew above it stays where it is, and the prompt comes anew. */
  entered(): void {
    this.#growing = "";
    this.#growingShown = false;
    if (!this.#closed) this.#readline.prompt();
  }

  /** Changes the words before the cursor. */
  setPrompt(prompt: string): void {
    if (this.#closed) return;
    const rows = this.#erase();
    this.#readline.setPrompt(prompt);
    if (this.#growingShown) this.#screen.write(`${this.#growing}\n`);
    this.#screen.write("\n".repeat(rows));
    this.#readline.prompt(true);
  }

  /** Takes the prompt off the screen; what grows is left as it is. */
  leave(): void {
    if (this.#closed) return;
    this.#erase();
    if (this.#growing !== "") this.#screen.write(`${this.#growing}\n`);
    this.#closed = true;
  }

  #draw(lines: string[]): void {
    if (this.#closed) return void (lines.length > 0 && this.#screen.write(`${lines.join("\n")}\n`));
    const promptRow = this.#erase();
    for (const line of lines) this.#screen.write(`${line}\n`);
    if (this.#growing !== "") this.#screen.write(`${this.#growing}\n`);
    this.#growingShown = this.#growing !== "";
    // readline goes up by the rows it drew last before it draws again: give it these rows to go.
    this.#screen.write("\n".repeat(promptRow));
    this.#readline.prompt(true);
  }

  /** Clears from the growing line down and returns the row the cursor had within the prompt. */
  #erase(): number {
    const { rows } = this.#readline.getCursorPos();
    moveCursor(this.#screen, 0, -(rows + (this.#growingShown ? 1 : 0)));
    cursorTo(this.#screen, 0);
    clearScreenDown(this.#screen);
    return rows;
  }

  /** Where to break a growing line that fills the screen's width, 0 when it does not: at a space if there is one. */
  #tooLong(): number {
    const columns = Math.max(this.#screen.columns ?? 80, NARROWEST) - 1;
    let used = 0;
    for (let at = 0; at < this.#growing.length; ) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: colours take no room
      const code = /^\u001b\[[0-9;]*m/.exec(this.#growing.slice(at, at + 12))?.[0];
      if (code) {
        at += code.length;
        continue;
      }
      const point = this.#growing.codePointAt(at) ?? 0;
      used += point >= 0x1100 ? 2 : 1;
      if (used > columns) {
        const space = this.#growing.lastIndexOf(" ", at);
        return space > 0 && stripVTControlCharacters(this.#growing.slice(0, space)).trim() !== "" ? space + 1 : at;
      }
      at += point > 0xffff ? 2 : 1;
    }
    return 0;
  }
}
