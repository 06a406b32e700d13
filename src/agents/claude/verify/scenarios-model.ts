// What the model side does to Claude Code: odd blocks, refusals, limits, faults between retries.
import type { ModelStep, Scenario } from "../../scenario.ts";

const say = (text: string): ModelStep => ({ blocks: [{ type: "text", text }] });
const cut = (text: string): ModelStep => ({ ...say(text), stop: "max_tokens" });
const refuse: ModelStep = { blocks: [{ type: "text", text: "I" }], stop: "refusal" };

export const modelScenarios: readonly Scenario[] = [
  {
    name: "claude-unknown-block",
    title: "a content block nobody knows yet is carried as JSON",
    turns: [
      {
        prompt: "Surprise me.",
        steps: [
          {
            blocks: [
              { type: "native", anthropic: { type: "brand_new_block", payload: { a: 1 } } },
              { type: "text", text: "After it." },
            ],
          },
        ],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["After it."] },
  },
  {
    name: "claude-blocks-in-order",
    title: "thought, text, call, text and call in one message keep their order",
    session: { permission_mode: "bypass" },
    turns: [
      {
        prompt: "Mix it.",
        steps: [
          {
            blocks: [
              { type: "thinking", text: "First a thought." },
              { type: "text", text: "Then words." },
              { type: "tool", name: "shell", input: { command: "echo one" } },
              { type: "text", text: "More words." },
              { type: "tool", name: "shell", input: { command: "echo two" } },
            ],
          },
          say("All in order."),
        ],
      },
    ],
    expect: {
      stop_reason: "end_turn",
      seen_text: ["First a thought.", "Then words.", "More words."],
      final_text: ["All in order."],
    },
  },
  {
    name: "claude-refusal-always",
    title: "every model refuses",
    turns: [{ prompt: "Please answer.", steps: [refuse, refuse, refuse, refuse, refuse, refuse] }],
    expect: { stop_reason: "refusal" },
  },
  {
    name: "claude-output-limit-always",
    title: "the answer never fits: the CLI asks three times to go on, then gives up",
    turns: [
      {
        prompt: "Write a book.",
        steps: [cut("Part one"), cut("part two"), cut("part three"), cut("part four"), cut("part five")],
      },
    ],
    expect: { stop_reason: "output_length", error_code: "output_length" },
  },
  {
    name: "claude-context-window",
    title: "the model stops because its context window is full",
    turns: [
      {
        prompt: "Fill it.",
        steps: [1, 2, 3, 4, 5].map((part) => ({ ...say(`Too much, part ${part}`), stop: "context_window" as const })),
      },
    ],
    expect: { stop_reason: "error", error_code: "context_overflow" },
  },
  {
    name: "claude-interrupt-retry",
    title: "an interrupt while the CLI waits for its next try",
    session: { env: { CLAUDE_CODE_MAX_RETRIES: "8" } },
    turns: [
      {
        prompt: "Try hard.",
        steps: [{ ...say("Never said."), fault: { kind: "http", status: 529 } }],
        actions: [{ do: "interrupt", when: { on: "event", type: "session.status", nth: 2 } }],
      },
    ],
    expect: { stop_reason: "interrupted" },
  },
  {
    name: "claude-credit",
    title: "a credit balance that is too low",
    turns: [
      {
        prompt: "Spend.",
        steps: [
          {
            ...say("Never said."),
            fault: { kind: "http", status: 400, message: "Your credit balance is too low to access the Anthropic API." },
          },
        ],
      },
    ],
    expect: { stop_reason: "error", error_code: "api_error" },
  },
  {
    name: "claude-session-state",
    title: "the CLI's own session state events say nothing new",
    session: { env: { CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: "1" } },
    turns: [{ prompt: "Hello.", steps: [say("Hello with states.")] }],
    expect: { stop_reason: "end_turn", final_text: ["Hello with states."] },
  },
  {
    name: "claude-tool-summary",
    title: "tool calls while the CLI is told to sum them up",
    session: { permission_mode: "bypass", env: { CLAUDE_CODE_EMIT_TOOL_USE_SUMMARIES: "1" } },
    turns: [
      {
        prompt: "Run something.",
        steps: [{ blocks: [{ type: "tool", name: "shell", input: { command: "echo summed-up" } }] }, say("Ran it.")],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["Ran it."] },
  },
  {
    name: "claude-document",
    title: "a text file attached to the message",
    session: { files: { "notes.txt": "the notes say violet\n" } },
    turns: [{ prompt: "Read the notes.", attachments: [{ type: "file", path: "notes.txt" }], steps: [say("Violet, then.")] }],
    expect: { stop_reason: "end_turn", final_text: ["Violet, then."] },
  },
];
