import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PermissionMode } from "../settings.ts";
import { RulePolicy } from "./decide.ts";
import { type PermissionRule, readRule } from "./rules.ts";
import { readShellLine } from "./shell-line.ts";

let directory = "";
beforeAll(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), "dragoman-rules-")));
  mkdirSync(join(directory, "src"));
  symlinkSync("/etc", join(directory, "way-out"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const allow = (rule: string): PermissionRule => ({ rule, decision: "allow" });
const deny = (rule: string): PermissionRule => ({ rule, decision: "deny" });
const RULES: PermissionRule[] = [
  ...[
    "git status:*",
    "git log:*",
    "git diff:*",
    "ls:*",
    "cat:*",
    "echo:*",
    "grep:*",
    "npm test",
    "npm run:*",
    "rg:*",
    "find:*",
    "sort:*",
  ].map((one) => allow(`Bash(${one})`)),
  ...["sed:*", "python3:*", "node:*", "bash:*", "env:*", "xargs:*", "tee:*"].map((one) => allow(`Bash(${one})`)),
  deny("Bash(rm:*)"),
  deny("Bash(git push:*)"),
  { rule: "Bash(npm run deploy:*)", decision: "ask" },
  allow("Edit(src/**)"),
  deny("Edit(src/secret/**)"),
  allow("Fetch(*.example.com)"),
  allow("mcp__lab__*"),
];

const bash = (command: string, mode: PermissionMode = "default", rules = RULES) =>
  new RulePolicy({ directory, rules }).decide({ kind: "bash", command, cwd: directory }, mode).decision;

/** Lines that may run by the rules above. */
const ALLOWED = `git status
git status --short -- src
git   status
git log -5 --oneline && git diff
ls -la | grep foo
ls; cat a.txt
ls\ncat a.txt
cat "a b.txt" 'c d.txt' e\\ f.txt
cat $FILE
ls *.ts
echo {a,b}
echo "it's $HOME"
echo '$(not run)'
echo "a \\$(not run)"
echo # comment $(not run)
npm test
npm run build
grep -rn "a|b" src 2>/dev/null
ls > /dev/null 2>&1
ls >&2
echo hi > src/out.txt
echo hi >> src/out.txt
echo hi 2> src/err.txt
cat < src/in.txt
! git status
git status &
python3 script.py
node server.js
bash script.sh
sed -n 1,20p file
sed -n '5p' file
find . -name '*.ts'
git status \\
  --short
echo \\
ls |& grep x`
  .split(/\n(?![ \\]|\s)/)
  .filter((line) => line !== "echo \\");

/** Lines a person must see: not every command is allowed, or the line cannot be judged. */
const ASKED = [
  "curl https://example.com",
  "git status && curl x",
  "git status || curl x",
  "git status; curl x",
  "git status | sh",
  "git status & curl x",
  "git status\ncurl x",
  "git statusx",
  "git",
  "gitstatus",
  "./git status",
  "/tmp/git status",
  "npm test --evil",
  "npm run deploy",
  "npm run deploy --now",
  "echo $(curl x)",
  "echo `curl x`",
  'echo "$(curl x)"',
  'echo "`curl x`"',
  `echo $\{x:-$(curl x)}`,
  "echo $((1+$(curl x)))",
  "echo $'a'",
  "cat <(curl x)",
  "cat <<EOF\nx\nEOF",
  "cat <<< x",
  "eval ls",
  "exec ls",
  "source x",
  ". x",
  "command ls",
  "builtin echo",
  "env ls",
  "env -i ls",
  "xargs ls",
  "ls | xargs cat",
  "bash -c ls",
  "bash -lc ls",
  "sh -c ls",
  "python3 -c 'x'",
  "python3 -Bc x",
  "node -e x",
  "node --eval x",
  "node -pe x",
  "node -r ./x y.js",
  "node $X",
  "find . -exec ls {} +",
  "find . -delete",
  "find . -fprint x",
  "find $X",
  "rg --pre ./x y",
  "sort -o x y",
  "sed -i s/a/b/ x",
  "sed 's/a/b/e' x",
  "sed -n 1e x",
  "awk 'x'",
  "git -c core.pager=x status",
  "git log --ext-diff",
  "PATH=/tmp git status",
  "X=1; git status",
  "FOO=bar",
  "git status > /etc/passwd",
  "git status > ../x",
  "echo x > ~/.bashrc",
  "echo x > way-out/x",
  "echo x > .git/hooks/pre-commit",
  "echo x > src/.git/config",
  "echo x > $FILE",
  "echo x > readme.md",
  "echo x &> readme.md",
  "cat < /etc/shadow",
  "> x",
  "if true; then ls; fi",
  "for x in a; do ls; done",
  "while true; do ls; done",
  "case x in a) ls;; esac",
  "(ls)",
  "{ ls; }",
  "f() { ls; }",
  "[[ -e x ]]",
  "time ls",
  "function f { ls; }",
  "$CMD",
  "l$X",
  '"$X" status',
  "l? status",
  "{ls,cat}",
  "echo 'open",
  'echo "open',
  "echo \\",
  "&& ls",
  "ls ;; cat",
  "ls | | cat",
  "ls\0cat",
  "",
  "   ",
  "# only a comment",
  "sudo ls",
  "timeout 5 ls",
  "nohup ls",
  "ssh host ls",
  "trap 'x' EXIT",
  "alias ls=x",
];

const DENIED = [
  "rm -rf x",
  "/bin/rm -rf x",
  "'rm' -rf x",
  "r\\m x",
  '"rm" x',
  "ls && rm x",
  "ls | rm x",
  "git push",
  "git push --force",
  "git status; git push",
  "bash -c 'rm -rf x'",
  "echo $(rm x)",
  "sudo rm -rf /",
  "if true; then rm x; fi",
  "find . -exec rm {} +",
  "(git push)",
  "xargs /bin/rm",
];

describe("shell lines", () => {
  it(`${ALLOWED.length} lines may run`, () => {
    for (const line of ALLOWED) expect(bash(line), line).toBe("allow");
  });
  it(`${ASKED.length} lines are asked about`, () => {
    for (const line of ASKED) expect(bash(line), JSON.stringify(line)).toBe("ask");
  });
  it(`${DENIED.length} lines are denied, also where nothing is asked`, () => {
    for (const line of DENIED) {
      expect(bash(line), line).toBe("deny");
      expect(bash(line, "bypass"), line).toBe("deny");
    }
  });

  it("without rules everything is asked, in bypass nothing, in plan mode nothing runs", () => {
    for (const line of [...ALLOWED, ...ASKED]) {
      expect(bash(line, "default", []), line).toBe("ask");
      expect(bash(line, "bypass", []), line).toBe("allow");
      expect(bash(line, "plan"), line).toBe("deny");
    }
  });

  it("a rule for a whole line holds for exactly this line, however it is written", () => {
    const rules = [allow("Bash(CI=1 npm test | tee log)")];
    expect(bash("CI=1 npm test | tee log", "default", rules)).toBe("allow");
    expect(bash("CI=1 npm test | tee log; ls", "default", rules)).toBe("ask");
  });

  it("a whole-line rule does not reach into a longer line", () => {
    expect(bash("npm test && curl x")).toBe("ask");
    expect(bash("npm test && ls")).toBe("ask");
  });

  it("says why it cannot judge a line", () => {
    expect(readShellLine("echo $(x)")).toEqual({ kind: "opaque", reason: "it has a substitution" });
    const policy = new RulePolicy({ directory, rules: [] });
    expect(policy.decide({ kind: "bash", command: "eval x", cwd: directory }, "default").reason).toContain(
      "eval runs other commands",
    );
  });

  it("asks about a command that runs outside the directory", () => {
    const policy = new RulePolicy({ directory, rules: RULES });
    expect(policy.decide({ kind: "bash", command: "ls", cwd: "/" }, "default").decision).toBe("ask");
  });
});

describe("files, pages, tools", () => {
  const decide = (kind: "read" | "edit", path: string, mode: PermissionMode = "default", rules = RULES) =>
    new RulePolicy({ directory, rules }).decide({ kind, paths: [path.startsWith("/") ? path : join(directory, path)] }, mode)
      .decision;

  it("reading is free inside, asked outside", () => {
    expect(decide("read", "a")).toBe("allow");
    expect(decide("read", "a", "plan")).toBe("allow");
    expect(decide("read", "/etc/passwd")).toBe("ask");
    expect(decide("read", join(homedir(), ".ssh/id"))).toBe("ask");
    const policy = new RulePolicy({ directory, rules: [], readable: ["/skills"] });
    expect(policy.decide({ kind: "read", paths: ["/skills/a/SKILL.md"] }, "default").decision).toBe("allow");
  });

  it("editing: by rule, by mode, never into places that run code", () => {
    expect(decide("edit", "src/a.ts")).toBe("allow");
    expect(decide("edit", "src/secret/a")).toBe("deny");
    expect(decide("edit", "src/secret/a", "bypass")).toBe("deny");
    expect(decide("edit", "lib/a.ts")).toBe("ask");
    expect(decide("edit", "lib/a.ts", "accept_edits")).toBe("allow");
    expect(decide("edit", "/etc/hosts", "accept_edits")).toBe("ask");
    expect(decide("edit", "lib/a.ts", "plan")).toBe("deny");
    for (const path of [
      ".git/config",
      "src/.git/hooks/x",
      ".claude/settings.json",
      ".github/workflows/a.yml",
      "src/.envrc",
      ".codex/x",
    ]) {
      expect(decide("edit", path, "accept_edits", [allow("Edit")]), path).toBe("ask");
    }
    const policy = new RulePolicy({ directory, rules: RULES });
    const both = policy.decide({ kind: "edit", paths: [join(directory, "src/a"), join(directory, "src/secret/b")] }, "default");
    expect(both.decision).toBe("deny");
  });

  it("a directory that itself lies in such a place can be worked in", () => {
    const inner = join(directory, ".claude/worktrees/x");
    const policy = new RulePolicy({ directory: inner, rules: [] });
    expect(policy.decide({ kind: "edit", paths: [join(inner, "a.ts")] }, "accept_edits").decision).toBe("allow");
    expect(policy.decide({ kind: "edit", paths: [join(inner, ".git/x")] }, "accept_edits").decision).toBe("ask");
  });

  it("pages by host, tools by name", () => {
    const policy = new RulePolicy({ directory, rules: RULES });
    const fetched = (url: string) => policy.decide({ kind: "fetch", url }, "default").decision;
    expect(fetched("https://docs.example.com/x")).toBe("allow");
    expect(fetched("https://example.com.evil.org/")).toBe("ask");
    expect(fetched("https://evil.org/?docs.example.com")).toBe("ask");
    expect(fetched("nonsense")).toBe("ask");
    const other = (name: string) => policy.decide({ kind: "other", name }, "default").decision;
    expect(other("mcp__lab__echo")).toBe("allow");
    expect(other("mcp__other__echo")).toBe("ask");
    expect(policy.decide({ kind: "internal" }, "plan").decision).toBe("allow");
  });
});

describe("rules with examples", () => {
  it("are checked when they are read", () => {
    const rule = {
      rule: "Bash(git log:*)",
      decision: "allow",
      match: ["git log -5"],
      not_match: ["git log; rm x", "git logs"],
    } as const;
    expect(() => readRule({ ...rule, match: [...rule.match], not_match: [...rule.not_match] }, directory)).not.toThrow();
    expect(() => readRule({ ...rule, match: ["git status"], not_match: [] }, directory)).toThrow("does not match its example");
    expect(() => readRule({ ...rule, match: [], not_match: ["git log x"] }, directory)).toThrow("which it must not");
    expect(() =>
      readRule({ rule: "Edit(src/**)", decision: "allow", match: ["src/a"], not_match: ["lib/a", "src/../x"] }, directory),
    ).not.toThrow();
    expect(() =>
      readRule({ rule: "Fetch(a.org)", decision: "allow", match: ["https://a.org/x"], not_match: ["https://b.org"] }, directory),
    ).not.toThrow();
  });

  it("nonsense is refused", () => {
    for (const rule of ["", "Bash(", "Bash()", "git status", "Bash(:*)"]) {
      expect(() => readRule({ rule, decision: "allow" }, directory), rule).toThrow();
    }
  });
});
