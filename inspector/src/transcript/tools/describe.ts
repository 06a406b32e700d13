/** A tool call in words: a verb that says what kind of thing it is, and what it was done to. The same words whatever the agent calls its tools. */
import type { ToolKind } from "../../../../src/schema/content.ts";
import type { IconName } from "../../ui/icons.tsx";
import { plainPreview } from "../reasoning-head.ts";
import { commandOf, fieldsOf, plainCommand, questionsIn, type ToolCall, textIn, todosIn } from "./arguments.ts";

/** `ask` follows "Wants to", while a person is asked whether it may. */
type Words = { icon: IconName; ask: string; now: string; done: string };
/** Where a call stands. `denied`: it was never made; `failed`: nobody knows here whether it was made. */
export type Stage = "asked" | "running" | "done" | "denied" | "failed";

const WORDS: Record<Exclude<ToolKind, "other">, Words> = {
  shell: { icon: "terminal", ask: "run", now: "Running", done: "Ran" },
  read: { icon: "file", ask: "read", now: "Reading", done: "Read" },
  write: { icon: "edit", ask: "write", now: "Writing", done: "Wrote" },
  edit: { icon: "edit", ask: "edit", now: "Editing", done: "Edited" },
  delete: { icon: "trash", ask: "delete", now: "Deleting", done: "Deleted" },
  move: { icon: "file", ask: "move", now: "Moving", done: "Moved" },
  search: { icon: "search", ask: "search", now: "Searching", done: "Searched" },
  fetch: { icon: "globe", ask: "fetch", now: "Fetching", done: "Fetched" },
  web_search: { icon: "globe", ask: "search the web for", now: "Searching the web", done: "Searched the web" },
  mcp: { icon: "plug", ask: "call", now: "Calling", done: "Called" },
  subagent: { icon: "users", ask: "start a sub-agent:", now: "Sub-agent", done: "Sub-agent" },
  plan: { icon: "list", ask: "plan", now: "Planning", done: "Plan" },
  question: { icon: "question", ask: "ask", now: "Asking", done: "Asked" },
  skill: { icon: "flag", ask: "use the skill", now: "Using skill", done: "Used skill" },
  think: { icon: "bulb", ask: "think", now: "Thinking", done: "Thought" },
};

export type Described = { icon: IconName; verb: string; subject: string; mono: boolean };

const MONO: ReadonlySet<ToolKind> = new Set(["shell", "read", "write", "edit", "delete", "move", "search", "fetch"]);

export function describe(part: ToolCall, stage: Stage, directory: string): Described {
  const kind = part.tool_kind ?? "other";
  const words =
    kind === "other"
      ? { icon: "wrench" as const, ask: "use", now: humanName(part.name), done: humanName(part.name) }
      : WORDS[kind];
  return {
    icon: words.icon,
    verb: verbOf(words, stage),
    subject: subjectOf(part, kind, directory),
    mono: MONO.has(kind),
  };
}

function verbOf({ ask, now, done }: Words, stage: Stage): string {
  switch (stage) {
    case "asked":
      return `Wants to ${ask}`;
    case "running":
      return now;
    case "done":
      return done;
    case "denied":
      return `Did not ${ask}`;
    case "failed":
      return "Failed:";
  }
}

/** For the sign that something runs. */
export const toolTitle = (part: ToolCall): string => {
  const { verb, subject } = describe(part, "running", "");
  return `${verb} ${subject}`.trim().slice(0, 120);
};

/** `apply_patch`, `applyPatch`: Apply patch. */
export const humanName = (name: string): string => {
  const words = name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replace(/[_-]+/g, " ")
    .trim()
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

export const relativePath = (path: string, directory: string): string =>
  directory !== "" && path.startsWith(`${directory}/`) ? path.slice(directory.length + 1) : path;

function subjectOf(part: ToolCall, kind: ToolKind, directory: string): string {
  const fields = fieldsOf(part.arguments);
  const title = part.title && part.title !== part.name ? part.title : "";
  const paths = part.paths?.map((path) => relativePath(path, directory)).join(", ") ?? "";
  switch (kind) {
    case "shell": {
      const command = commandOf(part.arguments);
      return command === null ? title : plainCommand(command);
    }
    case "read":
    case "write":
    case "edit":
    case "delete":
    case "move":
      return paths || patchedPaths(fields, directory) || title;
    case "search":
      return textIn(fields, "pattern", "query", "glob") ?? title;
    case "fetch":
      return textIn(fields, "url", "uri") ?? title;
    case "web_search":
      return textIn(fields, "query") ?? title;
    case "mcp":
      return mcpName(part.name, title);
    case "question": {
      const asked = questionsIn(fields);
      const plan = textIn(fields, "plan");
      if (plan !== null) return plainPreview(plan);
      return asked.length > 1 ? `${asked.length} questions` : (asked[0]?.prompt ?? "");
    }
    case "plan": {
      const todos = todosIn(fields);
      if (todos) return `${todos.filter(({ status }) => status === "completed").length} of ${todos.length} done`;
      const plan = textIn(fields, "plan", "text");
      return plan === null ? title : plainPreview(plan);
    }
    case "subagent":
      return textIn(fields, "description") ?? title.split("\n", 1)[0] ?? "";
    default:
      return title || paths || preview(part.arguments);
  }
}

/** `lab: echo`, however the agent writes it. */
function mcpName(name: string, title: string): string {
  if (title) return title;
  const match = /^(?:mcp__)?([^_]+(?:_[^_]+)*?)__?(.+)$/.exec(name);
  return match ? `${match[1]}: ${match[2]}` : name;
}

const PATCHED = /^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm;

function patchedPaths(fields: ReturnType<typeof fieldsOf>, directory: string): string {
  const patch = textIn(fields, "input", "patch");
  return patch === null ? "" : Array.from(patch.matchAll(PATCHED), ([, path = ""]) => relativePath(path, directory)).join(", ");
}

const preview = (text: string): string => (text === "{}" ? "" : text.slice(0, 200));
