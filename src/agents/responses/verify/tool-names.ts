/** The tools of our own agent. */
import { args, json, list, mcpName, questions, str, type ToolCalls, type ToolSet } from "../../kit/verify/tool-names.ts";

const responses: ToolCalls = {
  shell: (i) =>
    json("bash", {
      command: i.command,
      title: i.description,
      timeout_ms: i.timeout_ms,
      background: i.background,
      unsandboxed: i.escalate,
    }),
  read: (i) => json("read", { path: i.path }),
  write: (i) => json("write", { path: i.path, content: i.content }),
  edit: (i) => json("edit", { path: i.path, edits: [{ old: i.old, new: i.new }] }),
  search: (i) => json("grep", { pattern: i.pattern, path: i.path }),
  glob: (i) => json("glob", { pattern: i.pattern }),
  todo: (i) => json("plan", { entries: list(i.items).map((item) => ({ text: item.text, status: item.status })) }),
  ask: (i) =>
    json("ask", {
      questions: questions(i).map(({ question, options }) => ({ question, options: options.map(({ label }) => label) })),
    }),
  subagent: (i) => json("agent", { prompt: str(i.prompt) }),
  web_fetch: (i) => json("fetch", { url: i.url }),
  mcp: (i) => json(mcpName(i), args(i)),
};

export const responsesTools: ToolSet = {
  id: "responses",
  offered: ({ has, takes }) => has("apply_patch", "bash") && takes("bash", "yield_ms"),
  userAgent: /dragoman/i,
  calls: responses,
};
