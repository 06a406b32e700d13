// Which universal tool kind each Codex tool item is, and what a person reads as its title.
import type { ToolKind } from "../../../schema/content.ts";
import { type JsonRecord, own, rec, records, str } from "../../json.ts";

const BY_ITEM: Record<string, ToolKind> = {
  commandExecution: "shell",
  fileChange: "edit",
  mcpToolCall: "mcp",
  dynamicToolCall: "other",
  collabAgentToolCall: "subagent",
  subAgentActivity: "subagent",
  webSearch: "web_search",
  imageView: "read",
  imageGeneration: "other",
  sleep: "other",
  functionCallOutput: "other",
};

/** Model-side names, seen only with raw response items. */
const BY_TOOL: Record<string, ToolKind> = {
  exec_command: "shell",
  write_stdin: "shell",
  local_shell: "shell",
  shell: "shell",
  exec: "other",
  apply_patch: "edit",
  view_image: "read",
  update_plan: "plan",
  request_user_input: "question",
  request_user_input_async: "question",
  spawn_agent: "subagent",
  send_input: "subagent",
  wait_agent: "subagent",
  close_agent: "subagent",
  web_search: "web_search",
  tool_search: "search",
};

export const toolKind = (itemType: string): ToolKind => own(BY_ITEM, itemType) ?? "other";

export const modelToolKind = (name: string): ToolKind => (name.startsWith("mcp__") ? "mcp" : (own(BY_TOOL, name) ?? "other"));

/** Codex says what a command does; a command that only reads or only searches is shown as that. */
export function commandKind(actions: unknown): ToolKind {
  const types = new Set(records(actions).map((action) => str(action.type)));
  if (types.size !== 1) return "shell";
  if (types.has("read")) return "read";
  if (types.has("search")) return "search";
  return "shell";
}

export function patchKind(changes: JsonRecord[]): ToolKind {
  const kinds = changes.map((change) => changeKind(change));
  if (kinds.length === 0) return "edit";
  if (kinds.some((kind) => kind === "move")) return "move";
  if (kinds.every((kind) => kind === "add")) return "write";
  if (kinds.every((kind) => kind === "delete")) return "delete";
  return "edit";
}

export function changeKind(change: JsonRecord): "add" | "delete" | "move" | "update" {
  // `codex exec` says the kind as a string, the app-server as an object.
  const kind = change.kind;
  const type = typeof kind === "string" ? kind : str(rec(kind).type);
  if (type === "add" || type === "delete") return type;
  return movedTo(change) === undefined ? "update" : "move";
}

export function movedTo(change: JsonRecord): string | undefined {
  return str(rec(change.kind).move_path);
}

const WRAPPED = /^\S*sh -l?c ([\s\S]+)$/;

/** codex 0.166 shows `/bin/bash -lc 'ls'`; a person wants `ls`. */
export function innerCommand(command: string): string {
  const inner = WRAPPED.exec(command)?.[1];
  if (inner === undefined) return command;
  if (inner.startsWith("'") && inner.endsWith("'") && inner.length > 1)
    return inner.slice(1, -1).replaceAll("'\\''", "'").replaceAll(`'"'"'`, "'");
  if (inner.startsWith('"') && inner.endsWith('"') && inner.length > 1)
    return inner.slice(1, -1).replaceAll(/\\(["\\$`])/g, "$1");
  return inner;
}
