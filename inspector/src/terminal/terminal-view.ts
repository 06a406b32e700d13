/** One xterm.js terminal between an element of the page and a transport. Without React: the component around it only makes it and disposes of it. */
import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import type { Theme } from "../ui/highlight.ts";
import { palette } from "./palette.ts";
import { allowStyles } from "./policy-styles.ts";
import type { TerminalMessage, TerminalSize, TerminalTransport } from "./terminal-transport.ts";
import "@xterm/xterm/css/xterm.css";

const SCROLLBACK_LINES = 1_000;

export type TerminalOptions = {
  transport: TerminalTransport;
  theme: Theme;
  /** Nothing that is typed goes out, and the size is the one the terminal has. */
  readOnly: boolean;
  /** Reads output aloud through a live region. Off unless asked for: xterm 6 then drops text that comes without a key, as input methods and voices send it. */
  screenReader: boolean;
  onEnded(reason: string): void;
};

export class TerminalView {
  readonly #terminal: Terminal;
  readonly #fit = new FitAddon();
  readonly #options: TerminalOptions;
  readonly #host: HTMLElement;
  readonly #observer = new ResizeObserver(() => this.#askForSize());
  readonly #stop: () => void;
  readonly #releaseStyles = allowStyles();
  /** A replayed screen holds no questions of a program, but what it is drawn with may look like one: nothing is answered meanwhile. */
  #drawing = 0;
  #asked: TerminalSize = { rows: 0, cols: 0 };
  #ended = false;

  constructor(host: HTMLElement, options: TerminalOptions) {
    this.#host = host;
    this.#options = options;
    this.#terminal = new Terminal({
      allowProposedApi: false,
      disableStdin: options.readOnly,
      fontFamily: getComputedStyle(document.documentElement).getPropertyValue("--mono"),
      fontSize: 13,
      // Programs name their colours without knowing ours.
      minimumContrastRatio: 4.5,
      scrollback: SCROLLBACK_LINES,
      screenReaderMode: options.screenReader,
      theme: palette(options.theme),
      // The text of a link is the program's, and may be a lie: links are not followed.
      linkHandler: { activate: () => {} },
    });
    this.#terminal.loadAddon(this.#fit);
    this.#terminal.open(host);
    this.#terminal.onData((data) => this.#typed(data));
    this.#terminal.attachCustomKeyEventHandler((event) => this.#takesKey(event));
    this.#observer.observe(host);
    this.#stop = options.transport.onData((message) => this.#received(message));
  }

  setTheme(theme: Theme): void {
    this.#terminal.options.theme = palette(theme);
  }

  focus(): void {
    this.#terminal.focus();
  }

  dispose(): void {
    this.#observer.disconnect();
    this.#stop();
    this.#terminal.dispose();
    this.#releaseStyles();
  }

  async #received(message: TerminalMessage): Promise<void> {
    switch (message.type) {
      case "screen":
        this.#terminal.reset();
        this.#terminal.resize(message.cols, message.rows);
        this.#drawing += 1;
        await this.#write(message.serialized);
        this.#drawing -= 1;
        this.#askForSize();
        return;
      case "output":
        return this.#write(message.text);
      case "size":
        this.#terminal.resize(message.cols, message.rows);
        return;
      case "ended":
        this.#ended = true;
        this.#terminal.options.disableStdin = true;
        this.#options.onEnded(message.reason);
        return;
      default:
        return message satisfies never;
    }
  }

  #write = (text: string): Promise<void> => new Promise((resolve) => this.#terminal.write(text, resolve));

  /** Only the page that has the focus answers a program's questions: with several of them the program would get several answers. */
  #typed(data: string): void {
    const silent = this.#options.readOnly || this.#ended || this.#drawing > 0 || !this.#host.contains(document.activeElement);
    if (!silent) this.#options.transport.write(data);
  }

  /** Shift+Escape leaves the terminal, which takes every other key; Ctrl+Shift+C copies. */
  #takesKey(event: KeyboardEvent): boolean {
    if (event.type !== "keydown") return true;
    if (event.key === "Escape" && event.shiftKey) {
      this.#terminal.blur();
      this.#host.focus();
      return false;
    }
    if (event.key.toLowerCase() === "c" && event.ctrlKey && event.shiftKey && this.#terminal.hasSelection()) {
      event.preventDefault();
      void navigator.clipboard.writeText(this.#terminal.getSelection());
      return false;
    }
    return true;
  }

  #askForSize(): void {
    if (this.#options.readOnly || this.#ended) return;
    const size = this.#fit.proposeDimensions();
    if (size === undefined || !(size.rows >= 1 && size.cols >= 2)) return;
    if (size.rows === this.#asked.rows && size.cols === this.#asked.cols) return;
    this.#asked = { rows: size.rows, cols: size.cols };
    this.#options.transport.resize(this.#asked);
  }
}
