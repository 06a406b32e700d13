// Asks a person in the terminal: permissions and questions of the agent. Without a terminal there is nobody to ask.
import { boundTo } from "../client/requests.ts";
import type { PermissionData, PermissionOption, QuestionData, QuestionPrompt } from "../schema/event-data.ts";
import type { PermissionReplyBody } from "../schema/session.ts";
import { TRUST_TOOL } from "../schema/trust-tool.ts";
import { editableJson } from "../schema/visible-text.ts";
import type { Terminal } from "./command.ts";
import { exact, exactLine } from "./output.ts";
import { diffLine, type Paint, paintFor } from "./style.ts";

export const canAsk = (terminal: Terminal): boolean => Boolean(terminal.stdin.isTTY && terminal.stderr.isTTY);

/** What is shown, and the words before the cursor. */
export type Asked = { lines: string[]; prompt: string };

/** Of a long input the beginning is shown; all of it is in `dragoman pending --json`. */
const INPUT_LINES = 30;

/** Every character can be seen, and no line of it can be taken for one of ours. */
const indented = (text: string): string => exact(text.trimEnd()).replaceAll("\n", "\n    ");
const isTrust = ({ metadata }: PermissionData): boolean => metadata.tool_name === TRUST_TOOL;
const TRUST_PROMPT = "  [y]es in this session, [a]lways, [n]o (go on without them): ";

const REPLIES = { allow_once: "once", allow_always: "always", reject_once: "reject", reject_always: "reject" } as const;
const LETTERS = { allow_once: "y", allow_always: "a", reject_once: "n" } as const;

type Option = PermissionOption & { letter: string | undefined };

/** The agent's own options. The first of a kind has a letter too. */
function optionsOf({ metadata: { options } }: PermissionData): Option[] {
  const firsts = new Set<string>();
  return options.map((option) => {
    const letter = option.kind === "reject_always" || firsts.has(option.kind) ? undefined : LETTERS[option.kind];
    firsts.add(option.kind);
    return { ...option, letter };
  });
}

export function permissionAsked(data: PermissionData, paint: Paint): Asked {
  const { action, metadata } = data;
  const options = isTrust(data) ? [] : optionsOf(data);
  const numbers = options.length > 0 ? `1 to ${options.length}, ` : "";
  return {
    lines: [
      `${paint.bold(paint.yellow("Permission:"))} ${indented(action)}`,
      ...(metadata.reason ? [`  ${indented(metadata.reason)}`] : []),
      ...inputLines(data).map((line) => paint.dim(`    ${line}`)),
      ...(metadata.diff
        ? exact(metadata.diff.trimEnd())
            .split("\n")
            .map((line) => `    ${diffLine(line, paint)}`)
        : []),
      ...options.map(({ label, letter }, at) => `  ${at + 1}. ${exactLine(label)}${letter ? paint.dim(` [${letter}]`) : ""}`),
    ],
    prompt: isTrust(data) ? TRUST_PROMPT : `  ${numbers}[y]es once, [n]o, or type why not: `,
  };
}

/** What the action does not say already. */
function inputLines({ action, metadata: { input, diff } }: PermissionData): string[] {
  if (diff !== undefined || typeof input !== "object" || input === null) return [];
  const values = Object.values(input).filter((value) => value !== null && value !== "");
  if (values.every((value) => typeof value === "string" && action.includes(value))) return [];
  const lines = editableJson(input).split("\n");
  return lines.length > INPUT_LINES ? [...lines.slice(0, INPUT_LINES), `… ${lines.length - INPUT_LINES} lines more`] : lines;
}

