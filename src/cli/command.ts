// What a command of the command line is. One file a command; the table in commands.ts is the list of all of them, and help and completions come from it.
import type { ParseArgsConfig } from "node:util";
import type { Dragoman } from "../client/dragoman.ts";
import type { Fact } from "./facts.ts";
import type { Output } from "./output.ts";

export type OptionSpec = {
  type: "string" | "boolean";
  short?: string;
  multiple?: boolean;
  default?: string | boolean;
  /** What stands for the value in help: `<dir>`. */
  value?: string;
  about: string;
};

export type Values = Record<string, string | boolean | (string | boolean)[] | undefined>;

/** Where a command reads and writes: injected, so that tests see what a person sees. */
export type Terminal = {
  stdout: Output;
  stderr: Output;
  stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  env: NodeJS.ProcessEnv;
  cwd: string;
  /** Aborted by the first Ctrl-C. */
  signal: AbortSignal;
  /** What Ctrl-C does. Readline takes the key for itself while it asks, and must pass it on. */
  interrupt(): void;
};

export type Invocation = {
  values: Values;
  /** What is left after the options. */
  words: string[];
  terminal: Terminal;
  /** The running daemon; throws DragomanError no_daemon with advice. */
  daemon(): Promise<Dragoman>;
  print(text: string): void;
  /** For people, never part of the output: goes to stderr. */
  say(text: string): void;
  /** With --json: one JSON a line. */
  json(value: unknown): void;
  /** One object: JSON for programs, and on a terminal its facts, or the JSON on several lines where there are none. */
  details(value: unknown, facts?: () => readonly Fact[]): void;
  /** A table as wide as the screen. `drop`: columns that are left away first where it is narrow. */
  table(head: string[], rows: string[][], drop?: readonly string[]): void;
};

export type Command = {
  name: string;
  /** `run <agent> <prompt…>` */
  usage: string;
  about: string;
  /** Longer help: what it does, examples, exit codes. */
  help?: string;
  options?: Record<string, OptionSpec>;
  /** It needs a daemon, and one is started in the background when none runs on this machine. */
  startsDaemon?: boolean;
  /** Words that may follow, for completion: `agents`, `sessions` are looked up, others are literal. */
  completes?: ("agents" | "sessions" | "files" | { word: string })[];
  run(call: Invocation): Promise<number>;
};

/** Exit codes, the same for every command. */
export const EXIT = {
  ok: 0,
  /** The command did its work and the answer is no: a turn failed, a check found faults. */
  failed: 1,
  /** The call itself is wrong. */
  usage: 2,
  /** The agent refused. */
  refused: 3,
  /** No daemon, or no answer from it. */
  unreachable: 4,
  /** Waiting for a person who is not there: a permission in a pipe. */
  waiting: 5,
  /** The log is damaged: starting again does not help, a person must decide. Service managers are instructed not to try. */
  damaged: 65,
  interrupted: 130,
} as const;

export const exitCodes: readonly { code: number; about: string }[] = [
  { code: EXIT.ok, about: "done" },
  { code: EXIT.failed, about: "failed" },
  { code: EXIT.usage, about: "wrong call" },
  { code: EXIT.refused, about: "the agent refused" },
  { code: EXIT.unreachable, about: "no daemon" },
  { code: EXIT.waiting, about: "a person is needed" },
  { code: EXIT.damaged, about: "the log is damaged" },
  { code: EXIT.interrupted, about: "interrupted" },
];

/** A wrong call: shown with the command's usage. */
export class UsageError extends Error {}

export const globalOptions: Record<string, OptionSpec> = {
  json: { type: "boolean", about: "print JSON, one object a line" },
  url: { type: "string", value: "<url>", about: "the daemon to talk to (default: the one running here)" },
  "token-file": {
    type: "string",
    value: "<file>",
    about: "file with its token (default: DRAGOMAN_TOKEN, or found by itself)",
  },
  token: { type: "string", value: "<token>", about: "deprecated: other users of the machine can read it; use --token-file" },
  "data-dir": { type: "string", value: "<dir>", about: "data directory (default: DRAGOMAN_DATA_DIR or ~/.local/share/dragoman)" },
  "no-start": { type: "boolean", about: "do not start a daemon when none runs" },
  help: { type: "boolean", short: "h", about: "show this help" },
};

export const parseConfig = (options: Record<string, OptionSpec>): NonNullable<ParseArgsConfig["options"]> =>
  Object.fromEntries(
    Object.entries(options).map(([name, { type, short, multiple, default: fallback }]) => [
      name,
      {
        type,
        ...(short ? { short } : {}),
        ...(multiple ? { multiple } : {}),
        ...(fallback === undefined ? {} : { default: fallback }),
      },
    ]),
  );

export const text = (values: Values, name: string): string | undefined => {
  const value = values[name];
  return typeof value === "string" ? value : undefined;
};

export const flag = (values: Values, name: string): boolean => values[name] === true;

export const list = (values: Values, name: string): string[] => {
  const value = values[name];
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
};

export const need = (words: string[], index: number, what: string): string => {
  const word = words[index];
  if (word === undefined || word === "") throw new UsageError(`${what} is missing`);
  return word;
};

export const wholeNumber = (value: string | undefined, name: string, fallback: number): number => {
  if (value === undefined) return fallback;
  const number = Number(value);
  if (!Number.isInteger(number) || number < 0) throw new UsageError(`--${name} needs a whole number, not ${value}`);
  return number;
};

/** What a command without output says with --json. */
export function done({ values, json }: Invocation, fact: Record<string, unknown>): number {
  if (flag(values, "json")) json(fact);
  return EXIT.ok;
}
