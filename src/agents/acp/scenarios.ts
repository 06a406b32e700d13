// Scenarios for agents that speak ACP, beyond the common ones: modes, files and commands through the client, histories, and what only Gemini does.
import type { Block, ModelStep, Scenario, SessionSettings } from "../../verify/scenario/scenario.ts";

const say = (text: string): ModelStep => ({ blocks: [{ type: "text", text }] });
const use = (...blocks: Block[]): ModelStep => ({ blocks });
const shell = (command: string): Block => ({ type: "tool", name: "shell", input: { command } });
/** One that changes files: codex-acp asks about it only when the model asks to leave the sandbox. */
const change = (command: string): Block => ({ type: "tool", name: "shell", input: { command, escalate: true } });
const write = (path: string, content: string): Block => ({
  type: "tool",
  name: "write",
  input: { path: `{{cwd}}/${path}`, content },
});
const edit = (path: string, before: string, after: string): Block => ({
  type: "tool",
  name: "edit",
  input: { path: `{{cwd}}/${path}`, old: before, new: after },
});
const read = (path: string): Block => ({ type: "tool", name: "read", input: { path: `{{cwd}}/${path}` } });

const asking: SessionSettings = { permission_mode: "default" };
const free: SessionSettings = { permission_mode: "bypass" };
const hello = { "hello.txt": "hello world\nsecond line\nthird line\n" };
const everyone = ["gemini", "claude-agent-acp", "codex-acp", "opencode-acp", "qwen", "copilot"];
const gemini = ["gemini"];

const modes: Scenario[] = [
  {
    name: "acp-accept-edits",
    title: "in accept_edits an edit asks nobody",
    session: { permission_mode: "accept_edits", files: hello },
    turns: [
      {
        prompt: "Edit the file.",
        steps: [use(read("hello.txt")), use(edit("hello.txt", "hello world", "hello universe")), say("Edited.")],
      },
    ],
    expect: {
      stop_reason: "end_turn",
      no_events: ["permission.requested"],
      files: { "hello.txt": "hello universe" },
      final_text: ["Edited."],
    },
    only: ["gemini", "claude-agent-acp", "qwen"],
  },
  {
    name: "acp-accept-edits-policy",
    title: "in accept_edits an agent without such a mode asks, and our own policy answers",
    session: { permission_mode: "accept_edits", files: hello },
    turns: [
      {
        prompt: "Edit the file.",
        steps: [use(read("hello.txt")), use(edit("hello.txt", "hello world", "hello universe")), say("Edited.")],
      },
    ],
    replies: { permissions: [{ reply: "none" }] },
    expect: {
      stop_reason: "end_turn",
      events: ["permission.resolved"],
      files: { "hello.txt": "hello universe" },
      final_text: ["Edited."],
    },
    only: ["copilot", "opencode-acp"],
  },
  {
    name: "acp-bypass-command",
    title: "in bypass a command waits for nobody",
    session: free,
    turns: [{ prompt: "Make a file.", steps: [use(shell("echo made > made.txt")), say("Made.")] }],
    expect: { stop_reason: "end_turn", files: { "made.txt": "made" }, final_text: ["Made."] },
    only: everyone,
  },
  {
    name: "acp-mode-live",
    title: "the permission mode changes between two turns",
    session: asking,
    turns: [
      { prompt: "Make one.", steps: [use(shell("touch one.txt && echo one")), say("One.")] },
      {
        prompt: "Make two.",
        steps: [use(change("touch two.txt && echo two")), say("Two.")],
        actions: [{ do: "set_permission_mode", when: { on: "start" }, mode: "bypass" }],
      },
    ],
    expect: {
      stop_reason: "end_turn",
      events: ["permission.requested", "config.changed"],
      files: { "one.txt": "", "two.txt": "" },
      final_text: ["Two."],
    },
    only: everyone.filter((agent) => agent !== "codex-acp"),
  },
  {
    name: "acp-plan-mode",
    title: "a session that begins in plan mode",
    session: { permission_mode: "plan" },
    turns: [{ prompt: "What would you do?", steps: [say("I would look first.")] }],
    expect: { stop_reason: "end_turn", events: ["config.changed"], final_text: ["I would look first."] },
    only: everyone,
  },
];

