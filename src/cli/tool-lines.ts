/** A tool of an agent in a few lines of text: what it does, the end of its output, how it ended. Not here: when they are printed (event-printer.ts). */
import type { ContentPart, PlanEntry, ToolKind } from "../schema/content.ts";
import { exactLine } from "./output.ts";
import { diffLine, type Paint } from "./style.ts";

export type ToolCall = Extract<ContentPart, { type: "tool_call" }>;
export type ToolResult = Extract<ContentPart, { type: "tool_result" }>;

const LONGEST_LINE = 400;
const TAIL_LINES = 5;
/** Tools whose output is a file or a list that the agent reads: how much there is says enough. */
const QUIET: ReadonlySet<ToolKind> = new Set<ToolKind>([
  "read",
  "search",
  "write",
  "edit",
  "delete",
  "move",
  "plan",
  "question",
  "think",
]);

/** True when the arguments are all there: they stream in, and a half command is worse than none. */
export const isComplete = (call: ToolCall): boolean => {
  const fields = fieldsOf(call);
  return fields !== null && Object.keys(fields).length > 0;
};

/** `Bash: npm test`. The command itself, not the agent's words for it. */
export function callLine(call: ToolCall): string {
  const what = commandOf(call) ?? call.paths?.join(", ") ?? titleOf(call) ?? argumentsOf(call);
  return what ? `${exactLine(call.name)}: ${cut(exactLine(what))}` : exactLine(call.name);
}

export const hasFailed = ({ is_error, exit_code }: ToolResult): boolean =>
  is_error === true || (exit_code != null && exit_code !== 0);

/** The end of what a tool wrote and how it ended; nothing for a tool that only read. */
export function resultLines(result: ToolResult, kind: ToolKind | undefined): string[] {
  const failed = hasFailed(result);
  // Said in words: where nothing is coloured, nothing else tells a failure from an output.
  const end = result.exit_code != null && result.exit_code !== 0 ? `exit ${result.exit_code}` : "failed";
  if (!failed && kind !== undefined && QUIET.has(kind)) return [];
  const hidden = filledLines(result.output).length - TAIL_LINES;
  return [
    ...(hidden > 0 ? [`… ${hidden} ${hidden === 1 ? "line" : "lines"} before`] : []),
    ...outputTail(result.output, TAIL_LINES),
    ...(failed ? [end] : []),
  ];
}

const filledLines = (output: string): string[] => output.split(/\r?\n/).filter((line) => line.trim() !== "");

/** The last lines that are not empty. */
export const outputTail = (output: string, count: number): string[] =>
  filledLines(output)
    .slice(-count)
    .map((line) => cut(exactLine(withoutColours(line))));

/** `hello.txt +1 −1` and its lines in their colours; of a long one the beginning. */
export function diffLines({ path, diff }: { path: string; diff: string }, paint: Paint, most: number): string[] {
  const all = diff.trimEnd().split("\n");
  // The lines before the first hunk name the file, which the head does.
  const lines = all.slice(
    Math.max(
      0,
      all.findIndex((line) => line.startsWith("@@")),
    ),
  );
  const count = (sign: string): number =>
    lines.filter((line) => line.startsWith(sign) && !line.startsWith(sign.repeat(3))).length;
  const more = lines.length > most ? [paint.dim(`… ${lines.length - most} lines more`)] : [];
  return [
    `${paint.bold(exactLine(path))} ${paint.green(`+${count("+")}`)} ${paint.red(`−${count("-")}`)}`,
    ...lines.slice(0, most).map((line) => diffLine(exactLine(line), paint)),
    ...more,
  ];
}

const PLAN_SIGNS = { completed: "✔", in_progress: "▸", pending: "☐", cancelled: "✗" } as const;

export function planLine({ status, text }: PlanEntry, paint: Paint): string {
  const line = `${PLAN_SIGNS[status]} ${exactLine(text)}`;
  if (status === "in_progress") return paint.bold(line);
  return status === "pending" ? line : status === "completed" ? paint.green(line) : paint.dim(line);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are made of them
const withoutColours = (line: string): string => line.replace(/\u001b\[[0-9;:]*m/g, "");

function commandOf(call: ToolCall): string | undefined {
  const command = fieldsOf(call)?.command;
  const line = Array.isArray(command) ? command.join(" ") : typeof command === "string" ? command : undefined;
  // codex wraps the command in a shell and names the inner one.
  return line !== undefined && call.title && line.includes(call.title) ? call.title : line;
}

const titleOf = ({ title, name }: ToolCall): string | undefined => (title && title !== name ? title : undefined);

const argumentsOf = (call: ToolCall): string | undefined => (isComplete(call) ? call.arguments : undefined);

function fieldsOf(call: ToolCall): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(call.arguments);
    return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : null;
  } catch {
    return null;
  }
}

const cut = (text: string): string =>
  text.length <= LONGEST_LINE ? text : `${text.slice(0, LONGEST_LINE)}… (${text.length - LONGEST_LINE} characters more)`;
