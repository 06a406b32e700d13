// Tools only Claude Code has, and the ways its common tools go wrong.
import type { Block, ModelStep, Scenario, SessionSettings } from "../../scenario.ts";

const free: SessionSettings = { permission_mode: "bypass" };
const say = (text: string): ModelStep => ({ blocks: [{ type: "text", text }] });
const call = (native_name: string, input: Record<string, unknown>): Block => ({ type: "tool", native_name, input });
const step = (...blocks: Block[]): ModelStep => ({ blocks });
const notebook = JSON.stringify({
  cells: [{ cell_type: "code", id: "c1", metadata: {}, source: ["print(1)"], outputs: [], execution_count: null }],
  metadata: {},
  nbformat: 4,
  nbformat_minor: 5,
});
const DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export const toolScenarios: readonly Scenario[] = [
  {
    name: "claude-notebook",
    title: "a notebook cell is edited: a diff of the file",
    session: { ...free, files: { "nb.ipynb": notebook } },
    turns: [
      {
        prompt: "Edit the notebook.",
        steps: [
          step(call("Read", { file_path: "{{cwd}}/nb.ipynb" })),
          step(call("NotebookEdit", { notebook_path: "{{cwd}}/nb.ipynb", cell_id: "c1", new_source: "print(2)" })),
          say("Edited."),
        ],
      },
    ],
    expect: { stop_reason: "end_turn", files: { "nb.ipynb": "print(2)" } },
  },
  {
    name: "claude-read-image",
    title: "a picture that is read becomes an artifact",
    session: free,
    turns: [
      {
        prompt: "Look at it.",
        steps: [
          step(call("Bash", { command: `echo ${DOT} | base64 -d > dot.png`, description: "Make a picture" })),
          step(call("Read", { file_path: "{{cwd}}/dot.png" })),
          say("A small dot."),
        ],
      },
    ],
    expect: { stop_reason: "end_turn", events: ["artifact.written"], final_text: ["A small dot."] },
  },
  {
    name: "claude-tasks",
    title: "the task tools keep one plan",
    // The default model of 2.1.325 has no task tools; this one has.
    session: { ...free, model: "claude-sonnet-4-5" },
    turns: [
      {
        prompt: "Make a list.",
        steps: [
          step(call("TaskCreate", { subject: "Write code", description: "Write it" })),
          step(call("TaskUpdate", { taskId: "1", status: "in_progress" })),
          step(call("TaskList", {})),
          say("Listed."),
        ],
      },
    ],
    expect: { stop_reason: "end_turn", events: ["item.updated"], final_text: ["Listed."] },
  },
  {
    name: "claude-overwrite",
    title: "a file is written, edited and overwritten",
    session: free,
    turns: [
      {
        prompt: "Work on the file.",
        steps: [
          step(call("Write", { file_path: "{{cwd}}/n.txt", content: "alpha\nbeta\n" })),
          step(call("Edit", { file_path: "{{cwd}}/n.txt", old_string: "beta", new_string: "gamma" })),
          step(call("Write", { file_path: "{{cwd}}/n.txt", content: "rewritten\n" })),
          say("Rewritten."),
        ],
      },
    ],
    expect: { stop_reason: "end_turn", files: { "n.txt": "rewritten" } },
  },
  {
    name: "claude-tool-search",
    title: "a tool that is loaded only when it is looked for",
    session: free,
    turns: [
      { prompt: "Look for a tool.", steps: [step(call("ToolSearch", { query: "select:NotebookEdit" })), say("Found it.")] },
    ],
    expect: { stop_reason: "end_turn", final_text: ["Found it."] },
  },
  {
    name: "claude-shell-timeout",
    title: "a command that runs into its own time limit",
    session: free,
    turns: [
      {
        prompt: "Run it for too long.",
        steps: [step(call("Bash", { command: "sleep 20", description: "Sleep", timeout: 1500 })), say("It took too long.")],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["It took too long."] },
  },
  {
    name: "claude-shell-over-three-seconds",
    title: "a command of more than three seconds becomes a task",
    session: free,
    turns: [
      {
        prompt: "Run it for a while.",
        steps: [step(call("Bash", { command: "sleep 4; echo slow-done", description: "Slow command" })), say("Slow but done.")],
      },
    ],
    expect: { stop_reason: "end_turn", seen_text: ["slow-done"] },
  },
  {
    name: "claude-input-error",
    title: "a call whose input does not fit the tool",
    session: free,
    turns: [{ prompt: "Call it wrongly.", steps: [step(call("Read", { wrong: 1 })), say("The input was wrong.")] }],
    expect: { stop_reason: "end_turn", final_text: ["The input was wrong."] },
  },
  {
    name: "claude-parallel-one-fails",
    title: "two calls in one message, one of them fails",
    session: free,
    turns: [
      {
        prompt: "Do both.",
        steps: [
          step(
            call("Bash", { command: "exit 1", description: "Fails" }),
            call("Bash", { command: "echo survived", description: "Works" }),
          ),
          say("One failed, one worked."),
        ],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["One failed, one worked."] },
  },
  {
    name: "claude-cron",
    title: "a schedule is made and listed",
    session: free,
    turns: [
      {
        prompt: "Schedule it.",
        steps: [
          step(call("CronCreate", { cron: "0 0 1 1 *", prompt: "happy new year", recurring: false })),
          step(call("CronList", {})),
          say("Scheduled."),
        ],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["Scheduled."] },
  },
];
