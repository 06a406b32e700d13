/** Our tools in the words every agent shares: kind, title, paths. */
import type { ToolKind } from "../../../schema/content.ts";
import { isRecord, type JsonRecord, own, str } from "../../json.ts";

const KINDS: Readonly<Record<string, ToolKind>> = {
  read: "read",
  write: "write",
  edit: "edit",
  apply_patch: "edit",
  ls: "search",
  glob: "search",
  grep: "search",
  bash: "shell",
  task: "shell",
  fetch: "fetch",
  plan: "plan",
  ask: "question",
  skill: "skill",
  agent: "subagent",
};

/** Calls that the provider carries out itself. */
const HOSTED: Readonly<Record<string, ToolKind>> = {
  web_search_call: "web_search",
  file_search_call: "search",
  mcp_call: "mcp",
  mcp_list_tools: "mcp",
  code_interpreter_call: "shell",
  shell_call: "shell",
  local_shell_call: "shell",
  apply_patch_call: "edit",
  image_generation_call: "other",
  computer_call: "other",
};

export const kindOf = (name: string): ToolKind => own(KINDS, name) ?? (name.startsWith("mcp__") ? "mcp" : "other");
export const hostedKind = (type: string): ToolKind | undefined => own(HOSTED, type);

export type CallLook = { tool_kind: ToolKind; title: string; paths?: string[] };

/** `input` is JSON, or the free text of a patch. */
export function lookOf(name: string, input: string): CallLook {
  const args = parsed(input);
  const tool_kind = kindOf(name);
  const paths = pathsOf(name, args, input);
  return { tool_kind, title: titleOf(name, args, paths), ...(paths.length === 0 ? {} : { paths }) };
}

function parsed(input: string): JsonRecord {
  try {
    const value: unknown = JSON.parse(input);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

function pathsOf(name: string, args: JsonRecord, input: string): string[] {
  if (name === "apply_patch") {
    const patch = str(args.patch) ?? input;
    return Array.from(patch.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm), ([, path]) => (path ?? "").trim());
  }
  const path = str(args.path) ?? str(args.file_path);
  return path === undefined || !["read", "write", "edit", "ls"].includes(name) ? [] : [path];
}

function titleOf(name: string, args: JsonRecord, paths: readonly string[]): string {
  const shown = str(args.title) ?? str(args.command) ?? str(args.pattern) ?? str(args.url) ?? (paths.join(", ") || undefined);
  if (shown === undefined) return name;
  return name === "bash" ? firstLine(shown) : `${name} ${firstLine(shown)}`;
}

const firstLine = (text: string): string => {
  const [line = ""] = text.split("\n", 1);
  return line.length > 120 ? `${line.slice(0, 120)}…` : line;
};
