/** Shell lines put together from parts whose decisions are known: what joins or wraps commands never makes a line more allowed than its parts. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RulePolicy } from "./decide.ts";
import type { PermissionRule } from "./rules.ts";

const RULES: readonly PermissionRule[] = [
  ...["git status:*", "git log:*", "ls:*", "cat:*", "echo:*", "grep:*", "npm run:*", "rg:*"].map(
    (one): PermissionRule => ({ rule: `Bash(${one})`, decision: "allow" }),
  ),
  ...["rm:*", "git push:*"].map((one): PermissionRule => ({ rule: `Bash(${one})`, decision: "deny" })),
];

const ALLOWED = ["git status", "git log -5", "ls -la", "cat a.txt", 'echo "a b"', "grep -n x a.txt", "npm run build", "rg x"];
const ASKED = ["curl x", "make", "npm install", "./run"];
const DENIED = ["rm -rf x", "git push"];
const JOINS = [" && ", " || ", "; ", " | ", "\n", " & "];
/** Forms whose inside the rules do not judge as a command of the line. */
const WRAPS: readonly ((line: string) => string)[] = [
  (line) => `(${line})`,
  (line) => `{ ${line}; }`,
  (line) => `if true; then ${line}; fi`,
  (line) => `while true; do ${line}; done`,
  (line) => `echo $(${line})`,
  (line) => `echo \`${line}\``,
  (line) => `echo "$(${line})"`,
  (line) => `bash -c '${line}'`,
  (line) => `sudo ${line}`,
  (line) => `timeout 5 ${line}`,
  (line) => `env ${line}`,
  (line) => `nohup ${line}`,
  (line) => `eval ${line}`,
];

const joined = (left: readonly string[], right: readonly string[]): string[] =>
  left.flatMap((one) => right.flatMap((other) => JOINS.map((join) => `${one}${join}${other}`)));
const wrapped = (lines: readonly string[]): string[] => lines.flatMap((line) => WRAPS.map((wrap) => wrap(line)));

const TABLE = {
  allow: [...ALLOWED, ...joined(ALLOWED.slice(0, 4), ALLOWED.slice(4))],
  ask: [...ASKED, ...joined(ALLOWED, ASKED), ...joined(ASKED.slice(0, 1), ALLOWED), ...wrapped([...ALLOWED, ...ASKED])],
  deny: [...DENIED, ...joined(ALLOWED, DENIED), ...joined(DENIED, ASKED), ...wrapped(DENIED)],
} as const;

let directory = "";
beforeAll(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), "dragoman-lines-")));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe("shell lines made of parts", () => {
  it("are at least 500 different ones", () => {
    expect(new Set(Object.values(TABLE).flat()).size).toBeGreaterThanOrEqual(500);
  });
  it.each(["allow", "ask", "deny"] as const)("%s", (wanted) => {
    const policy = new RulePolicy({ directory, rules: [...RULES] });
    const wrong = TABLE[wanted].flatMap((command) => {
      const { decision } = policy.decide({ kind: "bash", command, cwd: directory }, "default");
      return decision === wanted ? [] : [{ command, decision }];
    });
    expect(wrong).toEqual([]);
  });
});
