// Permissions, questions and plans in Claude Code's own ways.
import type { ModelStep, Scenario } from "../../scenario.ts";

const say = (text: string): ModelStep => ({ blocks: [{ type: "text", text }] });
const touch = (file: string): ModelStep => ({ blocks: [{ type: "tool", name: "shell", input: { command: `touch ${file}` } }] });
const child = (name: string): string => `Do your part. [[scenario:${name}#1]]`;

export const decisionScenarios: readonly Scenario[] = [
  {
    name: "claude-edited-input",
    title: "a permission is given for another command than the one asked for",
    turns: [{ prompt: "Make a file.", steps: [touch("asked.txt"), say("A file was made.")] }],
    replies: { permissions: [{ reply: "once", updated_input: { command: "touch edited.txt", description: "edited" } }] },
    expect: { stop_reason: "end_turn", files: { "edited.txt": "", "asked.txt": null } },
  },
  {
    name: "claude-reject-and-stop",
    title: "a permission is rejected and the turn stopped",
    turns: [{ prompt: "Make a file.", steps: [touch("made.txt"), say("Not reached.")] }],
    replies: { permissions: [{ reply: "reject", interrupt: true }] },
    expect: { stop_reason: "interrupted", files: { "made.txt": null } },
  },
  {
    name: "claude-always-is-for-the-session",
    title: "a rule given for good stays in memory: nothing is written into the repository",
    turns: [
      { prompt: "Make a file.", steps: [touch("one.txt"), say("Made once.")] },
      { prompt: "Again.", steps: [touch("one.txt"), say("Made twice.")] },
    ],
    replies: { permissions: [{ reply: "always" }, { reply: "reject" }] },
    expect: {
      stop_reason: "end_turn",
      final_text: ["Made twice."],
      files: { "one.txt": "", ".claude/settings.local.json": null },
    },
  },
  {
    name: "claude-deny-rule",
    title: "a rule of the repository refuses without asking anybody",
    session: { files: { ".claude/settings.json": JSON.stringify({ permissions: { deny: ["Bash(touch:*)"] } }) } },
    turns: [{ prompt: "Make a file.", steps: [touch("made.txt"), say("A rule forbids it.")] }],
    expect: { stop_reason: "end_turn", events: ["permission.resolved"], files: { "made.txt": null } },
  },
  {
    name: "claude-write-outside",
    title: "a file outside of the working folder needs a permission",
    turns: [
      {
        prompt: "Write elsewhere.",
        steps: [
          { blocks: [{ type: "tool", native_name: "Write", input: { file_path: "/tmp/dragoman-outside.txt", content: "x\n" } }] },
          say("It was not allowed."),
        ],
      },
    ],
    replies: { permissions: [{ reply: "reject", message: "Stay inside." }] },
    expect: { stop_reason: "end_turn", events: ["permission.requested"], seen_text: ["Stay inside."] },
  },
  {
    name: "claude-subagent-permission",
    title: "a permission asked by a sub-agent",
    turns: [
      {
        prompt: "Delegate it.",
        steps: [
          {
            blocks: [
              {
                type: "tool",
                name: "subagent",
                input: { description: "make a file", prompt: child("claude-subagent-permission-child") },
              },
            ],
          },
          say("The sub-agent made it."),
        ],
      },
    ],
    replies: { permissions: [{ reply: "once" }] },
    expect: { stop_reason: "end_turn", events: ["permission.requested"], files: { "by-sub.txt": "" } },
  },
  {
    name: "claude-subagent-permission-child",
    title: "the sub-agent of claude-subagent-permission",
    tags: ["part"],
    turns: [{ prompt: "Do your part.", steps: [touch("by-sub.txt"), say("Made.")] }],
  },
  {
    name: "claude-plan-with-edits",
    title: "a plan is approved together with its edits",
    session: { permission_mode: "plan" },
    turns: [
      {
        prompt: "Plan it.",
        steps: [
          { blocks: [{ type: "tool", name: "plan", input: { text: "1. Write a file" } }] },
          { blocks: [{ type: "tool", name: "write", input: { path: "{{cwd}}/planned.txt", content: "as planned\n" } }] },
          say("Done as planned."),
        ],
      },
    ],
    replies: { questions: [{ answers: [["Approve and accept edits"]] }] },
    expect: {
      stop_reason: "end_turn",
      events: ["question.resolved", "config.changed"],
      no_events: ["permission.requested"],
      files: { "planned.txt": "as planned" },
    },
  },
  {
    name: "claude-plan-feedback",
    title: "a plan is sent back with words",
    session: { permission_mode: "plan" },
    turns: [
      {
        prompt: "Plan it.",
        steps: [
          { blocks: [{ type: "tool", name: "plan", input: { text: "1. Do it all at once" } }] },
          say("I will make the steps smaller."),
        ],
      },
    ],
    replies: { questions: [{ answers: [["Smaller steps, please."]] }] },
    expect: { stop_reason: "end_turn", model_saw: ["Smaller steps, please."] },
  },
  {
    name: "claude-enter-plan",
    title: "the model enters plan mode by itself",
    turns: [{ prompt: "Plan first.", steps: [{ blocks: [{ type: "tool", name: "enter_plan", input: {} }] }, say("Planning.")] }],
    expect: { stop_reason: "end_turn", events: ["config.changed"], final_text: ["Planning."] },
  },
  {
    name: "claude-mode-in-mid-turn",
    title: "the permission mode changes while the turn runs",
    turns: [
      {
        prompt: "Take your time, then write.",
        steps: [
          { blocks: [{ type: "tool", name: "shell", input: { command: "sleep 2" } }] },
          { blocks: [{ type: "tool", name: "write", input: { path: "{{cwd}}/later.txt", content: "later\n" } }] },
          say("Written without a question."),
        ],
        actions: [{ do: "set_permission_mode", when: { on: "tool" }, mode: "accept_edits" }],
      },
    ],
    expect: { stop_reason: "end_turn", files: { "later.txt": "later" } },
  },
];