const files: Scenario[] = [
  {
    name: "acp-write-new",
    title: "a new file, asked for and allowed",
    session: asking,
    turns: [
      {
        prompt: "Write a file.",
        steps: [use({ type: "text", text: "I will write." }, write("new.txt", "line one\nline two\n")), say("Written.")],
      },
    ],
    expect: { stop_reason: "end_turn", tools: ["write"], files: { "new.txt": "line two" }, final_text: ["Written."] },
    only: everyone,
  },
  {
    name: "acp-write-new-folder",
    title: "a new file in a folder that does not exist, with letters of many kinds",
    session: free,
    turns: [{ prompt: "Write a file.", steps: [use(write("dír/ünïcode-✓.txt", "žluťoučký 🐴\n")), say("Written.")] }],
    expect: { stop_reason: "end_turn", files: { "dír/ünïcode-✓.txt": "🐴" } },
    only: everyone,
  },
  {
    name: "acp-edit-rejected",
    title: "a rejected edit changes nothing",
    session: { ...asking, files: hello },
    turns: [
      {
        prompt: "Edit the file.",
        steps: [use(read("hello.txt")), use(edit("hello.txt", "hello world", "hello universe")), say("So be it.")],
      },
    ],
    replies: { permissions: [{ reply: "reject", matching: "dit" }, { reply: "once" }] },
    expect: { files: { "hello.txt": "hello world" } },
    only: everyone.filter((agent) => agent !== "codex-acp"),
  },
  {
    name: "acp-edit-twice",
    title: "two edits of one file in one turn",
    session: { ...free, files: hello },
    turns: [
      {
        prompt: "Edit it twice.",
        steps: [
          use(read("hello.txt")),
          use(edit("hello.txt", "hello world", "hello moon")),
          use(edit("hello.txt", "second line", "2nd line")),
          say("Both done."),
        ],
      },
    ],
    expect: { stop_reason: "end_turn", files: { "hello.txt": "hello moon\n2nd line" }, final_text: ["Both done."] },
    only: everyone,
  },
  {
    name: "acp-write-large",
    title: "a file of two thousand lines",
    session: free,
    turns: [
      {
        prompt: "Write much.",
        steps: [
          use(write("large.txt", Array.from({ length: 2000 }, (_, line) => `line ${line + 1}\n`).join(""))),
          say("Written."),
        ],
      },
    ],
    expect: { stop_reason: "end_turn", files: { "large.txt": "line 2000" } },
    only: everyone,
  },
];

const commands: Scenario[] = [
  {
    name: "acp-env",
    title: "the session's variables reach the commands",
    session: { ...free, env: { ACP_SCENARIO_VALUE: "passed-on" } },
    turns: [{ prompt: "Say it.", steps: [use(shell('printf "value=%s" "$ACP_SCENARIO_VALUE"')), say("Said.")] }],
    expect: { stop_reason: "end_turn", model_saw: ["value=passed-on"] },
    only: ["gemini", "claude-agent-acp", "opencode-acp", "qwen", "copilot"],
  },
  {
    name: "acp-command-silent",
    title: "a command that says nothing",
    session: free,
    turns: [{ prompt: "Be quiet.", steps: [use(shell("true")), say("Quiet.")] }],
    expect: { stop_reason: "end_turn", tools: ["shell"], final_text: ["Quiet."] },
    only: everyone,
  },
  {
    name: "acp-command-stderr",
    title: "a command that only complains",
    session: free,
    turns: [{ prompt: "Complain.", steps: [use(shell("echo complaint 1>&2; exit 2")), say("It complained.")] }],
    expect: { stop_reason: "end_turn", model_saw: ["complaint"], final_text: ["It complained."] },
    only: everyone,
  },
  {
    name: "acp-command-rejected-then-other",
    title: "one command rejected in the first turn, another allowed in the second",
    session: asking,
    turns: [
      { prompt: "Make one.", steps: [use(change("touch one.txt && echo one")), say("Rejected, I see.")] },
      { prompt: "Make two.", steps: [use(change("touch two.txt && echo two")), say("Two.")] },
    ],
    replies: { permissions: [{ reply: "reject" }, { reply: "once" }] },
    expect: { stop_reason: "end_turn", files: { "one.txt": null, "two.txt": "" }, final_text: ["Two."] },
    only: everyone,
  },
];

