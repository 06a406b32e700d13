// What every act of the mock agent plays with: the stage, and what more than one of them does.
import type { MockEvent } from "../translate/wire.ts";

/** The stage an act plays on. */
export type Stage = {
  emit(event: MockEvent): void;
  /** Writes at full speed, with regard to back-pressure. */
  flood(count: number, make: (index: number) => MockEvent): Promise<void>;
  raw(line: string | Buffer): void;
  stderr(line: string): void;
  id(): string;
  /** Rejects when the turn is interrupted. */
  wait(ms: number): Promise<void>;
  /** Resolves when a message has steered the turn. */
  steered(): Promise<void>;
  ask(question: Extract<MockEvent, { type: "ask" }>): Promise<{ reply: string; message: string | null; input?: unknown }>;
  answer(question: Extract<MockEvent, { type: "question" }>): Promise<string[][] | null>;
  /** After this turn, a turn of the agent's own. */
  later(ms: number, act: () => Promise<void>): void;
  exit(code: number): void;
  remembered(): string[];
};

export type Act = { usage: string; about: string; play(stage: Stage, args: string): Promise<void> };

export const words = (text: string): string[] => text.match(/\S+\s*/g) ?? [];
export const number = (text: string, fallback: number): number => {
  const value = Number.parseInt(text, 10);
  return Number.isFinite(value) && value >= 0 ? value : fallback;
};

export async function say(stage: Stage, text: string, options: { p?: string; delay?: number } = {}): Promise<string> {
  const m = stage.id();
  for (const d of words(text)) {
    stage.emit({ type: "text", m, d, ...(options.p ? { p: options.p } : {}) });
    if (options.delay) await stage.wait(options.delay);
  }
  stage.emit({ type: "message_end", m });
  return m;
}

export async function shell(
  stage: Stage,
  command: string,
  exit: number,
  options: { p?: string; m?: string; delay?: number } = {},
): Promise<void> {
  const c = stage.id();
  const { p, m, delay } = options;
  stage.emit({
    type: "call",
    c,
    name: "shell",
    kind: "shell",
    title: command,
    input: { command },
    ...(p ? { p } : {}),
    ...(m ? { m } : {}),
  });
  const lines = [`$ ${command}\n`, "first line\n", "second line\n"];
  for (const d of lines) {
    stage.emit({ type: "output", c, d });
    if (delay) await stage.wait(delay);
  }
  stage.emit({ type: "result", c, output: lines.join(""), error: exit !== 0, exit_code: exit, ms: 12 });
}

/** Ends the turn otherwise than with end_turn. */
export class Ending extends Error {
  readonly reason: "refusal" | "error" | "interrupted" | "output_length" | "max_turns" | "max_budget";
  readonly code: string | undefined;
  constructor(reason: Ending["reason"], code?: string) {
    super(reason);
    this.reason = reason;
    this.code = code;
  }
}
