// The table that turns a logical tool call of a scenario into the call a given agent understands: its own tool name and input.
// Names and inputs are those of the pinned agents. An agent without the tool has no row: the call goes out under its logical name.

import type { LogicalTool } from "../../agents/scenario.ts";

/** A set of tool names. Codex has two: which one is in force depends on the model, not on the client. */
export type ToolProfile = "claude" | "codex" | "codex-code-mode" | "opencode" | "gemini" | "qwen" | "amp" | "copilot";

/** A call as the provider's protocol carries it. `free_text` calls exist only in the Responses protocol. */
export type NativeCall =
  | { readonly kind: "json"; readonly name: string; readonly namespace?: string; readonly input: Record<string, unknown> }
  | { readonly kind: "free_text"; readonly name: string; readonly text: string };

type Input = Record<string, unknown>;
type Mapping = (input: Input) => NativeCall;

/*
 * Logical inputs:
 *   shell      { command, description?, timeout_ms?, background?, escalate? }
 *   read       { path }                       write { path, content }        edit { path, old, new }
 *   search     { pattern, path? }             glob  { pattern }
 *   todo       { items: [{ text, status: "pending"|"in_progress"|"completed" }] }
 *   ask        { questions: [{ question, header, options: [{ label, description }], multi? }] }
 *   subagent   { description, prompt, type? } plan  { text }                 enter_plan {}
 *   web_fetch  { url, prompt? }               web_search { query }           mcp { server, tool, arguments }
 */

const str = (value: unknown): string => (typeof value === "string" ? value : "");
const list = (value: unknown): Input[] => (Array.isArray(value) ? value.filter(isRecord) : []);
const isRecord = (value: unknown): value is Input => typeof value === "object" && value !== null && !Array.isArray(value);
const defined = (input: Input): Input => Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
const json = (name: string, input: Input): NativeCall => ({ kind: "json", name, input: defined(input) });
const mcpName = (i: Input): string => `mcp__${str(i.server)}__${str(i.tool)}`;
const args = (i: Input): Input => (isRecord(i.arguments) ? i.arguments : {});
const describe = (i: Input): string => str(i.description) || "run a command";

const questions = (i: Input) =>
  list(i.questions).map((q) => ({
    question: str(q.question),
    header: str(q.header),
    multiSelect: q.multi === true,
    options: list(q.options).map((o) => ({ label: str(o.label), description: str(o.description) })),
  }));

const claude: Partial<Record<LogicalTool, Mapping>> = {
  shell: (i) =>
    json("Bash", {
      command: i.command,
      description: describe(i),
      timeout: i.timeout_ms,
      run_in_background: i.background,
    }),
  read: (i) => json("Read", { file_path: i.path }),
  write: (i) => json("Write", { file_path: i.path, content: i.content }),
  edit: (i) => json("Edit", { file_path: i.path, old_string: i.old, new_string: i.new }),
  search: (i) => json("Grep", { pattern: i.pattern, path: i.path }),
  glob: (i) => json("Glob", { pattern: i.pattern }),
  todo: (i) =>
    json("TodoWrite", {
      todos: list(i.items).map((item) => ({ content: item.text, status: item.status, activeForm: `Doing: ${str(item.text)}` })),
    }),
  ask: (i) => json("AskUserQuestion", { questions: questions(i) }),
  subagent: (i) =>
    json("Agent", {
      description: i.description,
      prompt: i.prompt,
      subagent_type: i.type ?? "general-purpose",
      run_in_background: i.background ?? false,
    }),
  plan: (i) => json("ExitPlanMode", { plan: i.text }),
  enter_plan: () => json("EnterPlanMode", {}),
  web_fetch: (i) => json("WebFetch", { url: i.url, prompt: i.prompt ?? "What does it say?" }),
  web_search: (i) => json("WebSearch", { query: i.query }),
  mcp: (i) => json(mcpName(i), args(i)),
};

const codexQuestions = (i: Input) =>
  list(i.questions).map((q, index) => ({
    id: str(q.id) || `question_${index + 1}`,
    header: str(q.header),
    question: str(q.question),
    options: list(q.options).map((o) => ({ label: str(o.label), description: str(o.description) })),
  }));
const codexPlan = (i: Input): Input => ({ plan: list(i.items).map((item) => ({ step: item.text, status: item.status })) });
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const prefixed = (mark: string, text: string): string => {
  const lines = text.replace(/\n$/, "").split("\n");
  return lines.map((line) => `${mark}${line}`).join("\n");
};
const addPatch = (i: Input): string =>
  `*** Begin Patch\n*** Add File: ${str(i.path)}\n${prefixed("+", str(i.content))}\n*** End Patch\n`;
const editPatch = (i: Input): string =>
  `*** Begin Patch\n*** Update File: ${str(i.path)}\n@@\n${prefixed("-", str(i.old))}\n${prefixed("+", str(i.new))}\n*** End Patch\n`;
