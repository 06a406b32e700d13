/** The tools of Claude Code. */
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

const claude: ToolCalls = {
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

export const claudeTools: ToolSet = {
  id: "claude",
  offered: ({ takes }) => takes("Bash", "command") || takes("Read", "file_path") || takes("Write", "file_path"),
  userAgent: /claude-cli|claude-code/i,
  calls: claude,
};
