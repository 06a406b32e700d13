/**
 * The keyboard of a terminal, with messages of several lines: the terminal marks pastes (bracketed paste), and their line ends, like those that a person
 * types, become `⏎`, so that a line editor takes them for one line. Not here: editing the line (readline).
 */
import { Transform, type TransformCallback } from "node:stream";

type Keyboard = NodeJS.ReadableStream & { setRawMode?: (on: boolean) => unknown };

const BEGIN = "\u001b[200~";
const END = "\u001b[201~";
const LINE_END = "⏎";
// biome-ignore lint/suspicious/noControlCharactersInRegex: keys are made of them
const NEW_LINE_KEYS = /\u001b\r|\u001b\[13;[23]u|\u001b\[27;[23];13~|\n/g;

export const PASTE_MARKS_ON = "\u001b[?2004h";
export const PASTE_MARKS_OFF = "\u001b[?2004l";

export class PastedLines extends Transform {
  readonly isTTY = true;
  readonly #keyboard: Keyboard;
  #pasting = false;
  /** The beginning of a mark whose rest is still to come. */
  #held = "";
  #pasted = false;

  constructor(keyboard: Keyboard) {
    super({ decodeStrings: false, encoding: "utf8" });
    this.#keyboard = keyboard;
    keyboard.setEncoding("utf8");
    keyboard.pipe(this);
  }

  /** Readline asks its input for it. */
  setRawMode(on: boolean): this {
    this.#keyboard.setRawMode?.(on);
    return this;
  }

  release(): void {
    this.#keyboard.unpipe(this);
    this.#keyboard.pause();
  }

  /** The line that was entered, with the line ends of what was pasted into it. */
  restored(line: string): string {
    const text = this.#pasted ? line.replaceAll(LINE_END, "\n").trimEnd() : line;
    this.#pasted = false;
    return text;
  }

  /** Alt-Enter, Shift-Enter where the terminal distinguishes it, and Ctrl-J add a line to the message. */
  #newLines(keys: string): string {
    const changed = keys.replace(NEW_LINE_KEYS, LINE_END);
    if (changed !== keys) this.#pasted = true;
    return changed;
  }

  override _transform(chunk: unknown, _: BufferEncoding, done: TransformCallback): void {
    let text = this.#held + String(chunk);
    this.#held = "";
    let keys = "";
    for (;;) {
      const mark = this.#pasting ? END : BEGIN;
      const at = text.indexOf(mark);
      const part = at < 0 ? text.slice(0, text.length - unfinished(text, mark)) : text.slice(0, at);
      keys += this.#pasting ? flat(part) : this.#newLines(part);
      if (at < 0) {
        this.#held = text.slice(part.length);
        break;
      }
      this.#pasting = !this.#pasting;
      this.#pasted = true;
      text = text.slice(at + mark.length);
    }
    done(null, keys);
  }
}

/** Length of the beginning of the mark at the end of the text. Escape alone, or with a bracket, is a key. */
function unfinished(text: string, mark: string): number {
  for (let length = mark.length - 1; length > 2; length--) if (text.endsWith(mark.slice(0, length))) return length;
  return 0;
}

const flat = (text: string): string =>
  text
    .replace(/\r\n?|\n/g, LINE_END)
    .replace(/\t/g, "  ")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: keys that would edit the line
    .replace(/[\u0000-\u001f\u007f]/g, "");
