/**
 * `allowed-tools` of a skill narrows asking and never denies: the tools it names need no question while it is active, as far as the session's mode allows.
 * Names of other agents are understood; what is not known is a warning.
 */
import type { PermissionMode } from "../../schema/event-data.ts";
import type { SkillWarning } from "./skill.ts";

/** Other agents' names of tools that we have. */
const SAME_TOOL: Record<string, string> = {
  read: "read",
  notebookread: "read",
  write: "write",
  edit: "edit",
  multiedit: "edit",
  apply_patch: "apply_patch",
  bash: "bash",
  shell: "bash",
  glob: "glob",
  grep: "grep",
  ls: "ls",
  webfetch: "fetch",
  fetch: "fetch",
  todowrite: "plan",
  plan: "plan",
  askuserquestion: "ask",
  ask: "ask",
  skill: "skill",
  task: "task",
  bashoutput: "task",
  agent: "agent",
};
const READ_ONLY = new Set(["read", "glob", "grep", "ls", "plan", "ask", "skill"]);

/** Tools one by one: separated by spaces or commas, but not within brackets: `Bash(git add:*)`. */
export function splitTools(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(splitTools);
  if (typeof value !== "string") return [];
  return value.match(/[^\s,()]+(?:\([^)]*\))?/g) ?? [];
}

export type EffectiveTools = { tools: string[]; warnings: SkillWarning[] };

/** `mode`: the session's. In `plan` only tools that read. */
export function effectiveAllowedTools(allowed: readonly string[], mode: PermissionMode, skill?: string): EffectiveTools {
  const tools = new Set<string>();
  const warnings: SkillWarning[] = [];
  for (const each of allowed) {
    const [, name = "", rule = ""] = /^([^(]+)(\(.*\))?$/.exec(each) ?? [];
    const ours = name.startsWith("mcp__") ? name : SAME_TOOL[name.toLowerCase()];
    if (ours === undefined)
      warnings.push({
        kind: "unknown_tool",
        detail: `allowed-tools names ${each}, which is no tool here.`,
        ...(skill === undefined ? {} : { name: skill }),
      });
    else if (mode !== "plan" || READ_ONLY.has(ours)) tools.add(`${ours}${rule}`);
  }
  return { tools: [...tools], warnings };
}
