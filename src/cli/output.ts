/**
 * Where a command writes. Everything passes here, and nothing that an agent, a file name or an error holds can command the terminal: of control characters
 * only tab, line feed and our own colours go through. Not here: what is said (commands, event-printer.ts), the prompt of `attach` (live-area.ts).
 */
import { StringDecoder } from "node:string_decoder";
import { visibleLine, visibleText, withoutControls, withoutReordering } from "../schema/visible-text.ts";

/**
 * Marks a colour of ours in a text. Nobody outside of this process can know it, so no text that comes from elsewhere can hold one. Made with the first colour.
 */
const marks: { mark?: string } = {};

/** Random bytes in hexadecimal. `node:crypto` is loaded only here: it costs a call of the command line more than most of its work. */
export const randomHex = (bytes: number): string => process.getBuiltinModule("node:crypto").randomBytes(bytes).toString("hex");

export function colourMark(code: number): string {
  marks.mark ??= `\u0001${randomHex(12)}`;
  return `${marks.mark}${code};`;
}

/** The text in parts: what is read, and the marks between. */
export function splitMarks(text: string): { text: string; mark: boolean }[] {
  const { mark } = marks;
  if (mark === undefined || !text.includes(mark)) return text === "" ? [] : [{ text, mark: false }];
  return text
    .split(new RegExp(`(${mark}[0-9]+;)`))
    .filter((part) => part !== "")
    .map((part) => ({ text: part, mark: part.startsWith(mark) }));
}

/** Changes the text between the marks. */
const betweenMarks = (text: string, change: (plain: string) => string, mark: (mark: string) => string): string =>
  splitMarks(text)
    .map((part) => (part.mark ? mark(part.text) : change(part.text)))
    .join("");

const keep = (text: string): string => text;
const asColour = (mark: string): string => `\u001b[${mark.slice(marks.mark?.length, -1)}m`;

/** Bytes for a terminal: our marks become colours, everything else is text. */
export const terminalText = (text: string): string =>
  betweenMarks(text, (plain) => withoutReordering(withoutControls(plain)), asColour);

/** Bytes for a pipe or file: unusual characters stay, control characters do not. */
const pipeText = (text: string): string => betweenMarks(text, withoutControls, asColour);

/** Text of which a person must see every character; marks stay. */
export const exact = (text: string): string => betweenMarks(text, visibleText, keep);

/** The same on one line. */
export const exactLine = (text: string): string => betweenMarks(text, visibleLine, keep);

/** The text without colours. */
export const plainText = (text: string): string => betweenMarks(text, keep, () => "");

type Device = NodeJS.WritableStream & { isTTY?: boolean; columns?: number; writableNeedDrain?: boolean; destroyed?: boolean };

export class Output {
  /** The stream itself: for readline, which moves the cursor, and for bytes that are not text. */
  readonly device: Device;
  readonly #decoder = new StringDecoder("utf8");

  constructor(device: Device) {
    this.device = device;
  }

  get isTTY(): boolean {
    return Boolean(this.device.isTTY);
  }

  get columns(): number | undefined {
    return this.device.columns;
  }

  write(text: string): boolean {
    return this.device.write(this.isTTY ? terminalText(text) : pipeText(text));
  }

  /** Bytes as they are into a pipe or file; as text to a terminal, which must not obey them. */
  writeBytes(bytes: Buffer, done: () => void): void {
    if (!this.isTTY) return void this.device.write(bytes, () => done());
    this.write(this.#decoder.write(bytes));
    done();
  }

  /** Resolves when a slow reader has caught up. */
  drained(): Promise<void> {
    const { device } = this;
    if (!device.writableNeedDrain || device.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        device.off("drain", done).off("close", done);
        resolve();
      };
      device.once("drain", done).once("close", done);
    });
  }

  /** Resolves when everything written has left the process, or nobody reads any more. */
  flushed(): Promise<void> {
    if (this.device.destroyed) return Promise.resolve();
    return new Promise((resolve) => this.device.write("", () => resolve()));
  }

  /** Takes back the line that is being written, on a terminal. */
  clearLine(): void {
    if (this.isTTY) this.device.write("\r\u001b[K");
  }
}
