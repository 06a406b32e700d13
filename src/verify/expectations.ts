// Compares what happened with what the scenario expects. Each difference is one sentence.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ToolKind } from "../schema/content.ts";
import type { UniversalEvent } from "../schema/event.ts";
import type { Item } from "../schema/item.ts";
import { foldItems } from "../schema/projection/item-projection.ts";
import type { RecordedRequest } from "./model-server/index.ts";
import type { Expectation, LogicalTool } from "./scenario/index.ts";

export type Evidence = {
  events: readonly UniversalEvent[];
  /** Requests of this scenario's conversation, side calls left out. */
  requests: readonly RecordedRequest[];
  directory: string;
};

/** Agents without a tool of that name do the same with another one: Codex reads files with a command. */
const KINDS: Record<LogicalTool, readonly ToolKind[]> = {
  shell: ["shell"],
  read: ["read", "shell"],
  write: ["write", "edit"],
  edit: ["edit", "write"],
  search: ["search", "shell"],
  glob: ["search", "read", "shell"],
  todo: ["plan", "other"],
  ask: ["question"],
  subagent: ["subagent"],
  plan: ["plan", "question", "other"],
  enter_plan: ["plan", "other"],
  web_fetch: ["fetch", "shell"],
  web_search: ["web_search"],
  mcp: ["mcp"],
};

export async function differences(expected: Expectation, evidence: Evidence): Promise<string[]> {
  const { events } = evidence;
  const items = foldItems(events);
  return [
    ...ending(expected, events),
    ...types(expected, events),
    ...texts(expected, items),
    ...tools(expected, items),
    ...history(expected, evidence.requests),
    ...(await files(expected, evidence.directory)),
    ...(await filesWithout(expected, evidence.directory)),
  ];
}

const quoted = (values: readonly unknown[]): string => values.map((value) => JSON.stringify(value)).join(" or ");
const excerpt = (text: string): string => JSON.stringify(text.length > 160 ? `…${text.slice(-160)}` : text);
const listOf = <T>(value: T | readonly T[]): readonly T[] => (Array.isArray(value) ? value : [value as T]);

function ending({ turns, stop_reason, error_code }: Expectation, events: readonly UniversalEvent[]): string[] {
  const last = events.findLast((event) => event.type === "turn.ended");
  const found: string[] = [];
  const begun = events.filter((event) => event.type === "turn.started").length;
  if (turns !== undefined && begun !== turns) found.push(`there were ${begun} turns, not ${turns}`);
  if (stop_reason !== undefined && !(last && listOf(stop_reason).includes(last.data.stop_reason)))
    found.push(`the last turn ended with ${quoted([last?.data.stop_reason ?? "nothing"])}, not ${quoted(listOf(stop_reason))}`);
  if (error_code !== undefined) {
    const codes = events.flatMap((event) => (event.type === "error" ? [event.data.code] : []));
    if (last?.data.error_code) codes.push(last.data.error_code);
    if (!codes.some((code) => listOf(error_code).includes(code)))
      found.push(`the error codes are ${quoted(codes) || "none"}, not ${quoted(listOf(error_code))}`);
  }
  return found;
}

function types({ events: wanted = [], no_events: unwanted = [] }: Expectation, events: readonly UniversalEvent[]): string[] {
  const seen = new Set<string>(events.map((event) => event.type));
  return [
    ...wanted.filter((type) => !seen.has(type)).map((type) => `no ${type} came`),
    ...unwanted.filter((type) => seen.has(type)).map((type) => `${type} came and should not`),
  ];
}

/** What the model says beyond its script: copilot 1.0.102, allowed everything, asks it to go on until it gives up. */
const BEYOND = "Done.";

const messageText = (item: Item): string =>
  item.content.map((part) => (part.type === "text" || part.type === "refusal" ? part.text : "")).join("");

function texts({ final_text = [], seen_text = [] }: Expectation, items: readonly Item[]): string[] {
  const own = items.filter((item) => item.kind === "message" && item.role === "assistant" && item.parent_id === null);
  const last = own.map(messageText).findLast((text) => text !== "" && text !== BEYOND) ?? "";
  const all = items
    .filter((item) => item.role !== "user")
    .flatMap((item) => item.content)
    .map((part) => ("text" in part && part.text ? part.text : part.type === "tool_result" ? part.output : ""))
    .join("\n");
  return [
    ...final_text
      .filter((text) => !last.includes(text))
      .map((text) => `the last message is ${excerpt(last)}, without ${quoted([text])}`),
    ...seen_text.filter((text) => !all.includes(text)).map((text) => `${quoted([text])} was never seen`),
  ];
}

function tools({ tools: wanted = [] }: Expectation, items: readonly Item[]): string[] {
  const calls = items.flatMap((item) => item.content).filter((part) => part.type === "tool_call");
  const kinds = new Set(calls.map((call) => call.tool_kind));
  const said = calls.map((call) => `${call.name} (${call.tool_kind ?? "no kind"})`).join(", ") || "none";
  return wanted
    .filter((tool) => !KINDS[tool].some((kind) => kinds.has(kind)))
    .map((tool) => `no call of a ${tool} tool is visible; calls: ${said}`);
}

function history(
  { model_saw: wanted = [], model_forgot: unwanted = [] }: Expectation,
  requests: readonly RecordedRequest[],
): string[] {
  if (wanted.length === 0 && unwanted.length === 0) return [];
  const last = requests.at(-1);
  if (!last) return ["the model was never asked"];
  // The request says more than the conversation: instructions in full, and what the tools are for.
  const seen = JSON.stringify([last.history, last.body]);
  const isSeen = (text: string): boolean => seen.includes(JSON.stringify(text).slice(1, -1));
  return [
    ...wanted.filter((text) => !isSeen(text)).map((text) => `the model did not see ${quoted([text])} in its last request`),
    ...unwanted.filter(isSeen).map((text) => `the model saw ${quoted([text])} in its last request and should not`),
  ];
}

async function files({ files: wanted = {} }: Expectation, directory: string): Promise<string[]> {
  const found: string[] = [];
  for (const [path, content] of Object.entries(wanted)) {
    const actual = await readFile(join(directory, path), "utf8").catch(() => null);
    if (content === null && actual !== null) found.push(`${path} exists and should not`);
    if (content !== null && actual === null) found.push(`${path} does not exist`);
    if (content !== null && actual !== null && !actual.includes(content))
      found.push(`${path} is ${excerpt(actual)}, without ${quoted([content])}`);
  }
  return found;
}

async function filesWithout({ files_without: unwanted = {} }: Expectation, directory: string): Promise<string[]> {
  const found: string[] = [];
  for (const [path, text] of Object.entries(unwanted)) {
    const actual = await readFile(join(directory, path), "utf8").catch(() => "");
    if (actual.includes(text)) found.push(`${path} contains ${quoted([text])} and should not`);
  }
  return found;
}
