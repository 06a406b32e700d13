// Asks a person in the terminal: permissions and questions of the agent. Without a terminal there is nobody to ask.
import { createInterface } from "node:readline/promises";
import { boundTo } from "../client/requests.ts";
import type { PermissionData, QuestionData, QuestionPrompt } from "../schema/event-data.ts";
import type { PermissionReplyBody } from "../schema/session.ts";
import type { Terminal } from "./command.ts";
import { harmless, type Paint, paintFor } from "./style.ts";

export const canAsk = (terminal: Terminal): boolean => Boolean(terminal.stdin.isTTY && terminal.stderr.isTTY);

/** What is shown, and the words before the cursor. */
export type Asked = { lines: string[]; prompt: string };

const offersAlways = ({ metadata }: PermissionData): boolean => metadata.options.some((option) => option.kind === "allow_always");

export function permissionAsked(data: PermissionData, paint: Paint): Asked {
  const { action, metadata } = data;
  return {
    lines: [
      `${paint.bold(paint.yellow("Permission:"))} ${harmless(action)}`,
      ...(metadata.reason ? [`  ${harmless(metadata.reason)}`] : []),
      ...(metadata.diff ? [harmless(metadata.diff)] : []),
    ],
    prompt: `  [y]es once${offersAlways(data) ? ", [a]lways" : ""}, [n]o, or type why not: `,
  };
}

/** Undefined: nothing was typed, ask again. */
export function permissionReply(data: PermissionData, typed: string): PermissionReplyBody | undefined {
  const answer = typed.trim();
  const bound = boundTo(data);
  if (answer === "") return undefined;
  if (/^y(es)?$/i.test(answer)) return { ...bound, reply: "once" };
  if (offersAlways(data) && /^a(lways)?$/i.test(answer)) return { ...bound, reply: "always" };
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
      `${paint.bold(paint.yellow("Question:"))} ${harmless(prompt)}`,
      ...options.map(
        ({ label, description }, index) =>
          `  ${index + 1}. ${harmless(label)}${description ? paint.dim(` ${harmless(description)}`) : ""}`,
      ),
    ],
    prompt: `  ${how.filter(Boolean).join(", or ")}: `,
  };
}

/** Null: declined. */
export function questionAnswer({ options, multi_select }: QuestionPrompt, typed: string): string[] | null {
  const answer = typed.trim();
  if (answer === "") return null;
  return (multi_select ? answer.split(",") : [answer]).map((each) => options[Number(each.trim()) - 1]?.label ?? each.trim());
}

async function line(terminal: Terminal, { lines, prompt }: Asked): Promise<string> {
  for (const each of lines) terminal.stderr.write(`${each}\n`);
  const readline = createInterface({ input: terminal.stdin, output: terminal.stderr });
  try {
    return await readline.question(prompt, { signal: terminal.signal });
  } finally {
    readline.close();
  }
}

export async function askPermission(terminal: Terminal, data: PermissionData): Promise<PermissionReplyBody> {
  const asked = permissionAsked(data, paintFor(terminal.stderr, terminal.env));
  let reply = permissionReply(data, await line(terminal, asked));
  while (!reply) reply = permissionReply(data, await line(terminal, { lines: [], prompt: asked.prompt }));
  return reply;
}

/** Null: the person does not want to answer. */
export async function askQuestions(terminal: Terminal, { questions }: QuestionData): Promise<string[][] | null> {
  const paint = paintFor(terminal.stderr, terminal.env);
  const answers: string[][] = [];
  for (const question of questions) {
    const answer = questionAnswer(question, await line(terminal, questionAsked(question, paint)));
    if (answer === null) return null;
    answers.push(answer);
  }
  return answers;
}
