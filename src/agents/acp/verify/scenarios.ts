// Scenarios for agents that speak ACP, beyond the common ones: modes, files and commands through the client, histories.
import type { Scenario } from "../../scenario.ts";
import { geminiScenarios } from "./gemini-scenarios.ts";
import { asking, change, edit, everyone, free, hello, read, say, shell, use, write } from "./scenario-words.ts";

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
    // copilot 1.0.102 makes no folders for a new file.
    only: everyone.filter((agent) => agent !== "copilot"),
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

/** For every ACP agent; each scenario says who plays it. */
export const acpScenarios: readonly Scenario[] = [...modes, ...files, ...commands, ...histories, ...geminiScenarios];
