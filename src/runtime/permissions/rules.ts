/**
 * Permission rules: `Bash(git status:*)`, `Edit(src/**)`, `Read`, `Fetch(*.example.com)`, `mcp__server__*`. A rule may carry examples of what it matches and what it
 * does not; they are checked when it is read, so that a rule that does not do what its author thinks is an error and not a hole.
 */
import Type from "typebox";
import type { PermissionSubject } from "../permission-subject.ts";
import { globToRegExp } from "../tools/glob-pattern.ts";
import { isInside, realPath } from "../tools/paths.ts";
import { baseName, looseWords, readShellLine, type SimpleCommand } from "./shell-line.ts";

/** A rule as a person writes it. */
export const PermissionRule = Type.Object({
  rule: Type.String({ description: "Tool(pattern), or a tool alone for everything it does." }),
  decision: Type.Enum(["allow", "ask", "deny"], { description: "deny wins over ask, ask over allow." }),
  match: Type.Optional(Type.Array(Type.String(), { description: "Examples the rule must match." })),
  not_match: Type.Optional(Type.Array(Type.String(), { description: "Examples the rule must not match." })),
});
export type PermissionRule = Type.Static<typeof PermissionRule>;

export class RuleError extends Error {}

/** A rule that was read. */
export interface ReadRule {
  readonly source: string;
  readonly decision: "allow" | "ask" | "deny";
  /** Whether one part of what is asked for is covered. */
  matches(part: RulePart): boolean;
}

/** What rules are applied to. A shell line has one part for each of its commands. */
export type RulePart =
  | { readonly kind: "command"; readonly command: SimpleCommand; readonly line: string }
  /** A line that cannot be read as commands. */
  | { readonly kind: "line"; readonly line: string }
  | { readonly kind: "read" | "edit"; readonly path: string }
  | { readonly kind: "fetch"; readonly url: string }
  | { readonly kind: "other"; readonly name: string };

const KINDS: Readonly<Record<string, PermissionSubject["kind"]>> = { Bash: "bash", Edit: "edit", Read: "read", Fetch: "fetch" };

export function readRule({ rule, decision, match = [], not_match = [] }: PermissionRule, directory: string): ReadRule {
  const parsed = /^([A-Za-z][\w*-]*)(?:\((.+)\))?$/s.exec(rule.trim());
  if (parsed === null)
    throw new RuleError(`${JSON.stringify(rule)} is no rule. Write Tool or Tool(pattern), such as Bash(git status:*).`);
  const [, name = "", pattern] = parsed;
  const matches = matcher(name, pattern, decision, directory);
  const read: ReadRule = { source: rule, decision, matches };
  for (const example of match) {
    if (!matchesExample(read, name, example, directory))
      throw new RuleError(`The rule ${rule} does not match its example ${JSON.stringify(example)}.`);
  }
  for (const example of not_match) {
    if (matchesExample(read, name, example, directory))
      throw new RuleError(`The rule ${rule} matches ${JSON.stringify(example)}, which it must not.`);
  }
  return read;
}

function matcher(name: string, pattern: string | undefined, decision: string, directory: string): ReadRule["matches"] {
  const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : "other";
  switch (kind) {
    case "bash":
      return bashMatcher(pattern, decision !== "allow");
    case "edit":
    case "read": {
      const fits = pattern === undefined ? () => true : pathMatcher(pattern, directory);
      return (part) => part.kind === kind && fits(part.path);
    }
    case "fetch": {
      const host = pattern === undefined ? null : globToRegExp(pattern.toLowerCase());
      return (part) => part.kind === "fetch" && (host === null || host.test(hostOf(part.url)));
    }
    default: {
      const expression = globToRegExp(name);
      return (part) => part.kind === "other" && expression.test(part.name);
    }
  }
}

/** `words:*` is a prefix of words, anything else the whole line. A rule that forbids is read broadly, one that allows narrowly. */
function bashMatcher(pattern: string | undefined, broad: boolean): ReadRule["matches"] {
  const isLine = (part: RulePart): boolean => part.kind === "command" || part.kind === "line";
  // To allow `Bash` alone is to allow lines that nobody can read, too.
  if (pattern === undefined) return isLine;
  if (!pattern.endsWith(":*"))
    return (part) => (part.kind === "command" || part.kind === "line") && part.line.trim() === pattern.trim();
  const prefix = pattern.slice(0, -2).trim().split(/\s+/);
  if (prefix[0] === "") throw new RuleError("Bash(:*) allows everything: write Bash if that is meant.");
  return (part) => {
    if (part.kind === "line") return broad && hasSequence(looseWords(part.line), prefix);
    if (part.kind !== "command") return false;
    const words = part.command.words.map((word) => word.literal);
    if (broad && typeof words[0] === "string") words[0] = baseName(words[0]);
    return prefix.every((word, at) => words[at] === word);
  };
}

const hasSequence = (words: readonly string[], wanted: readonly string[]): boolean =>
  words.some((_, at) =>
    wanted.every((word, index) => (index === 0 ? baseName(words[at + index] ?? "") : words[at + index]) === word),
  );

/** Relative patterns belong to the directory, others to the whole disk. */
function pathMatcher(pattern: string, directory: string): (path: string) => boolean {
  if (pattern.startsWith("/") || pattern.startsWith("~/")) {
    const expression = globToRegExp(pattern.startsWith("~/") ? realPath(directory, "~") + pattern.slice(1) : pattern);
    return (path) => expression.test(path);
  }
  const expression = globToRegExp(pattern.replace(/^\.\//, ""));
  return (path) => isInside(directory, path) && expression.test(path.slice(directory.length + 1));
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname.toLowerCase() : "");

function matchesExample(rule: ReadRule, name: string, example: string, directory: string): boolean {
  const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : "other";
  if (kind === "bash") return partsOfLine(example).every((part) => rule.matches(part));
  if (kind === "edit" || kind === "read") return rule.matches({ kind, path: realPath(directory, example) });
  if (kind === "fetch") return rule.matches({ kind, url: example });
  return rule.matches({ kind: "other", name: example });
}

/** Every simple command of a line, or the line itself when it cannot be read. */
export function partsOfLine(line: string): RulePart[] {
  const read = readShellLine(line);
  if (read.kind === "opaque") return [{ kind: "line", line }];
  // A rule for a whole line fits only where the line is one command.
  const single = read.commands.length === 1 ? line : "";
  return read.commands.map((command) => ({ kind: "command", command, line: single }));
}
