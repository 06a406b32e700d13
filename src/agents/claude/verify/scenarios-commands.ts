// Slash commands, skills and hooks: what Claude Code does before and beside the model.
import type { ModelStep, Scenario } from "../../scenario.ts";

const say = (text: string): ModelStep => ({ blocks: [{ type: "text", text }] });
const hooks = (settings: Record<string, string>) => ({
  ".claude/settings.json": JSON.stringify({
    hooks: Object.fromEntries(
      Object.entries(settings).map(([event, command]) => [event, [{ hooks: [{ type: "command", command }] }]]),
    ),
  }),
});

const counting = Array.from({ length: 30 }, (_, index) => `number ${index}`).join(", ");

export const commandScenarios: readonly Scenario[] = [
  {
    name: "claude-steer-text",
    title: "a prompt that comes while text streams is answered in the turn it was sent into",
    turns: [
      {
        prompt: "Count slowly.",
        steps: [{ blocks: [{ type: "text", text: `Counting: ${counting}.`, chunks: 30 }], chunk_delay_ms: 60 }],
      },
      {
        prompt: "And then say banana.",
        delivery: { mode: "steer", when: { on: "text", text: "number 3" } },
        steps: [say("Banana, as you wish.")],
      },
    ],
    expect: {
      turns: 1,
      stop_reason: "end_turn",
      final_text: ["Banana"],
      model_saw: ["Count slowly.", "And then say banana."],
    },
  },
  {
    name: "claude-compact",
    title: "/compact summarises the conversation and the session goes on",
    turns: [
      { prompt: "Remember the number seven.", steps: [say("Seven it is.")] },
      { prompt: "/compact keep the numbers", steps: [] },
      { prompt: "And now?", steps: [say("Still here after the summary.")] },
    ],
    expect: { stop_reason: "end_turn", events: ["session.compacted"], final_text: ["Still here after the summary."] },
  },
  {
    name: "claude-clear",
    title: "/clear begins a new native conversation in the same session",
    turns: [
      { prompt: "Hello.", steps: [say("Hello before the clearing.")] },
      { prompt: "/clear", steps: [] },
      { prompt: "Hello again.", steps: [say("A clean slate.")] },
    ],
    expect: { stop_reason: "end_turn", final_text: ["A clean slate."] },
  },
  {
    name: "claude-context",
    title: "/context is answered by the CLI itself, as a system item",
    turns: [
      { prompt: "Hello.", steps: [say("Hello there.")] },
      { prompt: "/context", steps: [] },
    ],
    expect: { stop_reason: "end_turn", seen_text: ["Context Usage"] },
  },
  {
    name: "claude-cost",
    title: "/cost is answered by the CLI itself",
    turns: [{ prompt: "/cost", steps: [] }],
    expect: { stop_reason: "end_turn", no_events: ["error"] },
  },
  {
    name: "claude-unknown-command",
    title: "a slash command that does not exist goes to the model as it is",
    turns: [{ prompt: "/no-such-command [[scenario:claude-unknown-command#1]]", steps: [say("There is no such command.")] }],
    expect: { stop_reason: "end_turn", no_events: ["error"] },
  },
  {
    name: "claude-rename",
    title: "/rename gives the session a title",
    turns: [{ prompt: "/rename a good name", steps: [] }],
    expect: { stop_reason: "end_turn", events: ["session.updated"], seen_text: ["a good name"] },
  },
  {
    name: "claude-model-command",
    title: "/model changes the model for the turns that follow",
    turns: [
      { prompt: "/model claude-opus-4-5", steps: [] },
      { prompt: "Who are you?", steps: [say("The other model.")] },
    ],
    expect: { stop_reason: "end_turn", events: ["config.changed"], final_text: ["The other model."] },
  },
  {
    name: "claude-custom-command",
    title: "a command of the repository, with arguments",
    session: { files: { ".claude/commands/greet.md": "Greet $ARGUMENTS. [[scenario:claude-custom-command#1]]\n" } },
    turns: [{ prompt: "/greet the world", steps: [say("Greetings, world.")] }],
    expect: { stop_reason: "end_turn", final_text: ["Greetings, world."], model_saw: ["Greet the world."] },
  },
  {
    name: "claude-skill",
    title: "the model invokes a skill of the repository",
    session: {
      permission_mode: "bypass",
      files: { ".claude/skills/humming/SKILL.md": "---\nname: humming\ndescription: How to hum\n---\nHum quietly.\n" },
    },
    turns: [
      {
        prompt: "Hum.",
        steps: [{ blocks: [{ type: "tool", native_name: "Skill", input: { skill: "humming" } }] }, say("Mmm.")],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["Mmm."] },
  },
  {
    name: "claude-goal",
    title: "/goal clear is answered by the CLI itself",
    turns: [
      { prompt: "Hello.", steps: [say("Hello.")] },
      { prompt: "/goal clear", steps: [] },
    ],
    expect: { stop_reason: "end_turn" },
  },
  {
    name: "claude-hook-session-start",
    title: "a SessionStart hook reports before the first turn",
    session: { files: hooks({ SessionStart: "echo hook-ran" }) },
    turns: [{ prompt: "Hello.", steps: [say("Hello after the hook.")] }],
    expect: { stop_reason: "end_turn", events: ["agent.notice"], final_text: ["Hello after the hook."] },
  },
  {
    name: "claude-hook-blocks-prompt",
    title: "a UserPromptSubmit hook blocks the prompt: the model is never asked",
    session: { files: hooks({ UserPromptSubmit: "echo not-today >&2; exit 2" }) },
    turns: [{ prompt: "Hello.", steps: [say("Never said.")] }],
    expect: { stop_reason: "end_turn", seen_text: ["not-today"] },
  },
  {
    name: "claude-hook-denies-tool",
    title: "a PreToolUse hook refuses a call, the model goes on",
    session: { permission_mode: "bypass", files: hooks({ PreToolUse: "echo hook-says-no >&2; exit 2" }) },
    turns: [
      {
        prompt: "Make a file.",
        steps: [{ blocks: [{ type: "tool", name: "shell", input: { command: "touch made.txt" } }] }, say("It was refused.")],
      },
    ],
    expect: {
      stop_reason: "end_turn",
      seen_text: ["hook-says-no"],
      final_text: ["It was refused."],
      files: { "made.txt": null },
    },
  },
  {
    name: "claude-hook-stop",
    title: "a Stop hook sends the agent on once",
    session: { files: hooks({ Stop: "test -e went-on || { touch went-on; echo go-on >&2; exit 2; }" }) },
    turns: [{ prompt: "Stop early.", steps: [say("Done so far."), say("Really done.")] }],
    expect: { stop_reason: "end_turn", final_text: ["Really done."], seen_text: ["go-on"] },
  },
];
