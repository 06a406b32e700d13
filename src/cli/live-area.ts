/**
 * The bottom of a terminal, drawn again and again: what is not finished yet, and below it the prompt being typed, where there is one. Everything finished
 * scrolls away above. Knows nothing of sessions.
 */
import type { Interface } from "node:readline";
import { terminalText } from "./output.ts";
import { columnsOf, cut } from "./text-layout.ts";

type Screen = NodeJS.WritableStream & { columns?: number; rows?: number };

const DEFAULT_ROWS = 24;
/** Rows that are left for the prompt. */
const PROMPT_ROWS = 4;

export class LiveArea {
  readonly isTTY = true;
  readonly #screen: Screen;
  readonly #readline: Interface | null;
  #tail: string[] = [];
  #shown = 0;
  #closed = false;

  constructor(screen: Screen, readline: Interface | null = null) {
    this.#screen = screen;
    this.#readline = readline;
  }

  get columns(): number {
    return columnsOf(this.#screen, {}) - 1;
  }

  /** Whole lines, above everything that is drawn again. */
  write(text: string): boolean {
    this.draw(() => this.#screen.write(terminalText(text)));
    return true;
  }

  /** Lets somebody write whole lines, and shows what is not finished: each of `tail` takes one row, of too many the last are shown. */
  draw(write: () => void, tail?: string[]): void {
    if (this.#closed) return write();
    this.#redraw(() => {
      write();
      if (!tail) return;
      const room = Math.max(1, (this.#screen.rows ?? DEFAULT_ROWS) - PROMPT_ROWS);
      this.#tail = tail.slice(-room).map((line) => terminalText(cut(line.replaceAll("\t", " "), this.columns)));
    });
  }

  /** A line was entered: the prompt comes anew below it. */
  entered(): void {
    this.#shown = 0;
    if (!this.#closed) this.#redraw(() => {});
  }

  /** Changes the words before the cursor. */
  setPrompt(prompt: string): void {
    if (this.#closed) return;
    this.#redraw(() => this.#readline?.setPrompt(prompt));
  }

  /** Takes all that is not finished off the screen. */
  leave(): void {
    if (this.#closed) return;
    this.#erase();
    this.#closed = true;
  }

  #redraw(change: () => void): void {
    const promptRow = this.#erase();
    change();
    if (this.#tail.length > 0) this.#screen.write(`${this.#tail.join("\n")}\n`);
    this.#shown = this.#tail.length;
    // readline goes up by the rows it drew last before it draws again: give it these rows to go.
    if (this.#readline) {
      this.#screen.write("\n".repeat(promptRow));
      this.#readline.prompt(true);
    }
  }

  /** Clears from the first row of the tail down and returns the row the cursor had within the prompt. */
  #erase(): number {
    const rows = this.#readline?.getCursorPos().rows ?? 0;
    if (this.#readline || this.#shown > 0) {
      const up = rows + this.#shown;
      this.#screen.write(`${up > 0 ? `\u001b[${up}A` : ""}\u001b[1G\u001b[0J`);
    }
    this.#shown = 0;
    return rows;
  }
}
