/** What a tool was asked for, read from its arguments whatever the agent calls them. Nothing here throws: arguments are the agent's. */
import type { ContentPart, PlanEntry } from "../../../../src/schema/content.ts";

export type ToolCall = Extract<ContentPart, { type: "tool_call" }>;
export type Fields = Record<string, unknown>;

export function fieldsOf(text: string): Fields {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
  } catch {
    return {};
  }
}

/** The first of these that is a text. */
export function textIn(fields: Fields, ...names: string[]): string | null {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === "string" && value !== "") return value;
  }
  return null;
}

/** The exact command line, where the arguments hold one. */
export function commandOf(text: string): string | null {
  const { command, cmd } = fieldsOf(text);
  const value = command ?? cmd;
  if (typeof value === "string") return value;
  return Array.isArray(value) && value.every((word) => typeof word === "string") ? value.join(" ") : null;
}

const WRAPPED = /^(?:\/usr)?(?:\/bin\/)?(?:ba|z|da)?sh -l?c (['"])([\s\S]*)\1$/;

/** The command without the shell an agent wraps around each of them. Only for titles: what is decided about is shown exactly. */
export function plainCommand(command: string): string {
  const match = WRAPPED.exec(command);
  if (!match?.[2]) return command;
  return match[1] === '"' ? match[2].replace(/\\(["$`\\])/g, "$1") : match[2].replaceAll(`'"'"'`, "'").replaceAll(`'\\''`, "'");
}

/** The text says the command, with or without the shell around it: whoever shows both shows it twice. */
export const namesCommand = (text: string, command: string): boolean =>
  text.includes(command) || text.includes(plainCommand(command));

const STATES: Record<string, PlanEntry["status"]> = {
  pending: "pending",
  todo: "pending",
  in_progress: "in_progress",
  inProgress: "in_progress",
  completed: "completed",
  done: "completed",
  cancelled: "cancelled",
};

/** A list of things to do, as agents write them into their to-do tools. */
export function todosIn(fields: Fields): PlanEntry[] | null {
  const list = fields.todos ?? fields.plan ?? fields.entries ?? fields.items;
  if (!Array.isArray(list) || list.length === 0) return null;
  const entries = list.flatMap((each): PlanEntry[] => {
    const entry = (typeof each === "object" && each !== null ? each : {}) as Fields;
    const text = typeof each === "string" ? each : textIn(entry, "content", "text", "step", "title", "description");
    return text === null ? [] : [{ text, status: STATES[String(entry.status)] ?? "pending" }];
  });
  return entries.length > 0 ? entries : null;
}

export type Asked = { header: string | null; prompt: string; options: string[] };

export function questionsIn(fields: Fields): Asked[] {
  const list = Array.isArray(fields.questions) ? fields.questions : [];
  return list.flatMap((each): Asked[] => {
    const entry = (typeof each === "object" && each !== null ? each : {}) as Fields;
    const prompt = textIn(entry, "question", "prompt", "text");
    if (prompt === null) return [];
    const options = Array.isArray(entry.options) ? entry.options : [];
    return [
      {
        header: textIn(entry, "header"),
        prompt,
        options: options.flatMap((option: unknown) =>
          typeof option === "string" ? [option] : (textIn((option ?? {}) as Fields, "label", "value") ?? []),
        ),
      },
    ];
  });
}
