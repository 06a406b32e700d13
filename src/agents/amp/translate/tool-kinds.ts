// What kind of thing each Amp tool does, and how a person reads a call of it. Names of all builds: the sets differ by build and by mode.
import type { ToolKind } from "../../../schema/content.ts";
import { arr, isRecord, type JsonRecord, str } from "../../json.ts";

export const TOOL_KINDS: Record<string, ToolKind> = {
  Bash: "shell",
  // The shell of `--mode deep`.
  shell_command: "shell",
  run_terminal_command: "shell",
  Read: "read",
  read_file: "read",
  look_at: "read",
  read_mcp_resource: "read",
  read_thread: "read",
  read_github: "read",
  get_document: "read",
  docs_read: "read",
  get_diagnostics: "read",
  create_file: "write",
  write_file: "write",
  docs_write: "write",
  edit_file: "edit",
  apply_patch: "edit",
  undo_edit: "edit",
  format_file: "edit",
  delete_file: "delete",
  glob: "search",
  Glob: "search",
  Grep: "search",
  ripgrep: "search",
  file_tree: "search",
  finder: "search",
  find_thread: "search",
  search_documents: "search",
  docs_list: "search",
  search_github: "search",
  commit_search: "search",
  list_directory_github: "search",
  list_repositories: "search",
  glob_github: "search",
  read_web_page: "fetch",
  web_search: "web_search",
  Task: "subagent",
  oracle: "subagent",
  librarian: "subagent",
  kraken: "subagent",
  reviewer: "subagent",
  code_review: "subagent",
  handoff: "subagent",
  todo_write: "plan",
  todo_read: "plan",
  task_list: "plan",
  ask: "question",
  skill: "skill",
};

export function toolKind(name: string): ToolKind {
  // `mcp__server__tool`; `tb__tool` is a toolbox program of the user, which is not MCP.
  if (name.startsWith("mcp__")) return "mcp";
  return Object.hasOwn(TOOL_KINDS, name) ? (TOOL_KINDS[name] ?? "other") : "other";
}

const TITLE_LIMIT = 200;

/** One line for a person: the name when the arguments say nothing more. */
export function toolTitle(name: string, input: JsonRecord): string {
  const said =
    str(input.cmd) ??
    str(input.command) ??
    str(input.path) ??
    str(input.pattern) ??
    str(input.filePattern) ??
    str(input.url) ??
    str(input.description) ??
    str(input.query) ??
    str(input.objective) ??
    str(input.title) ??
    str(input.name);
  if (said !== undefined && said !== "") return clip(said);
  const [patched] = patchedPaths(input);
  if (patched !== undefined) return clip(patched);
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? [];
  return server === undefined ? name : `${server}: ${tool}`;
}

export function toolPaths(input: JsonRecord): string[] {
  const named = [input.path, input.file_path, ...arr(input.paths)].flatMap((path) => str(path) ?? []);
  return [...new Set([...named, ...patchedPaths(input)])];
}

const PATCH_HEADING = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm;

/** `apply_patch` names its files only inside the patch. */
export function patchedPaths(input: unknown): string[] {
  const patch = isRecord(input) ? str(input.patchText) : undefined;
  return patch === undefined ? [] : [...patch.matchAll(PATCH_HEADING)].flatMap((match) => match[1]?.trim() ?? []);
}

function clip(text: string): string {
  const line = text.split("\n", 1)[0] ?? "";
  return line.length > TITLE_LIMIT ? `${line.slice(0, TITLE_LIMIT)}…` : line;
}
