/** Requests Gemini CLI, Qwen Code and GitHub Copilot CLI make for themselves. */
import type { SideCallRule } from "../../kit/verify/side-calls.ts";

export const acpSideCalls: readonly SideCallRule[] = [
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
