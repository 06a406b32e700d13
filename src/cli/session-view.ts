/**
 * A session on this terminal: its events are printed for good (event-printer.ts), and below them moves what is not finished (activity.ts). In a pipe nothing
 * moves and answers are the bytes the agent wrote.
 */
import type { Interface } from "node:readline";
import type { UniversalEvent } from "../schema/event.ts";
import { Activity } from "./activity.ts";
import type { Terminal } from "./command.ts";
import { EventPrinter, type PrinterOptions } from "./event-printer.ts";
import { LiveArea } from "./live-area.ts";
import type { Output } from "./output.ts";
import { isColoured, type Paint, paintFor } from "./style.ts";
import { columnsOf, wrap } from "./text-layout.ts";
import { LineStream, type TextStream } from "./text-stream.ts";

const REDRAW_MS = 120;
/** Longer lines are hard to read. */
const WIDEST = 110;
/** Of a long diff the rest is one `dragoman changes` away. */
const DIFF_LINES = 60;

export type ViewOptions = Omit<PrinterOptions, "answers"> & {
  /** Where a person types below what is shown. */
  readline?: Interface;
};

export class SessionView {
  readonly #printer: EventPrinter;
  readonly #activity = new Activity();
  readonly #live: LiveArea | null;
  readonly #paint: Paint;
  readonly #clock: NodeJS.Timeout | undefined;
  /** Writes of the event that is being printed: drawn at once. */
  #writes: (() => void)[] = [];
  /** Events that came while a person was asked something. */
  #held: UniversalEvent[] | null = null;
  #drawn = 0;
  /** What is not finished, as it was last drawn. */
  #shown = "";

  constructor(terminal: Terminal, answers: (() => TextStream) | undefined, { readline, ...options }: ViewOptions) {
    const { stdout, stderr, env } = terminal;
    const screen = readline ? stdout : stderr;
    this.#live = readline || (screen.isTTY && env.TERM !== "dumb") ? new LiveArea(screen.device, readline) : null;
    this.#paint = paintFor(screen, env);
    const target = (output: Output) =>
      this.#live && output.isTTY ? { isTTY: true, write: (text: string) => this.#later(() => output.write(text)) } : output;
    const both = readline
      ? { stdout: target(stdout), stderr: target(stdout) }
      : { stdout: target(stdout), stderr: target(stderr) };
    const lines = this.#live && stdout.isTTY ? () => new LineStream() : undefined;
    const choice = answers ?? lines;
    this.#printer = new EventPrinter(
      { ...both, env },
      { diffLines: DIFF_LINES, ...options, ...(choice ? { answers: choice } : {}) },
    );
    if (this.#live) this.#clock = setInterval(() => this.#draw(), REDRAW_MS).unref();
  }

  /** A line was entered at the prompt. */
  entered(): void {
    this.#live?.entered();
  }

  setPrompt(prompt: string): void {
    this.#live?.setPrompt(prompt);
  }

  take(event: UniversalEvent): void {
    if (this.#held) return void this.#held.push(event);
    this.#activity.take(event);
    this.#printer.print(event);
    if (this.#writes.length > 0 || Date.now() - this.#drawn >= REDRAW_MS) this.#draw();
  }

  note(text: string): void {
    this.#printer.note(text);
    this.#draw();
  }

  /** Nothing moves and nothing is printed while a person is asked below. */
  async pausedFor<T>(ask: () => Promise<T>): Promise<T> {
    this.#draw([]);
    const held: UniversalEvent[] = [];
    this.#held = held;
    try {
      return await ask();
    } finally {
      this.#held = null;
      for (const event of held) this.take(event);
    }
  }

  close(): void {
    clearInterval(this.#clock);
    if (this.#held) for (const event of this.#held) this.#printer.print(event);
    this.#printer.endLine();
    this.#draw([]);
    this.#live?.leave();
  }

  #later(write: () => void): boolean {
    this.#writes.push(write);
    return true;
  }

  #draw(tail?: string[]): void {
    if (!this.#live || this.#held) return;
    this.#drawn = Date.now();
    const writes = this.#writes.splice(0);
    const lines = tail ?? this.#tail();
    // What did not change is not drawn again: a person may be typing below, or selecting.
    const unchanged = writes.length === 0 && lines.join("\n") === this.#shown;
    if (unchanged) return;
    this.#shown = lines.join("\n");
    this.#live.draw(() => {
      for (const write of writes) write();
    }, lines);
  }

  #tail(): string[] {
    const unfinished = this.#printer.tail;
    const columns = this.#live?.columns ?? WIDEST;
    return [...(unfinished === "" ? [] : wrap(unfinished, columns)), ...this.#activity.lines(Date.now(), this.#paint)];
  }
}

/** Markdown is laid out for a terminal with colours; everything else gets the text as it is. */
export async function answersFor({ stdout, env }: Pick<Terminal, "stdout" | "env">): Promise<(() => TextStream) | undefined> {
  if (!stdout.isTTY || !isColoured(stdout, env)) return undefined;
  const { MarkdownStream } = await import("./markdown.ts");
  const paint = paintFor(stdout, env);
  return () => new MarkdownStream(() => ({ paint, columns: Math.min(WIDEST, columnsOf(stdout, env) - 1) }));
}
