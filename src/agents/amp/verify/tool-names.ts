/** The tools of Amp. */
import { args, json, list, mcpName, type ToolCalls, type ToolSet } from "../../kit/verify/tool-names.ts";

const amp: ToolCalls = {
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

export const ampTools: ToolSet = {
  id: "amp",
  offered: ({ has, takes }) => has("create_file") || takes("Bash", "cmd"),
  userAgent: /\bamp\b/i,
  calls: amp,
};
