/** `allowed-tools` of a skill as rules that allow. Names are those of our own tools; what is no rule allows nothing. */
import { type PermissionRule, RuleError, readRule } from "./rules.ts";

const RULE_NAMES: Readonly<Record<string, string>> = {
  bash: "Bash",
  read: "Read",
  ls: "Read",
  glob: "Read",
  grep: "Read",
  write: "Edit",
  edit: "Edit",
  apply_patch: "Edit",
  fetch: "Fetch",
  agent: "agent",
};

export function skillRules(allowed: readonly string[], directory: string): PermissionRule[] {
  return allowed.flatMap((text) => {
    const [, tool = "", pattern = ""] = /^([^(]+)(\(.*\))?$/s.exec(text.trim()) ?? [];
    const name = tool.startsWith("mcp__") ? tool : Object.hasOwn(RULE_NAMES, tool) ? RULE_NAMES[tool] : undefined;
    if (name === undefined) return [];
    const rule = { rule: `${name}${pattern.replace(/^\(domain:/, "(")}`, decision: "allow" as const };
    return isRule(rule, directory) ? [rule] : [];
  });
}

function isRule(rule: PermissionRule, directory: string): boolean {
  try {
    readRule(rule, directory);
    return true;
  } catch (error) {
    if (error instanceof RuleError) return false;
    throw error;
  }
}