/** Undefined: nothing was typed, or a number that is no option; ask again. */
export function permissionReply(data: PermissionData, typed: string): PermissionReplyBody | undefined {
  const answer = typed.trim();
  const bound = boundTo(data);
  if (answer === "") return undefined;
  const options = optionsOf(data);
  const chosen = options[Number(answer) - 1] ?? options.find(({ letter }) => letter === answer.toLowerCase());
  if (chosen) return { ...bound, reply: REPLIES[chosen.kind], option_id: chosen.id };
  if (/^\d+$/.test(answer)) return undefined;
  if (/^y(es)?$/i.test(answer)) return { ...bound, reply: "once" };
  return /^no?$/i.test(answer) ? { ...bound, reply: "reject" } : { ...bound, reply: "reject", message: answer };
}

export function questionAsked({ prompt, options, multi_select, free_text }: QuestionPrompt, paint: Paint): Asked {
  const how = [
    options.length > 0 ? (multi_select ? "numbers, with commas" : "a number") : "",
    free_text || options.length === 0 ? "your own words" : "",
    "empty to decline",
  ];
  return {
    lines: [
      `${paint.bold(paint.yellow("Question:"))} ${indented(prompt)}`,
      ...options.map(
        ({ label, description }, index) =>
          `  ${index + 1}. ${exactLine(label)}${description ? paint.dim(` ${exactLine(description)}`) : ""}`,
      ),
    ],
    prompt: `  ${how.filter(Boolean).join(", or ")}: `,
  };
}

/** Null: declined. Undefined: not an answer to this question, ask again. */
export function questionAnswer({ options, multi_select, free_text }: QuestionPrompt, typed: string): string[] | null | undefined {
  const answer = typed.trim();
  if (answer === "") return null;
  const words = (multi_select ? answer.split(",") : [answer]).map((each) => each.trim()).filter((each) => each !== "");
  const chosen = words.map((word) => options[Number(word) - 1]?.label ?? options.find(({ label }) => label === word)?.label);
  if (free_text || options.length === 0) return words.map((word, index) => chosen[index] ?? word);
  return chosen.every((label) => label !== undefined) && chosen.length > 0 ? chosen : undefined;
}

/** What to do after an answer that is none. */
export const notAnOption = ({ options }: QuestionPrompt): string =>
  `  Choose ${options.length === 1 ? "1" : `1 to ${options.length}`}; other answers are not offered.`;

async function line(terminal: Terminal, { lines, prompt }: Asked, signal = terminal.signal): Promise<string> {
  for (const each of lines) terminal.stderr.write(`${each}\n`);
  const { createInterface } = await import("node:readline/promises");
  const readline = createInterface({ input: terminal.stdin, output: terminal.stderr.device });
  readline.on("SIGINT", () => terminal.interrupt());
  try {
    return await readline.question(prompt, { signal });
  } finally {
    readline.close();
  }
}

/** True only for a clear yes. */
export async function askYes(terminal: Terminal, question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await line(terminal, { lines: [], prompt: `${question} [y/N] ` })).trim());
}

/** `signal`: the request is no longer open. */
export async function askPermission(terminal: Terminal, data: PermissionData, signal: AbortSignal): Promise<PermissionReplyBody> {
  const asked = permissionAsked(data, paintFor(terminal.stderr, terminal.env));
  let reply = permissionReply(data, await line(terminal, asked, signal));
  while (!reply) reply = permissionReply(data, await line(terminal, { lines: [], prompt: asked.prompt }, signal));
  return reply;
}

/** Null: the person does not want to answer. */
export async function askQuestions(
  terminal: Terminal,
  { questions }: QuestionData,
  signal: AbortSignal,
): Promise<string[][] | null> {
  const paint = paintFor(terminal.stderr, terminal.env);
  const answers: string[][] = [];
  for (const question of questions) {
    const asked = questionAsked(question, paint);
    let answer = questionAnswer(question, await line(terminal, asked, signal));
    while (answer === undefined)
      answer = questionAnswer(question, await line(terminal, { lines: [notAnOption(question)], prompt: asked.prompt }, signal));
    if (answer === null) return null;
    answers.push(answer);
  }
  return answers;
}
