/** The two sets of tools of Codex. */
import {
  args,
  defined,
  json,
  list,
  mcpName,
  type NativeCall,
  str,
  type ToolCalls,
  type ToolInput,
  type ToolSet,
} from "../../kit/verify/tool-names.ts";

const codexQuestions = (i: ToolInput) =>
  list(i.questions).map((q, index) => ({
    id: str(q.id) || `question_${index + 1}`,
    header: str(q.header),
    question: str(q.question),
    options: list(q.options).map((o) => ({ label: str(o.label), description: str(o.description) })),
  }));
const codexPlan = (i: ToolInput): ToolInput => ({
  plan: list(i.items).map((item) => ({ step: item.text, status: item.status })),
});
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const prefixed = (mark: string, text: string): string => {
  const lines = text.replace(/\n$/, "").split("\n");
  return lines.map((line) => `${mark}${line}`).join("\n");
};
const addPatch = (i: ToolInput): string =>
  `*** Begin Patch\n*** Add File: ${str(i.path)}\n${prefixed("+", str(i.content))}\n*** End Patch\n`;
const editPatch = (i: ToolInput): string =>
  `*** Begin Patch\n*** Update File: ${str(i.path)}\n@@\n${prefixed("-", str(i.old))}\n${prefixed("+", str(i.new))}\n*** End Patch\n`;
/** codex-acp 2.6 has no mode that asks about every command: the model must ask to leave the sandbox. */
const escalation = { sandbox_permissions: "require_escalated", justification: "It changes files." };
const execCommand = (i: ToolInput): ToolInput =>
  defined({ cmd: i.command, yield_time_ms: i.timeout_ms, ...(i.escalate === true ? escalation : {}) });

const codex: ToolCalls = {
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
const codexCodeMode: ToolCalls = {
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

export const codexTools: readonly ToolSet[] = [
  {
    id: "codex-code-mode",
    offered: ({ protocol, has }) => protocol === "responses" && has("exec") && !has("exec_command"),
    calls: codexCodeMode,
  },
  { id: "codex", offered: ({ has }) => has("exec_command"), userAgent: /codex/i, calls: codex },
];
