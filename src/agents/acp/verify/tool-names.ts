/** The tools of the agents that speak ACP and bring their own: Gemini CLI, Qwen Code, GitHub Copilot CLI. */
import {
  args,
  describe,
  json,
  list,
  mcpName,
  questions,
  str,
  type ToolCalls,
  type ToolSet,
} from "../../kit/verify/tool-names.ts";

const gemini: ToolCalls = {
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

const qwen: ToolCalls = {
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

const copilot: ToolCalls = {
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

/** Two agents have the same names: the protocol they speak to their model distinguishes them. */
const geminiLike = (has: (name: string) => boolean): boolean => has("run_shell_command") || has("read_file");

export const acpTools: readonly ToolSet[] = [
  { id: "qwen", offered: ({ protocol, has }) => protocol !== "gemini" && geminiLike(has), userAgent: /qwen/i, calls: qwen },
  { id: "gemini", offered: ({ protocol, has }) => protocol === "gemini" && geminiLike(has), userAgent: /gemini/i, calls: gemini },
  { id: "copilot", offered: ({ has }) => has("view", "create") || has("report_intent"), userAgent: /copilot/i, calls: copilot },
];
