/**
 * The four permission modes as rules of an OpenCode session. The last rule that matches counts, and rules of the session come after those of its agent and
 * of every configuration file. Each mode is a whole set: it begins with a rule for everything, so nothing that stood before it counts any more.
 * Not here: when the rules are given to the server (connection.ts).
 */
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PermissionMode } from "../../../schema/event-data.ts";
import { type JsonRecord, rec, records, str } from "../../json.ts";

export type Rule = { permission: string; pattern: string; action: "allow" | "deny" | "ask" };

const rule = (permission: string, action: Rule["action"], pattern = "*"): Rule => ({ permission, pattern, action });

/** Tools that change nothing. */
const READING = [
  "glob",
  "grep",
  "list",
  "lsp",
  "codesearch",
  "todowrite",
  "todoread",
  "question",
  "skill",
  "plan_enter",
  "plan_exit",
];
const EDITS = "edit";

/** What is asked for unless a later rule says otherwise: everything that changes something, and tools nobody has described. */
const asking = (data: string): Rule[] => [
  rule("*", "ask"),
  rule("read", "allow"),
  ...["*.env", "*.env.*"].map((pattern) => rule("read", "ask", pattern)),
  rule("read", "allow", "*.env.example"),
  ...READING.map((name) => rule(name, "allow")),
  // Where OpenCode itself puts long output, and its scratch folder.
  ...[join(data, "tool-output", "*"), join(tmpdir(), "opencode", "*")].map((path) => rule("external_directory", "allow", path)),
];

export type RuleSources = {
  /** The person's own rules, of the person's own configuration file. Never a repository's. */
  own: readonly Rule[];
  /** Sub-agents whose own rules let a command run. */
  freeAgents: readonly string[];
  /** OpenCode's data folder. */
  data: string;
};

/** What the person denies stays denied in every mode; what the person allows counts in default and accept_edits. */
export function permissionRules(mode: PermissionMode, { own, freeAgents, data }: RuleSources): Rule[] {
  const denied = own.filter(({ action }) => action === "deny");
  switch (mode) {
    case "default":
      return [...asking(data), ...own];
    case "accept_edits":
      return [...asking(data), ...own, rule(EDITS, "allow"), ...denied];
    case "bypass":
      return [rule("*", "allow"), ...denied];
    case "plan":
      // Commands are asked for: much of what a plan needs is read by one. A sub-agent inherits what is denied, and has rules of its own for the rest.
      return [...asking(data), rule(EDITS, "deny"), ...freeAgents.map((name) => rule("task", "deny", name)), ...denied];
    default:
      return mode satisfies never;
  }
}

/**
 * What agents may do in a session nobody gave rules to: a sub-agent's. 1.18: it inherits what its parent is denied, but not what has to be asked for.
 * Given to the server as its configuration; the connection answers for modes that ask less.
 */
export const SUBAGENT_RULES = {
  ...Object.fromEntries(
    ["*", "bash", "edit", "task", "webfetch", "websearch", "external_directory"].map((name) => [name, "ask"]),
  ),
  ...Object.fromEntries(["read", ...READING].map((name) => [name, "allow"])),
};

/** Sub-agents that may run a command, or a tool nobody described, without asking. */
export const freeAgents = (agents: readonly JsonRecord[]): string[] =>
  agents
    .filter(
      (agent) => agent.mode !== "primary" && ["bash", "any_tool"].some((tool) => runsUnasked(records(agent.permission), tool)),
    )
    .flatMap((agent) => str(agent.name) ?? []);

function runsUnasked(rules: readonly JsonRecord[], tool: string): boolean {
  const about = rules.filter(({ permission }) => matches(tool, str(permission) ?? ""));
  const last = about.findLastIndex(({ pattern }) => pattern === "*");
  return about.slice(Math.max(last, 0)).some(({ action }) => action === "allow");
}

/** Whether a request of a sub-agent, or one that no rule of a session can settle, is allowed without asking. */
export function allowsUnasked(mode: PermissionMode, permission: string): boolean {
  return mode === "bypass" || (mode === "accept_edits" && permission === EDITS);
}

/** The rules of a configuration, in the order of its fields: `permission` is one action, or actions by name, or actions by name and pattern. */
export function configuredRules(config: JsonRecord, agent: string): Rule[] {
  return [...toolRules(config.tools), ...readRules(config.permission), ...readRules(rec(rec(config.agent)[agent]).permission)];
}

/** The server answers with the fields in an order of its own: what holds for every name stands first. */
function readRules(value: unknown): Rule[] {
  if (isAction(value)) return [rule("*", value)];
  const fields = Object.entries(rec(value)).sort(([one], [other]) => Number(other === "*") - Number(one === "*"));
  return fields.flatMap(([permission, action]) => {
    if (isAction(action)) return [rule(permission, action)];
    return Object.entries(rec(action)).flatMap(([pattern, each]) => (isAction(each) ? [rule(permission, each, pattern)] : []));
  });
}

/** The older way to switch a tool off. */
const toolRules = (value: unknown): Rule[] =>
  Object.entries(rec(value)).flatMap(([name, on]) =>
    on === false ? [rule(["write", "edit", "patch"].includes(name) ? EDITS : name, "deny")] : [],
  );

const isAction = (value: unknown): value is Rule["action"] => ["allow", "deny", "ask"].includes(str(value) ?? "");

/** Whether these rules are the last ones of the list, so that they need not be appended again. */
export function endsWith(list: unknown, rules: readonly Rule[]): boolean {
  const tail = Array.isArray(list) ? list.slice(-rules.length) : [];
  return tail.length === rules.length && rules.every((each, index) => same(each, rec(tail[index])));
}

const same = (one: Rule, other: JsonRecord): boolean =>
  one.permission === other.permission && one.pattern === other.pattern && one.action === other.action;

/** As OpenCode matches a pattern: `*` is anything, `?` one character, and ` *` at the end may be absent. */
export function matches(text: string, pattern: string): boolean {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".")
    .replace(/ \.\*$/, "( .*)?");
  return new RegExp(`^${source}$`, "s").test(text);
}

/** Plan is an agent of OpenCode's; every other mode works with any agent. */
export function agentFor(mode: PermissionMode, agent: string | null): string | null {
  if (mode === "plan") return agent === null || agent === "build" ? "plan" : agent;
  return agent;
}