/** codex-acp 2.6 has no mode that asks about every command: the model must ask to leave the sandbox. */
const escalation = { sandbox_permissions: "require_escalated", justification: "It changes files." };
const execCommand = (i: Input): Input =>
  defined({ cmd: i.command, yield_time_ms: i.timeout_ms, ...(i.escalate === true ? escalation : {}) });

const codex: Partial<Record<LogicalTool, Mapping>> = {
  shell: (i) => json("exec_command", execCommand(i)),
  read: (i) => json("exec_command", { cmd: `cat ${quote(str(i.path))}` }),
  search: (i) => json("exec_command", { cmd: `grep -rn ${quote(str(i.pattern))} ${quote(str(i.path) || ".")}` }),
  glob: (i) => json("exec_command", { cmd: `find . -name ${quote(str(i.pattern))}` }),
  write: (i) => ({ kind: "free_text", name: "apply_patch", text: addPatch(i) }),
  edit: (i) => ({ kind: "free_text", name: "apply_patch", text: editPatch(i) }),
  todo: (i) => json("update_plan", codexPlan(i)),
  ask: (i) => json("request_user_input", { questions: codexQuestions(i) }),
  subagent: (i) => ({ kind: "json", name: "spawn_agent", namespace: "multi_agent_v1", input: { message: str(i.prompt) } }),
  web_fetch: (i) => json("exec_command", { cmd: `curl -s ${quote(str(i.url))}` }),
  // codex 0.166: an MCP tool is a function `echo` in the namespace `mcp__lab`, not a flat name.
  mcp: (i) => ({ kind: "json", name: str(i.tool), namespace: `mcp__${str(i.server)}`, input: args(i) }),
};

const script = (tool: string, argument: unknown): NativeCall => ({
  kind: "free_text",
  name: "exec",
  text: `const result = await tools.${tool}(${JSON.stringify(argument)});\ntext(typeof result === "string" ? result : JSON.stringify(result));\n`,
});

/** codex 0.166 with gpt-5.6 and later: one tool, `exec`, that runs JavaScript; only questions and sub-agents stay functions. */
const codexCodeMode: Partial<Record<LogicalTool, Mapping>> = {
  shell: (i) => script("exec_command", execCommand(i)),
  read: (i) => script("exec_command", { cmd: `cat ${quote(str(i.path))}` }),
  search: (i) => script("exec_command", { cmd: `grep -rn ${quote(str(i.pattern))} ${quote(str(i.path) || ".")}` }),
  glob: (i) => script("exec_command", { cmd: `find . -name ${quote(str(i.pattern))}` }),
  write: (i) => script("apply_patch", addPatch(i)),
  edit: (i) => script("apply_patch", editPatch(i)),
  todo: (i) => script("update_plan", codexPlan(i)),
  ask: (i) => json("request_user_input", { questions: codexQuestions(i) }),
  subagent: (i) => ({
    kind: "json",
    name: "spawn_agent",
    namespace: "collaboration",
    input: {
      message: str(i.prompt),
      task_name:
        str(i.description)
          .toLowerCase()
          .replaceAll(/[^a-z0-9]+/g, "_") || "sub_task",
    },
  }),
  web_fetch: (i) => script("exec_command", { cmd: `curl -s ${quote(str(i.url))}` }),
  mcp: (i) => script(mcpName(i), args(i)),
};

const opencode: Partial<Record<LogicalTool, Mapping>> = {
  shell: (i) => json("bash", { command: i.command, description: describe(i), timeout: i.timeout_ms }),
  read: (i) => json("read", { filePath: i.path }),
  write: (i) => json("write", { filePath: i.path, content: i.content }),
  edit: (i) => json("edit", { filePath: i.path, oldString: i.old, newString: i.new }),
  search: (i) => json("grep", { pattern: i.pattern, path: i.path }),
  glob: (i) => json("glob", { pattern: i.pattern }),
  todo: (i) =>
    json("todowrite", { todos: list(i.items).map((item) => ({ content: item.text, status: item.status, priority: "medium" })) }),
  ask: (i) =>
    json("question", {
      questions: questions(i).map(({ multiSelect, ...question }) => ({
        ...question,
        ...(multiSelect ? { multiple: true } : {}),
      })),
    }),
  subagent: (i) => json("task", { description: i.description, prompt: i.prompt, subagent_type: i.type ?? "general" }),
  plan: () => json("plan_exit", {}),
  enter_plan: () => json("plan_enter", {}),
  web_fetch: (i) => json("webfetch", { url: i.url, format: "text" }),
  mcp: (i) => json(`${str(i.server)}_${str(i.tool)}`, args(i)),
};

