// Scenarios only Amp needs: permissions decided before the turn, answers that never end, a conversation made of many processes.
import type { ModelStep, Scenario } from "../../scenario.ts";

const say = (text: string): ModelStep => ({ blocks: [{ type: "text", text }] });
const touch = (file: string): ModelStep => ({
  blocks: [{ type: "tool", name: "shell", input: { command: `touch ${file} && echo made-${file}` } }],
});
/** One of the few commands the built-in rules of both builds ask about. */
const push: ModelStep = { blocks: [{ type: "tool", name: "shell", input: { command: "touch made.txt; git push origin main" } }] };
const asking = { ".amp/settings.json": JSON.stringify({ "amp.permissions": [{ tool: "Bash", action: "ask" }] }) };
const only = ["amp"];
const hello = { "hello.txt": "hello world\nsecond line\nthird line\n" };

export const ampScenarios: readonly Scenario[] = [
  {
    name: "amp-approval-needed",
    title: "a command that would need approval is refused: a denied permission, and the model goes on",
    session: { permission_mode: "default" },
    turns: [{ prompt: "Push it.", steps: [push, say("It was not allowed.")] }],
    expect: {
      stop_reason: "end_turn",
      final_text: ["It was not allowed."],
      events: ["permission.requested", "permission.resolved"],
      files: { "made.txt": null },
      model_saw: ["Needs an approval"],
    },
    only,
  },
  {
    name: "amp-approval-needed-then-bypass",
    title: "the same conversation goes on once it may do everything",
    session: { permission_mode: "default" },
    turns: [
      { prompt: "Push it.", steps: [push, say("It was not allowed.")] },
      {
        prompt: "Now you may.",
        actions: [{ do: "set_permission_mode", when: { on: "start" }, mode: "bypass" }],
        steps: [touch("made.txt"), say("Made it.")],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["Made it."], files: { "made.txt": "" }, model_saw: ["Push it."] },
    only,
  },
  {
    name: "amp-approval-ends-run",
    title:
      "a rule of the repository asks: the run ends as a denied permission with advice (or is refused, by a build that would hang)",
    session: { permission_mode: "default", files: asking },
    turns: [{ prompt: "Make a file.", steps: [touch("made.txt"), say("Not reached.")] }],
    expect: {
      stop_reason: "error",
      error_code: "execution_error",
      files: { "made.txt": null },
    },
    only,
  },
  {
    name: "amp-approval-ends-run-then-ok",
    title: "and the session lives on, although Amp cannot continue that thread",
    session: { permission_mode: "default", files: asking },
    turns: [
      { prompt: "Make a file.", steps: [touch("made.txt"), say("Not reached.")] },
      {
        prompt: "Never mind.",
        actions: [{ do: "set_permission_mode", when: { on: "start" }, mode: "bypass" }],
        steps: [say("As you like.")],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["As you like."] },
    only,
  },
  {
    name: "amp-default-allows-reading",
    title: "reading and harmless commands need no permission",
    session: { permission_mode: "default", files: hello },
    turns: [
      {
        prompt: "Look around.",
        steps: [
          { blocks: [{ type: "tool", name: "read", input: { path: "{{cwd}}/hello.txt" } }] },
          { blocks: [{ type: "tool", name: "shell", input: { command: "ls" } }] },
          say("Looked around."),
        ],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["Looked around."], no_events: ["permission.requested"] },
    only,
  },
  {
    name: "amp-plan-mode",
    title: "in plan mode commands and edits are refused, and the model goes on",
    session: { permission_mode: "plan", files: hello },
    turns: [
      {
        prompt: "Change things.",
        steps: [
          { blocks: [{ type: "tool", name: "read", input: { path: "{{cwd}}/hello.txt" } }] },
          touch("made.txt"),
          { blocks: [{ type: "tool", name: "edit", input: { path: "{{cwd}}/hello.txt", old: "hello world", new: "changed" } }] },
          { blocks: [{ type: "tool", name: "write", input: { path: "{{cwd}}/new.txt", content: "new\n" } }] },
          say("I would have changed three things."),
        ],
      },
    ],
    expect: {
      stop_reason: "end_turn",
      final_text: ["I would have changed three things."],
      events: ["permission.requested", "permission.resolved"],
      files: { "made.txt": null, "new.txt": null, "hello.txt": "hello world" },
      model_saw: ["Not allowed in plan mode"],
    },
    only,
  },
  {
    name: "amp-plan-mode-subagent",
    title: "plan mode holds for what a sub-agent does, too",
    session: { permission_mode: "plan" },
    turns: [
      {
        prompt: "Delegate it.",
        steps: [
          {
            blocks: [
              {
                type: "tool",
                name: "subagent",
                input: { description: "sub task", prompt: "Do it. [[scenario:amp-plan-mode-child#1]]" },
              },
            ],
          },
          say("The sub-agent could not."),
        ],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["The sub-agent could not."], files: { "child.txt": null } },
    only,
  },
  {
    name: "amp-plan-mode-child",
    title: "what the sub-agent of `amp-plan-mode-subagent` tries",
    tags: ["part"],
    turns: [{ prompt: "Do it.", steps: [touch("child.txt"), say("Tried it.")] }],
    only,
  },
  {
    name: "amp-accept-edits",
    title: "edits are allowed; a command that needs approval is still refused",
    session: { permission_mode: "accept_edits", files: hello },
    turns: [
      {
        prompt: "Edit and run.",
        steps: [
          { blocks: [{ type: "tool", name: "write", input: { path: "{{cwd}}/new.txt", content: "new\n" } }] },
          { blocks: [{ type: "tool", name: "read", input: { path: "{{cwd}}/hello.txt" } }] },
          {
            blocks: [
              { type: "tool", name: "edit", input: { path: "{{cwd}}/hello.txt", old: "hello world", new: "hello universe" } },
            ],
          },
          push,
          say("Edited, not pushed."),
        ],
      },
    ],
    expect: {
      stop_reason: "end_turn",
      final_text: ["Edited, not pushed."],
      events: ["permission.requested"],
      files: { "new.txt": "new", "hello.txt": "hello universe", "made.txt": null },
    },
    only,
  },
  {
    name: "amp-repository-cannot-allow",
    title: "settings in the repository do not widen the session's permissions",
    session: {
      permission_mode: "plan",
      files: {
        ".amp/settings.json": JSON.stringify({
          "amp.dangerouslyAllowAll": true,
          "amp.permissions": [{ tool: "*", action: "allow" }],
        }),
      },
    },
    turns: [{ prompt: "Make a file.", steps: [touch("made.txt"), say("Not reached.")] }],
    expect: { refused: true },
    only,
  },
  {
    name: "amp-incomplete-then-ok",
    title: "an answer that is cut off makes Amp hang; it is reported, and the next turn works",
    turns: [
      { prompt: "Answer at length.", steps: [{ blocks: [{ type: "text", text: "This answer is cut" }], stop: "max_tokens" }] },
      { prompt: "And now?", steps: [say("Whole this time.")] },
    ],
    expect: { stop_reason: "end_turn", final_text: ["Whole this time."], events: ["error"] },
    only,
  },
  {
    name: "amp-first-turn-interrupted",
    title: "what was said in a first turn that was interrupted is not forgotten",
    turns: [
      {
        prompt: "Remember the word gentian.",
        steps: [{ ...say("Never said."), fault: { kind: "hang" } }],
        actions: [{ do: "interrupt", when: { on: "request", step: 1 } }],
      },
      { prompt: "Which word?", steps: [say("Gentian.")] },
    ],
    expect: { stop_reason: "end_turn", final_text: ["Gentian."], model_saw: ["Remember the word gentian."] },
    only,
  },
  {
    name: "amp-conversation-of-processes",
    title: "four turns in four processes, one of them failed, one resumed: one conversation",
    session: { permission_mode: "bypass" },
    turns: [
      { prompt: "First: the word is larkspur.", steps: [say("Larkspur it is.")] },
      { prompt: "Second: run a command.", steps: [touch("second.txt"), say("Ran it.")] },
      { prompt: "Third: fail.", steps: [{ ...say("Never said."), fault: { kind: "http", status: 400 } }] },
      { prompt: "Fourth: which word?", delivery: { mode: "resume" }, steps: [say("Larkspur.")] },
    ],
    expect: {
      stop_reason: "end_turn",
      final_text: ["Larkspur."],
      model_saw: ["First: the word is larkspur.", "Larkspur it is.", "made-second.txt", "Fourth: which word?"],
    },
    only,
  },
  {
    name: "amp-tool-result-forms",
    title: "a directory, a missing file, a failing command and a search: each result in a form of its own",
    session: { permission_mode: "bypass", files: hello },
    turns: [
      {
        prompt: "Use many tools.",
        steps: [
          {
            blocks: [
              { type: "tool", name: "read", input: { path: "{{cwd}}" } },
              { type: "tool", name: "read", input: { path: "{{cwd}}/missing.txt" } },
              { type: "tool", name: "shell", input: { command: "echo to-stdout; echo to-stderr >&2; exit 7" } },
              { type: "tool", name: "search", input: { pattern: "hello", path: "{{cwd}}" } },
              { type: "tool", name: "glob", input: { pattern: "**/*.txt" } },
            ],
          },
          say("Used them all."),
        ],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["Used them all."], seen_text: ["to-stdout", "hello.txt"] },
    only,
  },
];