const histories: Scenario[] = [
  {
    name: "acp-resume-after-tools",
    title: "taken up in a new process after a turn with tools: the model remembers, nothing is shown twice",
    session: { ...free, files: hello },
    turns: [
      { prompt: "Read the file.", steps: [use({ type: "text", text: "Reading." }, read("hello.txt")), say("It says hello.")] },
      { prompt: "What did it say?", delivery: { mode: "resume" }, steps: [say("It said hello, as before.")] },
    ],
    expect: { stop_reason: "end_turn", final_text: ["It said hello, as before."], model_saw: ["Read the file."] },
    only: everyone,
  },
  {
    name: "acp-resume-twice",
    title: "taken up twice",
    turns: [
      { prompt: "One.", steps: [say("First.")] },
      { prompt: "Two.", delivery: { mode: "resume" }, steps: [say("Second.")] },
      { prompt: "Three.", delivery: { mode: "resume" }, steps: [say("Third.")] },
    ],
    expect: { stop_reason: "end_turn", final_text: ["Third."], model_saw: ["One.", "Two."] },
    only: everyone,
  },
];

const geminiTurns: readonly Scenario[] = [
  {
    name: "gemini-mode-text",
    title: "the model enters plan mode: told as a text, shown as a change of configuration",
    session: asking,
    turns: [{ prompt: "Plan first.", steps: [use({ type: "tool", name: "enter_plan", input: {} }), say("In plan mode.")] }],
    expect: { stop_reason: "end_turn", events: ["permission.requested", "config.changed"], final_text: ["In plan mode."] },
  },
  {
    name: "gemini-permission-announces",
    title: "a tool announced only by its permission request",
    session: asking,
    turns: [{ prompt: "Run it.", steps: [use(shell("touch announced.txt && echo announced")), say("Ran.")] }],
    expect: {
      stop_reason: "end_turn",
      tools: ["shell"],
      events: ["permission.requested", "permission.resolved"],
      seen_text: ["announced"],
    },
  },
  {
    name: "gemini-always",
    title: "always allowed: the second command of that kind asks no more",
    session: asking,
    turns: [
      {
        prompt: "Run two.",
        steps: [use(shell("touch one.txt && echo one")), use(shell("touch two.txt && echo two")), say("Both.")],
      },
    ],
    replies: { permissions: [{ reply: "always" }] },
    expect: { stop_reason: "end_turn", files: { "one.txt": "", "two.txt": "" }, final_text: ["Both."] },
  },
  {
    name: "gemini-rejected-goes-on",
    title: "after a rejection the model goes on, and the call is closed as failed",
    session: asking,
    turns: [{ prompt: "Run it.", steps: [use(shell("touch no.txt")), say("Then not.")] }],
    replies: { permissions: [{ reply: "reject" }] },
    expect: { stop_reason: "end_turn", files: { "no.txt": null }, final_text: ["Then not."] },
  },
  {
    name: "gemini-safety",
    title: "an answer stopped by the safety filter before its first word",
    turns: [{ prompt: "Say something.", steps: [{ blocks: [], native_stop: "SAFETY" }] }],
    expect: { stop_reason: ["refusal", "end_turn", "error"] },
  },
  {
    name: "gemini-safety-after-text",
    title: "an answer stopped by the safety filter in the middle",
    turns: [{ prompt: "Say something.", steps: [{ blocks: [{ type: "text", text: "I was about to" }], native_stop: "SAFETY" }] }],
    expect: { stop_reason: ["refusal", "end_turn", "error"], seen_text: ["I was about to"] },
  },
  {
    name: "gemini-max-tokens",
    title: "an answer cut at the limit is an end like any other here",
    turns: [{ prompt: "Write.", steps: [{ blocks: [{ type: "text", text: "This answer is cut" }], stop: "max_tokens" }] }],
    expect: { stop_reason: ["end_turn", "output_length"], seen_text: ["This answer is cut"] },
  },
  {
    name: "gemini-recitation",
    title: "a stop word of Google's own",
    turns: [{ prompt: "Recite.", steps: [{ blocks: [{ type: "text", text: "To be or" }], native_stop: "RECITATION" }] }],
    expect: { stop_reason: ["end_turn", "refusal", "error"], seen_text: ["To be or"] },
  },
  {
    name: "gemini-http-number",
    title: "an HTTP number as a JSON-RPC code",
    turns: [{ prompt: "Go.", steps: [{ ...say("Never."), fault: { kind: "http", status: 403 } }] }],
    expect: { stop_reason: "error", error_code: "provider_auth" },
  },
  {
    name: "gemini-unknown-tool",
    title: "a tool that does not exist leaves no trace, and the model goes on",
    turns: [{ prompt: "Use it.", steps: [use({ type: "tool", native_name: "no_such_tool", input: {} }), say("There is none.")] }],
    expect: { stop_reason: "end_turn", final_text: ["There is none."] },
  },
  {
    name: "gemini-outside",
    title: "no file is written outside of the session's directory",
    session: free,
    turns: [
      {
        prompt: "Write outside.",
        steps: [
          use({ type: "tool", name: "write", input: { path: "{{cwd}}/../acp-outside.txt", content: "x" } }),
          say("Not allowed."),
        ],
      },
    ],
    expect: { stop_reason: "end_turn", files: { "../acp-outside.txt": null }, final_text: ["Not allowed."] },
  },
  {
    name: "gemini-about",
    title: "a command of the agent's own, without a model",
    turns: [{ prompt: "/about", steps: [] }],
    expect: { stop_reason: "end_turn", seen_text: ["Gemini CLI Info"] },
  },
  {
    name: "gemini-memory-show",
    title: "another one, with arguments",
    turns: [{ prompt: "/memory show", steps: [] }],
    expect: { stop_reason: "end_turn" },
  },
  {
    name: "gemini-thought-only",
    title: "a thought, then the answer: the mark before each piece of a thought is not shown",
    turns: [
      {
        prompt: "Think.",
        steps: [use({ type: "thinking", text: "Weighing it up.", chunks: 3 }, { type: "text", text: "Weighed." })],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["Weighed."] },
  },
  {
    name: "gemini-glob",
    title: "files by pattern, a tool that asks nobody",
    session: { ...asking, files: hello },
    turns: [{ prompt: "Find files.", steps: [use({ type: "tool", name: "glob", input: { pattern: "*.txt" } }), say("Found.")] }],
    expect: { stop_reason: "end_turn", no_events: ["permission.requested"], final_text: ["Found."] },
  },
  {
    name: "gemini-model",
    title: "a model chosen for the session",
    session: { model: "gemini-2.5-flash" },
    turns: [{ prompt: "Hello.", steps: [say("From flash.")] }],
    expect: { stop_reason: "end_turn", events: ["config.changed"], final_text: ["From flash."] },
  },
  {
    name: "gemini-two-tools-one-rejected",
    title: "two tools of one answer, one rejected: the other one runs",
    session: asking,
    turns: [{ prompt: "Run both.", steps: [use(shell("touch first.txt"), shell("touch second.txt")), say("As you like.")] }],
    replies: { permissions: [{ reply: "reject" }, { reply: "once" }] },
    expect: { stop_reason: "end_turn", final_text: ["As you like."] },
  },
];
const geminiOnly = geminiTurns.map((scenario): Scenario => ({ ...scenario, only: gemini }));

/** For every ACP agent; each scenario says who plays it. */
export const acpScenarios: readonly Scenario[] = [...modes, ...files, ...commands, ...histories, ...geminiOnly];