const gemini: Partial<Record<LogicalTool, Mapping>> = {
  shell: (i) => json("run_shell_command", { command: i.command, description: describe(i), is_background: i.background }),
  read: (i) => json("read_file", { file_path: i.path }),
  write: (i) => json("write_file", { file_path: i.path, content: i.content }),
  edit: (i) => json("replace", { file_path: i.path, instruction: "Change the text.", old_string: i.old, new_string: i.new }),
  search: (i) => json("grep_search", { pattern: i.pattern, dir_path: i.path }),
  glob: (i) => json("glob", { pattern: i.pattern }),
  todo: (i) => json("write_todos", { todos: list(i.items).map((item) => ({ description: item.text, status: item.status })) }),
  ask: (i) => json("ask_user", { questions: questions(i).map((question) => ({ ...question, type: "choice" })) }),
  subagent: (i) => json("invoke_agent", { agent_name: i.type ?? "generalist", prompt: i.prompt }),
  plan: (i) => json("exit_plan_mode", { plan_filename: i.path ?? "plan.md" }),
  enter_plan: () => json("enter_plan_mode", {}),
  web_fetch: (i) => json("web_fetch", { prompt: `${str(i.prompt) || "Summarise"} ${str(i.url)}` }),
  web_search: (i) => json("google_web_search", { query: i.query }),
  mcp: (i) => json(`mcp_${str(i.server)}_${str(i.tool)}`, args(i)),
};

const qwen: Partial<Record<LogicalTool, Mapping>> = {
  shell: (i) => json("run_shell_command", { command: i.command, description: describe(i), is_background: i.background === true }),
  read: (i) => json("read_file", { file_path: i.path }),
  write: (i) => json("write_file", { file_path: i.path, content: i.content }),
  edit: (i) => json("edit", { file_path: i.path, old_string: i.old, new_string: i.new }),
  search: (i) => json("grep_search", { pattern: i.pattern, path: i.path }),
  glob: (i) => json("glob", { pattern: i.pattern }),
  todo: (i) =>
    json("todo_write", {
      todos: list(i.items).map((item, index) => ({ id: String(index + 1), content: item.text, status: item.status })),
    }),
  ask: (i) => json("ask_user_question", { questions: questions(i) }),
  subagent: (i) => json("agent", { description: i.description, prompt: i.prompt, subagent_type: i.type ?? "general-purpose" }),
  plan: (i) => json("exit_plan_mode", { plan: i.text }),
  enter_plan: () => json("enter_plan_mode", {}),
  web_fetch: (i) => json("web_fetch", { url: i.url, prompt: i.prompt ?? "What does it say?" }),
  web_search: (i) => json("web_search", { query: i.query }),
  mcp: (i) => json(mcpName(i), args(i)),
};

const amp: Partial<Record<LogicalTool, Mapping>> = {
  shell: (i) => json("Bash", { cmd: i.command }),
  read: (i) => json("Read", { path: i.path }),
  write: (i) => json("create_file", { path: i.path, content: i.content }),
  edit: (i) => json("edit_file", { path: i.path, old_str: i.old, new_str: i.new }),
  search: (i) => json("Grep", { pattern: i.pattern, path: i.path ?? "." }),
  glob: (i) => json("glob", { filePattern: i.pattern }),
  todo: (i) =>
    json("todo_write", {
      todos: list(i.items).map((item, index) => ({
        id: String(index + 1),
        content: item.text,
        status: item.status,
        priority: "medium",
      })),
    }),
  subagent: (i) => json("Task", { description: i.description, prompt: i.prompt }),
  web_fetch: (i) => json("read_web_page", { url: i.url }),
  web_search: (i) => json("web_search", { objective: i.query }),
  mcp: (i) => json(mcpName(i), args(i)),
};

const copilot: Partial<Record<LogicalTool, Mapping>> = {
  shell: (i) => json("bash", { command: i.command, description: describe(i) }),
  read: (i) => json("view", { path: i.path }),
  write: (i) => json("create", { path: i.path, file_text: i.content }),
  edit: (i) => json("edit", { path: i.path, old_str: i.old, new_str: i.new }),
  search: (i) => json("grep", { pattern: i.pattern, path: i.path }),
  glob: (i) => json("glob", { pattern: i.pattern }),
  todo: (i) =>
    json("update_todo", {
      todos: list(i.items)
        .map((item) => `- [${item.status === "completed" ? "x" : " "}] ${str(item.text)}`)
        .join("\n"),
    }),
  ask: (i) => {
    const [first] = questions(i);
    return json("ask_user", { question: first?.question ?? "", choices: first?.options.map((option) => option.label) ?? [] });
  },
  subagent: (i) =>
    json("task", {
      description: i.description,
      prompt: i.prompt,
      agent_type: i.type ?? "general-purpose",
      name: "sub-task",
      mode: "sync",
    }),
  web_fetch: (i) => json("web_fetch", { url: i.url }),
  mcp: (i) => json(`${str(i.server)}-${str(i.tool)}`, args(i)),
};

export const TOOL_NAMES: Record<ToolProfile, Partial<Record<LogicalTool, Mapping>>> = {
  claude,
  codex,
  "codex-code-mode": codexCodeMode,
  opencode,
  gemini,
  qwen,
  amp,
  copilot,
};

/** The call an agent with this profile understands; unknown profile or no such tool: the logical name and input. */
export function nativeCall(profile: ToolProfile | undefined, tool: LogicalTool, input: Input): NativeCall {
  const mapping = profile === undefined ? undefined : TOOL_NAMES[profile][tool];
  return mapping ? mapping(input) : json(tool, input);
}
