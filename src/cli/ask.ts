// Asks a person in the terminal: permissions and questions of the agent. Without a terminal there is nobody to ask.
import { createInterface } from "node:readline/promises";
import type { PermissionData, QuestionData } from "../schema/event-data.ts";
import type { PermissionReplyBody } from "../schema/session.ts";
import type { Terminal } from "./command.ts";
import { harmless, paintFor } from "./style.ts";

export const canAsk = (terminal: Terminal): boolean => Boolean(terminal.stdin.isTTY && terminal.stderr.isTTY);

async function line(terminal: Terminal, prompt: string): Promise<string> {
  const readline = createInterface({ input: terminal.stdin, output: terminal.stderr });
  try {
    return (await readline.question(prompt, { signal: terminal.signal })).trim();
  } finally {
    readline.close();
  }
}

export async function askPermission(terminal: Terminal, { action, metadata }: PermissionData): Promise<PermissionReplyBody> {
  const paint = paintFor(terminal.stderr, terminal.env);
  const always = metadata.options.some((option) => option.kind === "allow_always");
  terminal.stderr.write(`${paint.bold(paint.yellow("Permission:"))} ${harmless(action)}\n`);
  if (metadata.reason) terminal.stderr.write(`  ${harmless(metadata.reason)}\n`);
  if (metadata.diff) terminal.stderr.write(`${harmless(metadata.diff)}\n`);
  for (;;) {
    const answer = await line(terminal, `  [y]es once${always ? ", [a]lways" : ""}, [n]o, or type why not: `);
    if (/^y(es)?$/i.test(answer)) return { reply: "once" };
    if (always && /^a(lways)?$/i.test(answer)) return { reply: "always" };
    if (/^no?$/i.test(answer)) return { reply: "reject" };
    if (answer !== "") return { reply: "reject", message: answer };
  }
}

/** Null: the person does not want to answer. */
export async function askQuestions(terminal: Terminal, { questions }: QuestionData): Promise<string[][] | null> {
  const paint = paintFor(terminal.stderr, terminal.env);
  const answers: string[][] = [];
  for (const { prompt, options, multi_select, free_text } of questions) {
    terminal.stderr.write(`${paint.bold(paint.yellow("Question:"))} ${harmless(prompt)}\n`);
    for (const [index, { label, description }] of options.entries())
      terminal.stderr.write(`  ${index + 1}. ${harmless(label)}${description ? paint.dim(` ${harmless(description)}`) : ""}\n`);
    const how = [
      options.length > 0 ? (multi_select ? "numbers, with commas" : "a number") : "",
      free_text || options.length === 0 ? "your own words" : "",
      "empty to decline",
    ];
    const answer = await line(terminal, `  ${how.filter(Boolean).join(", or ")}: `);
    if (answer === "") return null;
    answers.push(
      answer.split(multi_select ? "," : /(?!)/).map((each) => {
        const option = options[Number(each.trim()) - 1];
        return option?.label ?? each.trim();
      }),
    );
  }
  return answers;
}
