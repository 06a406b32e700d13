/**
 * Decides whether a call may run: rules first (deny, then ask, then allow), then the session's mode. Every command of a shell line and every file it writes must be
 * allowed by itself; the strictest decision holds.
 */
import { homedir } from "node:os";
import type { Decision, PermissionPolicy } from "../call-runner.ts";
import type { PermissionSubject } from "../permission-subject.ts";
import type { PermissionMode } from "../settings.ts";
import { isInside, realPath, shownPath } from "../tools/paths.ts";
import { type PermissionRule, partsOfLine, type ReadRule, type RulePart, readRule } from "./rules.ts";
import { readShellLine } from "./shell-line.ts";
import { skillRules } from "./skill-rules.ts";

export interface PolicyOptions {
  readonly directory: string;
  readonly rules: readonly PermissionRule[];
  /** Places outside the directory that may be read freely, such as folders of skills. */
  readonly readable?: readonly string[];
}

/** Whoever writes here runs code later, in another program and without being asked. */
const PROTECTED =
  /(^|\/)(\.git|\.hg|\.svn|\.ssh|\.aws|\.gnupg|\.dragoman|\.agents|\.claude|\.codex|\.vscode|\.idea|\.husky|\.github\/workflows)(\/|$)/;
const SHELL_FILES =
  /(^|\/)\.(bashrc|bash_profile|bash_login|bash_logout|profile|zshrc|zshenv|zprofile|zlogin|envrc|npmrc|gitconfig)$/;
const HARMLESS_TARGETS: ReadonlySet<string> = new Set(["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"]);

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;

export class RulePolicy implements PermissionPolicy {
  readonly #directory: string;
  readonly #rules: readonly ReadRule[];
  readonly #readable: readonly string[];
  readonly #options: PolicyOptions;
  /** The last one with rules of skills. */
  #widened: { key: string; policy: RulePolicy } | null = null;

  /** Throws `RuleError` for a rule that cannot be read or does not fit its examples. */
  constructor(options: PolicyOptions) {
    this.#options = options;
    this.#directory = options.directory;
    this.#rules = options.rules.map((rule) => readRule(rule, options.directory));
    this.#readable = options.readable ?? [];
  }

  decide(subject: PermissionSubject, mode: PermissionMode, _call = "", allowed: readonly string[] = []): Decision {
    if (allowed.length > 0) return this.#with(allowed).decide(subject, mode);
    switch (subject.kind) {
      case "internal":
        return { decision: "allow", reason: "it changes nothing outside the session" };
      case "read":
      case "edit":
        if (subject.paths.length === 0) return { decision: "allow", reason: "it touches no file" };
        return strictest(subject.paths.map((path) => this.#part({ kind: subject.kind, path }, mode)));
      case "bash":
        return this.#line(subject, mode);
      case "fetch":
        return this.#part({ kind: "fetch", url: subject.url }, mode);
      case "other":
        return this.#part({ kind: "other", name: subject.name }, mode);
      default:
        return subject satisfies never;
    }
  }

  /** A skill narrows asking: its tools are rules that allow, below all that deny or ask. */
  #with(allowed: readonly string[]): RulePolicy {
    const key = allowed.join("\n");
    if (this.#widened?.key !== key) {
      const { directory, rules, readable = [] } = this.#options;
      this.#widened = {
        key,
        policy: new RulePolicy({ directory, rules: [...rules, ...skillRules(allowed, directory)], readable }),
      };
    }
    return this.#widened.policy;
  }

  #line(subject: Extract<PermissionSubject, { kind: "bash" }>, mode: PermissionMode): Decision {
    const { command: line, cwd } = subject;
    const decisions = partsOfLine(line).map((part) => this.#part(part, mode));
    // A rule allows a command in the sandbox, not out of it.
    if (subject.unsandboxed && mode !== "bypass") decisions.push({ decision: "ask", reason: "it runs outside the sandbox" });
    if (!isInside(this.#directory, cwd)) decisions.push(this.#outside("runs", cwd, mode));
    const read = readShellLine(line);
    if (read.kind === "opaque") return strictest(decisions);
    for (const { direction, target } of read.commands.flatMap((command) => command.redirects)) {
      if (target === null || HARMLESS_TARGETS.has(target)) continue;
      decisions.push(this.#part({ kind: direction === "read" ? "read" : "edit", path: realPath(cwd, target) }, mode));
    }
    return strictest(decisions);
  }

  #part(part: RulePart, mode: PermissionMode): Decision {
    const rules = this.#rules.filter((rule) => rule.matches(part));
    const denied = rules.find((rule) => rule.decision === "deny");
    if (denied !== undefined) return { decision: "deny", reason: `the rule ${denied.source} forbids it` };
    if (mode === "plan" && part.kind !== "read")
      return { decision: "deny", reason: "in plan mode nothing is changed and nothing is run" };
    if (mode === "bypass") return { decision: "allow", reason: "nothing is asked in this mode" };
    const asked = rules.find((rule) => rule.decision === "ask");
    if (asked !== undefined) return { decision: "ask", reason: `the rule ${asked.source} wants it to be asked` };
    // No rule opens these: they are ways out of every other rule.
    if (part.kind === "edit" && isProtected(this.#directory, part.path)) {
      return { decision: "ask", reason: `${shownPath(this.#directory, part.path)} can make other programs run code` };
    }
    const allowed = rules.find((rule) => rule.decision === "allow");
    if (allowed !== undefined) return { decision: "allow", reason: `the rule ${allowed.source} allows it` };
    return this.#byMode(part, mode);
  }

  #byMode(part: RulePart, mode: PermissionMode): Decision {
    switch (part.kind) {
      case "read":
        if (this.#isReadable(part.path)) return { decision: "allow", reason: "reading in the directory is free" };
        return this.#outside("reads", part.path, mode);
      case "edit":
        if (!isInside(this.#directory, part.path)) return this.#outside("changes", part.path, mode);
        if (mode === "accept_edits") return { decision: "allow", reason: "edits in the directory are accepted" };
        return { decision: "ask", reason: `it changes ${shownPath(this.#directory, part.path)}` };
      case "command":
        return { decision: "ask", reason: `it runs ${part.command.words[0]?.text ?? "a command"}` };
      case "line": {
        const read = readShellLine(part.line);
        return {
          decision: "ask",
          reason: `the command cannot be judged: ${read.kind === "opaque" ? read.reason : "it is not plain"}`,
        };
      }
      case "fetch":
        return { decision: "ask", reason: `it fetches ${part.url}` };
      case "other":
        return { decision: "ask", reason: `it calls ${part.name}` };
      default:
        return part satisfies never;
    }
  }

  #isReadable(path: string): boolean {
    return [this.#directory, ...this.#readable].some((place) => isInside(place, path));
  }

  #outside(what: string, path: string, mode: PermissionMode): Decision {
    if (mode === "bypass") return { decision: "allow", reason: "nothing is asked in this mode" };
    return { decision: "ask", reason: `it ${what} ${path}, outside the directory` };
  }
}

/** A directory may itself lie in such a place: inside it, only what is below counts. */
export function isProtected(directory: string, path: string): boolean {
  const shown = shownPath(directory, path);
  if (PROTECTED.test(shown) || SHELL_FILES.test(shown)) return true;
  return !isInside(directory, path) && isInside(`${homedir()}/.config`, path);
}

function strictest(decisions: readonly Decision[]): Decision {
  return decisions.reduce((worst, one) => (STRICTNESS[one.decision] > STRICTNESS[worst.decision] ? one : worst));
}
