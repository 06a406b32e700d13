// Permission modes as `amp.permissions` rules. Amp cannot ask on its wire, so what may run is decided before: first rule that matches wins.
// Not here: where the rules are written (settings-file).
import type { PermissionMode } from "../../../schema/event-data.ts";
import { type JsonRecord, str } from "../../json.ts";

/** As Amp has it; fields we do not know stay. */
export type PermissionRule = { tool: string; action: string; message?: string; [field: string]: unknown };

export function readRule(rule: JsonRecord): PermissionRule | undefined {
  const [tool, action] = [str(rule.tool), str(rule.action)];
  if (tool === undefined || action === undefined) return undefined;
  const { message, ...rest } = rule;
  return { ...rest, tool, action, ...(typeof message === "string" ? { message } : {}) };
}

const READING = [
  "Read",
  "look_at",
  "read_mcp_resource",
  "read_thread",
  "read_github",
  "get_diagnostics",
  "glob",
  "Glob",
  "Grep",
  "file_tree",
  "finder",
  "find_thread",
  "search_documents",
  "get_document",
  "search_github",
  "commit_search",
  "list_directory_github",
  "list_repositories",
  "glob_github",
  "read_web_page",
  "web_search",
  "oracle",
  "librarian",
  // What a sub-agent does is subject to the same rules.
  "Task",
  "todo_write",
  "todo_read",
  "task_list",
  "mermaid",
  "chart",
  "skill",
];

const EDITING = ["create_file", "edit_file", "apply_patch", "undo_edit", "delete_file", "format_file"];

/** Begins every refusal of ours, so that a refused tool is known as a denied permission. */
const PLAN_REFUSAL = "Not allowed in plan mode:";
const ASK_REFUSAL = "Needs an approval that cannot be given here:";
const PLAN_MESSAGE = `${PLAN_REFUSAL} only reading and searching is. Say what you would do instead of doing it.`;

const ASK_MESSAGE = `${ASK_REFUSAL} only reading is allowed. Go on without it, or say what should be allowed.`;

const allow = (tool: string): PermissionRule => ({ tool, action: "allow" });

/** Commands that only look, without anything that could redirect or chain. */
const LOOKING = "/^(ls|pwd|wc|stat|git status)( [\\w./ -]*)?$/";
const HARMLESS: PermissionRule[] = [
  ...READING.map(allow),
  { tool: "Bash", action: "allow", matches: { cmd: LOOKING } },
  { tool: "shell_command", action: "allow", matches: { command: LOOKING } },
];

/**
 * The whole list for a mode: the first rule that matches counts, and the last one matches everything, so that the rules inside a build of Amp, which allow
 * every edit, are never reached. With a message the model reads why and goes on; without one the turn would end.
 * `own`: the person's rules. They count in default and accept_edits; what they reject is rejected in every mode.
 */
export function permissionRules(mode: Exclude<PermissionMode, "bypass">, own: PermissionRule[]): PermissionRule[] {
  const rejected = own.filter(({ action }) => action === "reject");
  const refuse: PermissionRule = { tool: "*", action: "reject", message: ASK_MESSAGE };
  switch (mode) {
    case "default":
      return [...withoutAsking(own), ...HARMLESS, refuse];
    case "accept_edits":
      return [...rejected, ...EDITING.map(allow), ...withoutAsking(own), ...HARMLESS, refuse];
    case "plan":
      return [...rejected, ...READING.map(allow), { ...refuse, message: PLAN_MESSAGE }];
    default:
      return mode satisfies never;
  }
}

/**
 * A rule that would ask, as one that refuses. Asking ends the run, and in the May build it spoils the thread for good: every later run of it ends at
 * once, because the unanswered call is still in it.
 */
export const withoutAsking = (rules: PermissionRule[]): PermissionRule[] =>
  rules.map((rule) => {
    if (rule.action !== "ask") return rule;
    return {
      ...rule,
      action: "reject",
      message: `${ASK_REFUSAL} ${rule.tool}. Go on without it, or say what should be allowed.`,
    };
  });

/** Whether a failed tool's text says that a rule held it back. */
export const isRuleMessage = (text: string): boolean =>
  text.startsWith(PLAN_REFUSAL) ||
  text.startsWith(ASK_REFUSAL) ||
  /^Tool execution rejected by user\b|^This tool call was rejected by the user/.test(text);

export const APPROVAL_ADVICE =
  "Amp cannot ask for approval here. Send the message again with permission_mode `bypass`, or allow the tool in `amp.permissions` of Amp's settings.";
