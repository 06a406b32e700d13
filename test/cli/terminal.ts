// The built command line on a real terminal: what it shows, what is typed, how it ends.
import { stripVTControlCharacters } from "node:util";
import { type IPty, spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";
import { CLI, cleanEnv } from "../daemon-process.ts";

export const LEAVE = "\u0004";
export const INTERRUPT = "\u0003";

const COLUMNS = 80;
const ROWS = 24;

const open = new Set<IPty>();

export const closeTerminals = (): void => {
  for (const pty of open) pty.kill();
};

export class TestTerminal {
  readonly pty: IPty;
  readonly exit: Promise<number>;
  /** Everything written so far, escape sequences included. */
  bytes = "";
  readonly #columns: number;
  #seen = 0;
  #waiting: (() => void)[] = [];

  constructor(
    dataDir: string,
    args: string[],
    { env = {}, columns = COLUMNS }: { env?: NodeJS.ProcessEnv; columns?: number } = {},
  ) {
    this.#columns = columns;
    this.pty = spawn(process.execPath, [CLI, ...args], {
      cols: columns,
      rows: ROWS,
      cwd: dataDir,
      env: { ...cleanEnv(dataDir), DRAGOMAN_DATA_DIR: dataDir, TERM: "xterm", ...env },
    });
    open.add(this.pty);
    this.pty.onData((chunk) => {
      this.bytes += chunk;
      for (const wake of this.#waiting.splice(0)) wake();
    });
    this.exit = new Promise((resolve) =>
      this.pty.onExit(({ exitCode }) => {
        open.delete(this.pty);
        resolve(exitCode);
      }),
    );
  }

  /** Waits until the words come, after those that were waited for last. */
  async sees(words: string): Promise<void> {
    for (;;) {
      const at = stripVTControlCharacters(this.bytes).indexOf(words, this.#seen);
      if (at >= 0) {
        this.#seen = at + words.length;
        return;
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** What stands on the screen and above it after all that was written. */
  async screen(): Promise<string[]> {
    const screen = new xterm.Terminal({ cols: this.#columns, rows: ROWS, scrollback: 10_000, allowProposedApi: true });
    await new Promise<void>((resolve) => screen.write(this.bytes, resolve));
    const { active } = screen.buffer;
    return Array.from({ length: active.length }, (_, row) => active.getLine(row)?.translateToString(true) ?? "");
  }

  type(keys: string): void {
    this.pty.write(keys);
  }
}
