// Tool names and ACP kinds in the universal words. A name that says more than the kind wins.

import type { ToolKind } from "../../../schema/content.ts";
import { own } from "../../json.ts";

const BY_KIND: Record<string, ToolKind> = {
  read: "read",
  edit: "edit",
  delete: "delete",
  move: "move",
  search: "search",
  execute: "shell",
  think: "think",
  fetch: "fetch",
  switch_mode: "plan",
  other: "other",
};

/** Lower-case names without separators, so that `run_shell_command` and `RunShellCommand` are one. */
const BY_NAME: Record<string, ToolKind> = {
  bash: "shell",
  shell: "shell",
  runshellcommand: "shell",
  execcommand: "shell",
  write: "write",
  writefile: "write",
  create: "write",
  createfile: "write",
  replace: "edit",
  edit: "edit",
  multiedit: "edit",
  applypatch: "edit",
  websearch: "web_search",
  googlewebsearch: "web_search",
  webfetch: "fetch",
  task: "subagent",
  agent: "subagent",
  invokeagent: "subagent",
  spawnagent: "subagent",
  sendinput: "subagent",
  resumeagent: "subagent",
  closeagent: "subagent",
  followuptask: "subagent",
  interruptagent: "subagent",
  listagents: "subagent",
  todowrite: "plan",
  todoread: "plan",
  taskcreate: "plan",
  taskget: "plan",
  tasklist: "plan",
  taskupdate: "plan",
  writetodos: "plan",
  updatetodo: "plan",
  updateplan: "plan",
  exitplanmode: "plan",
  enterplanmode: "plan",
  planexit: "plan",
  planenter: "plan",
  askuser: "question",
  askuserquestion: "question",
  question: "question",
  requestuserinput: "question",
  skill: "skill",
  slashcommand: "skill",
  activateskill: "skill",
};

/** Names that decide only where the agent says no kind: it knows better what such a tool does. */
const WITHOUT_KIND: Record<string, ToolKind> = {
  read: "read",
  readfile: "read",
  readmanyfiles: "read",
  view: "read",
  glob: "search",
  grep: "search",
  grepsearch: "search",
  searchfilecontent: "search",
  list: "search",
  ls: "search",
  listdirectory: "search",
  bashoutput: "shell",
  killshell: "shell",
  taskoutput: "shell",
  taskstop: "shell",
  notebookedit: "edit",
};

// `mcp__acp__Bash` is claude 0.16's own tool, run through the client.
const MCP_NAME = /^mcp(?:__(?!acp__)|_(?!_)|\.)/;
const MCP_TITLE = /\(.+ MCP Server\)$|^Tool: [^/\s]+\/\S+$|^mcp\./;

export function toolKind(name: string | undefined, kind: string | undefined, title: string, mcp: boolean): ToolKind {
  if (mcp || MCP_NAME.test(name ?? "") || MCP_TITLE.test(title)) return "mcp";
  const plain = plainName(name);
  const said = kind === undefined || kind === "other" ? undefined : own(BY_KIND, kind);
  return own(BY_NAME, plain) ?? said ?? own(WITHOUT_KIND, plain) ?? "other";
}

const plainName = (name = ""): string =>
  name
    .replace(/^mcp__acp__/, "")
    .replaceAll(/[^A-Za-z]/g, "")
    .toLowerCase();

/** A way out of plan mode; gemini 0.61 says no kind of it. The way in is one like any other. */
export function leavesPlan(name: string | undefined, kind: string | undefined): boolean {
  const plain = plainName(name);
  if (plain === "exitplanmode" || plain === "planexit") return true;
  return kind === "switch_mode" && plain !== "enterplanmode" && plain !== "planenter";
}
