// Requests an agent makes for itself: naming the session, summarising for compaction, guessing the next prompt, checking its quota.
// They carry the user's own text, so they must be recognised before a scenario is looked up, or they would be answered from the script.

import { lastUserText, type ModelRequest } from "./model-request.ts";

export type SideCall =
  | { readonly kind: "title" | "summary" | "suggestion" | "quota" | "label" | "page" | "memory" }
  /** No tools and a schema for the answer: a classifier. */
  | { readonly kind: "structured" }
  /** One tool, and the client insists on it. */
  | { readonly kind: "forced_tool"; readonly tool: string };

interface Rule {
  readonly kind: "title" | "summary" | "suggestion" | "quota" | "label" | "page" | "memory";
  readonly where: "system" | "user";
  readonly pattern: RegExp;
  /** Also when tools are on offer; without it such a system prompt is taken for that of an agent which merely mentions the subject. */
  readonly with_tools?: boolean;
}

const RULES: readonly Rule[] = [
  // claude 2.1.325
  { kind: "summary", where: "user", pattern: /Your task is to create a detailed summary of (the|this)\b/ },
  { kind: "suggestion", where: "user", pattern: /^\s*\[SUGGESTION MODE:/ },
  { kind: "label", where: "system", pattern: /Write a short summary label describing what these tool calls/ },
  { kind: "page", where: "user", pattern: /^\s*Web page content:/ },
  { kind: "quota", where: "user", pattern: /^\s*quota\s*$/ },
  // set_model asks a model it does not know for one token.
  { kind: "quota", where: "user", pattern: /^\s*Hi\s*$/ },
  { kind: "title", where: "system", pattern: /Analyze if this message indicates a new conversation topic|sentence-case title/i },
  // codex 0.166
  { kind: "summary", where: "user", pattern: /You are performing a CONTEXT CHECKPOINT COMPACTION/ },
  // opencode 1.18
  { kind: "title", where: "system", pattern: /You are a title generator/i },
  { kind: "title", where: "user", pattern: /^\s*Generate a (short |concise )?title for this (conversation|session|thread)/i },
  {
    kind: "summary",
    where: "system",
    pattern: /tasked with summarizing conversations|context summarization assistant/i,
    with_tools: true,
  },
  {
    kind: "summary",
    where: "user",
    pattern: /Create a new anchored summary|Provide a detailed prompt for continuing our conversation/i,
  },
  // gemini 0.61, qwen 0.24
  {
    kind: "summary",
    where: "system",
    pattern: /summarizes internal chat history|distilling chat history|<state_snapshot>/i,
    with_tools: true,
  },
  { kind: "memory", where: "system", pattern: /You are now acting as the managed memory \w+ subagent/i, with_tools: true },
  { kind: "title", where: "user", pattern: /Summarize the user's (primary|main) (intent|goal)[\s\S]*conversation/i },
  {
    kind: "suggestion",
    where: "system",
    pattern: /prompt suggestion|suggest(s|ing)? what the user might (naturally )?type next/i,
  },
  // copilot 1.0
  { kind: "summary", where: "user", pattern: /Please create a detailed summary of the (entire )?conversation/i },
  { kind: "title", where: "system", pattern: /generate a (short|brief|concise)[^.\n]{0,40}(title|name) for/i },
];

export function sideCall(request: ModelRequest): SideCall | undefined {
  const user = lastUserText(request);
  // An agent's main system prompt is long and speaks of many things; a side call's says its one purpose at the start.
  const system = request.system.slice(0, 2000);
  for (const rule of RULES) {
    if (rule.where === "system" && request.tools.length > 0 && !rule.with_tools) continue;
    if (rule.pattern.test(rule.where === "system" ? system : user)) return { kind: rule.kind };
  }
  if (request.forced_tool !== undefined && request.tools.length === 1) return { kind: "forced_tool", tool: request.forced_tool };
  if (request.tools.length === 0 && request.json_schema) return { kind: "structured" };
  return undefined;
}
