/** The tools of OpenCode. */
import { args, describe, json, list, questions, str, type ToolCalls, type ToolSet } from "../../kit/verify/tool-names.ts";

const opencode: ToolCalls = {
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

export const opencodeTools: ToolSet = {
  id: "opencode",
  offered: ({ has, takes }) => has("bash") || takes("read", "filePath") || has("todowrite"),
  userAgent: /opencode/i,
  calls: opencode,
};
