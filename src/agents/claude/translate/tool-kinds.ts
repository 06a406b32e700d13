// Claude Code's tools in the words every agent shares: kind, a title for a person, and the paths a call is about.
import type { ContentPart, ToolKind } from "../../../schema/content.ts";
import { type JsonRecord, own, str } from "../../json.ts";

const KINDS: Record<string, ToolKind> = {
  Bash: "shell",
  BashOutput: "shell",
  KillShell: "shell",
  KillBash: "shell",
  PowerShell: "shell",
  Monitor: "shell",
  TaskOutput: "shell",
  TaskStop: "shell",
  REPL: "shell",
  bash_code_execution: "shell",
  code_execution: "shell",
  Read: "read",
  NotebookRead: "read",
  LS: "search",
  Write: "write",
  Edit: "edit",
  MultiEdit: "edit",
  NotebookEdit: "edit",
  text_editor_code_execution: "edit",
  Glob: "search",
  Grep: "search",
  LSP: "search",
  ToolSearch: "search",
  tool_search_tool_bm25: "search",
  tool_search_tool_regex: "search",
  WebFetch: "fetch",
  web_fetch: "fetch",
  WebSearch: "web_search",
  web_search: "web_search",
  Agent: "subagent",
  Task: "subagent",
  Workflow: "subagent",
  SendMessage: "subagent",
  TodoWrite: "plan",
  TodoRead: "plan",
  TaskCreate: "plan",
  TaskGet: "plan",
  TaskList: "plan",
  TaskUpdate: "plan",
  EnterPlanMode: "plan",
  ExitPlanMode: "plan",
  AskUserQuestion: "question",
  Skill: "skill",
  SlashCommand: "skill",
  ListMcpResourcesTool: "mcp",
  ReadMcpResourceTool: "mcp",
  advisor: "think",
};

export function toolKind(name: string, blockType = "tool_use"): ToolKind {
  if (name.startsWith("mcp__") || blockType === "mcp_tool_use") return "mcp";
  return own(KINDS, name) ?? "other";
}

export const baseName = (path: string): string => path.split(/[\\/]/).pop() || path;

export function toolPaths(input: JsonRecord): string[] {
  const path = str(input.file_path) ?? str(input.notebook_path) ?? str(input.path);
  return path ? [path] : [];
}

export function toolTitle(name: string, input: JsonRecord): string {
  const path = toolPaths(input)[0];
  const text = (key: string): string | undefined => str(input[key]) || undefined;
  switch (toolKind(name)) {
    case "shell":
      return text("description") ?? text("command") ?? name;
    case "read":
    case "write":
    case "edit":
      return path ? `${name} ${baseName(path)}` : name;
    case "search":
      return (text("pattern") ?? text("query")) ? `${name} ${text("pattern") ?? text("query")}` : name;
    case "fetch":
      return text("url") ? `Fetch ${text("url")}` : name;
    case "web_search":
      return text("query") ? `Search the web: ${text("query")}` : name;
    case "subagent":
      return text("description") ?? text("summary") ?? name;
    case "skill":
      return text("skill") ? `Skill ${text("skill")}` : name;
    case "mcp":
      return mcpName(name);
    default:
      return name;
  }
}

/** `mcp__server__tool` → `server: tool`. */
export function mcpName(name: string): string {
  const [, server, ...tool] = name.split("__");
  return server && tool.length > 0 ? `${server}: ${tool.join("__")}` : name;
}

/** What the tool wants to do, for the person who is asked. */
export function toolAction(name: string, input: JsonRecord): string {
  const path = toolPaths(input)[0];
  switch (toolKind(name)) {
    case "shell":
      return `Run: ${str(input.command) ?? name}`;
    case "read":
    case "write":
    case "edit":
      return path ? `${name} ${path}` : name;
    case "mcp":
      return `Use MCP tool ${mcpName(name)}`;
    default:
      return toolTitle(name, input);
  }
}

export function toolCallPart(
  id: string,
  name: string,
  args: string,
  input: JsonRecord,
  blockType?: string,
): Extract<ContentPart, { type: "tool_call" }> {
  const paths = toolPaths(input);
  return {
    type: "tool_call",
    name,
    arguments: args,
    call_id: id,
    tool_kind: toolKind(name, blockType),
    title: toolTitle(name, input),
    ...(paths.length > 0 ? { paths } : {}),
  };
}
