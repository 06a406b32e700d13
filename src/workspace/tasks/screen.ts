/**
 * The screen of a terminal for somebody who joins late. Computed only when asked for: an emulator is fed with the output that was kept, up to now, and stays for
 * a while so that the next question costs only what came since. It never answers the program: a terminal's replies come from those who watch it.
 */

import type { TerminalSize } from "../../schema/task.ts";
import type { OutputRange } from "./output-store.ts";
import { type HeadlessTerminal, type ScreenModule, screenModule } from "./screen-module.ts";
import { syncPoint } from "./sync-point.ts";
import { unfinishedSequence } from "./unfinished-sequence.ts";

export const SCROLLBACK_LINES = 1_000;
/** More output than this is not replayed: parsing runs at a few megabytes a second. */
const REPLAY_BYTES = 4 * 1024 * 1024;
/** When there is more, this much of its end is looked at for a place to begin. */
const TAIL_BYTES = 256 * 1024;
const PIECE_BYTES = 64 * 1024;
/** Longest sequence that a screen may be asked for in the middle of. */
const SEQUENCE_BYTES = 8 * 1024;
const KEEP_MS = 60_000;
/**
 * How the addon begins the alternate screen. addon-serialize 0.14 leaves the colours of the alternate screen on before it, so that they were saved with the
 * normal one: after vim the shell would be bold.
 */
const ALTERNATE = "\u001b[?1049h\u001b[H";
const PLAIN = "\u001b[m";

export type Screen = TerminalSize & {
  /** Escape sequences that draw the screen, with its scrollback, on an empty terminal of this size. */
  serialized: string;
  /** Place in the output up to which the screen is drawn: what comes from there on continues it. */
  offset: number;
  /** False when the output was too long to replay all of it: then it was begun at a cleared screen or, failing that, at some line. */
  exact: boolean;
};

export type ScreenSource = {
  /** The size at the start, and each later one with the place in the output at which it came. */
  sizes: readonly (TerminalSize & { offset: number })[];
  /** Bytes that were reported, always whole characters. */
  total(): number;
  read(offset: number, limit: number): Promise<OutputRange>;
};

export class TaskScreen {
  readonly #source: ScreenSource;
  #emulator: Emulator | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #idle: NodeJS.Timeout | null = null;

  constructor(source: ScreenSource) {
    this.#source = source;
  }

  /** Throws `screen_unavailable`. Questions are answered one after the other. */
  now(scrollback = SCROLLBACK_LINES): Promise<Screen> {
    const module = screenModule();
    const screen = this.#last.then(() => this.#draw(module, scrollback));
    this.#last = screen.catch(() => {});
    return screen;
  }

  dispose(): void {
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#emulator?.dispose();
    this.#emulator = null;
  }

  async #draw(module: ScreenModule, scrollback: number): Promise<Screen> {
    const total = this.#source.total();
    if (this.#emulator === null || total - this.#emulator.offset > REPLAY_BYTES) {
      this.dispose();
      this.#emulator = await this.#begin(module, total);
    }
    const emulator = this.#emulator;
    await this.#feed(emulator, total);
    this.#keep();
    return emulator.screen(scrollback);
  }

  async #begin(module: ScreenModule, total: number): Promise<Emulator> {
    const { bytes, offset } = await this.#source.read(0, 1);
    const whole = offset === 0 && (bytes.length > 0 || total === 0);
    if (whole && total <= REPLAY_BYTES) return new Emulator(module, this.#sizeAt(0), 0, true);
    const tail = await this.#source.read(total - TAIL_BYTES, TAIL_BYTES);
    const at = tail.offset + syncPoint(tail.bytes);
    return new Emulator(module, this.#sizeAt(at), at, false);
  }

  async #feed(emulator: Emulator, to: number): Promise<void> {
    while (emulator.offset < to) {
      const next = this.#source.sizes.find(({ offset }) => offset > emulator.offset);
      const { bytes, offset } = await this.#source.read(
        emulator.offset,
        Math.min(PIECE_BYTES, to - emulator.offset, (next?.offset ?? to) - emulator.offset),
      );
      if (bytes.length === 0) return;
      await emulator.feed(bytes, offset, this.#sizeAt(offset));
    }
    emulator.resize(this.#sizeAt(to));
  }

  #sizeAt(offset: number): TerminalSize {
    const past = this.#source.sizes.filter((size) => size.offset <= offset);
    return past.at(-1) ?? this.#source.sizes[0] ?? { rows: 24, cols: 80 };
  }

  #keep(): void {
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.dispose(), KEEP_MS).unref();
  }
}

class Emulator {
  offset: number;
  #exact: boolean;
  /** The newest bytes. */
  #tail = Buffer.alloc(0);
  readonly #terminal: HeadlessTerminal;
  readonly #addon: InstanceType<ScreenModule["SerializeAddon"]>;

  constructor(module: ScreenModule, { rows, cols }: TerminalSize, offset: number, exact: boolean) {
    this.offset = offset;
    this.#exact = exact;
    this.#terminal = new module.Terminal({ cols, rows, scrollback: SCROLLBACK_LINES, allowProposedApi: true });
    this.#addon = new module.SerializeAddon();
    this.#terminal.loadAddon(this.#addon);
  }

  async feed(bytes: Buffer, offset: number, size: TerminalSize): Promise<void> {
    if (offset !== this.offset) this.#exact = false;
    this.resize(size);
    await new Promise<void>((resolve) => this.#terminal.write(bytes, resolve));
    this.offset = offset + bytes.length;
    this.#tail = Buffer.from(Buffer.concat([this.#tail, bytes]).subarray(-SEQUENCE_BYTES));
  }

  resize({ rows, cols }: TerminalSize): void {
    if (rows !== this.#terminal.rows || cols !== this.#terminal.cols) this.#terminal.resize(cols, rows);
  }

  screen(scrollback: number): Screen {
    const { rows, cols } = this.#terminal;
    const drawn = this.#addon.serialize({ scrollback }).replace(ALTERNATE, `${PLAIN}${ALTERNATE}`);
    const serialized = drawn + this.#cursor(drawn) + unfinishedSequence(this.#tail).toString("utf8");
    return { rows, cols, serialized, offset: this.offset, exact: this.#exact };
  }

  /**
   * Puts the cursor where it is. addon-serialize 0.14 is one column off behind a bold space at the end of a line. Not where no sequence can put it: behind the
   * last column, or relative to an origin.
   */
  #cursor(drawn: string): string {
    const { cursorX, cursorY } = this.#terminal.buffer.active;
    if (drawn === "" || cursorX >= this.#terminal.cols || this.#terminal.modes.originMode) return "";
    return `\u001b[${cursorY + 1};${cursorX + 1}H`;
  }

  dispose(): void {
    this.#terminal.dispose();
  }
}
