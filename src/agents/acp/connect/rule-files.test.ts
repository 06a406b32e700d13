/** Settings that would break a mode: which files are looked at, and what counts as leave. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { PermissionMode } from "../../../schema/event-data.ts";
import type { SessionConfig } from "../../contract.ts";
import { GEMINI_RULES, OPENCODE_RULES, QWEN_RULES, type RuleFiles, rulesRefusal } from "./rule-files.ts";

let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "dragoman-rules-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), text);
};
const refused = (rules: RuleFiles, permission_mode: PermissionMode, trusted: boolean): boolean => {
  const config = { permission_mode, directory: join(dir, "repo"), trusted } as SessionConfig;
  return rulesRefusal(rules, config, { HOME: join(dir, "home") }) !== null;
};
const modes = (rules: RuleFiles, trusted = true) =>
  (["plan", "default", "accept_edits", "bypass"] as const).map((mode) => refused(rules, mode, trusted));

describe("rules in files", () => {
  it.each([
    [GEMINI_RULES, ".gemini/settings.json", '{ "tools": { "allowed": ["run_shell_command"], }, } // mine'],
    [GEMINI_RULES, ".gemini/policies/all.toml", '[[rule]]\ndecision = "allow"'],
    [GEMINI_RULES, ".gemini/settings.json", '{"mcpServers":{"x":{"trust":true}}}'],
    [QWEN_RULES, ".qwen/settings.json", '{"permissions":{"allow":["Bash"]}}'],
    [OPENCODE_RULES, "opencode.json", '{"agent":{"build":{"permission":{"bash":"allow"}}}}'],
    [OPENCODE_RULES, ".opencode/agent/free.md", "---\npermission:\n  bash: allow\n---"],
  ])("[M5] of a repository refuse every mode but bypass (%#)", (rules, path, text) => {
    expect(modes(rules)).toEqual([false, false, false, false]);
    write(join("repo", path), text);
    expect(modes(rules)).toEqual([true, true, true, false]);
    expect(modes(rules, false)).toEqual([false, false, false, false]);
  });

  it("[M5] of the person refuse plan, where the agent would let them count", () => {
    write("home/.qwen/settings.json", '{"permissions":{"allow":["Edit"]}}');
    write("home/.config/opencode/opencode.json", '{"permission":{"bash":"allow"}}');
    write("home/.gemini/settings.json", '{"tools":{"allowed":["write_file"]}}');
    expect(modes(QWEN_RULES)).toEqual([true, false, false, false]);
    expect(modes(OPENCODE_RULES)).toEqual([true, false, false, false]);
    expect(modes(GEMINI_RULES)).toEqual([false, false, false, false]);
  });

  it("that ask or deny refuse nothing", () => {
    write("repo/opencode.json", '{"permission":{"bash":"ask","edit":"deny"}}');
    write("repo/.qwen/settings.json", '{"permissions":{"deny":["Bash"]}}');
    expect([modes(OPENCODE_RULES), modes(QWEN_RULES)].flat()).not.toContain(true);
  });
});
