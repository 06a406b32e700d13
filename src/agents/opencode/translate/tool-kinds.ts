// OpenCode's tools in the words all agents share: kind, title and paths. Names stay OpenCode's own.
import type { ToolKind } from "../../../schema/content.ts";
import { type JsonRecord, own, rec, records, str } from "../../json.ts";

const KINDS: Record<string, ToolKind> = {
  bash: "shell",
  shell: "shell",
  read: "read",
  list: "search",
  glob: "search",
  grep: "search",
  codesearch: "search",
  lsp: "search",
  edit: "edit",
  multiedit: "edit",
  patch: "edit",
  apply_patch: "edit",
  write: "write",
  task: "subagent",
  todowrite: "plan",
  todoread: "plan",
  webfetch: "fetch",
  websearch: "web_search",
  skill: "skill",
  question: "question",
  invalid: "other",
  batch: "other",
  plan_enter: "plan",
  plan_exit: "plan",
  StructuredOutput: "other",
};

/** MCP tools are `<server>_<tool>`; no built-in tool of 1.18 that is missing above has an underscore. */
export const toolKind = (name: string): ToolKind => own(KINDS, name) ?? (name.includes("_") ? "mcp" : "other");

export const isKnownTool = (name: string): boolean => name in KINDS;

export const toolTitle = (name: string, input: unknown, title: string | undefined): string =>
  title || titleOf(name, rec(input)) || name;

function titleOf(name: string, args: JsonRecord): string | undefined {
  switch (name) {
    case "bash":
    case "shell":
      return str(args.command);
    case "task":
      return str(args.description);
    case "question":
      return str(records(args.questions)[0]?.question);
    case "webfetch":
      return str(args.url);
    case "websearch":
      return str(args.query);
    case "skill":
      return str(args.name);
    default:
      return str(args.filePath) ?? str(args.path) ?? str(args.pattern);
  }
}

export function toolPaths(name: string, input: unknown, metadata: JsonRecord): string[] {
  const args = rec(input);
  const paths = new Set<string>();
  const named = str(args.filePath) ?? str(args.path);
  if (named !== undefined && name !== "webfetch") paths.add(named);
  for (const file of records(metadata.files)) {
    const path = str(file.filePath) ?? str(file.path) ?? str(file.file);
    if (path !== undefined) paths.add(path);
  }
  if (paths.size === 0 && typeof args.patchText === "string")
    for (const match of args.patchText.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm))
      if (match[1]) paths.add(match[1].trim());
  return [...paths];
}
