// Scenarios in which the person does not wait: interrupts, queued and steering prompts, kills, compaction, live settings.

import type { ModelStep, Scenario, SessionSettings } from "../../../agents/scenario.ts";

const say = (text: string): ModelStep => ({ blocks: [{ type: "text", text }] });
const count = Array.from({ length: 120 }, (_, index) => `number ${index + 1}`).join(", ");
const slow: ModelStep = { blocks: [{ type: "text", text: `Counting: ${count}.`, chunks: 120 }], chunk_delay_ms: 100 };
const sleeper: ModelStep = {
  blocks: [{ type: "tool", name: "shell", input: { command: "echo sleeper-started; sleep 30; echo never" } }],
};
const free: SessionSettings = { permission_mode: "bypass" };

export const controlScenarios: readonly Scenario[] = [
  {
    name: "interrupt-text",
    title: "interrupted in the middle of a text; the next turn works",
    turns: [
      { prompt: "Count slowly.", steps: [slow], actions: [{ do: "interrupt", when: { on: "text", text: "number 3" } }] },
      { prompt: "And now?", steps: [say("Now I am here again.")] },
    ],
    expect: { stop_reason: "end_turn", final_text: ["Now I am here again."] },
  },
  {
    name: "interrupt-thinking",
    title: "interrupted in the middle of thinking",
    turns: [
      {
        prompt: "Think slowly.",
        steps: [
          {
            blocks: [
              { type: "thinking", text: `Thinking: ${count}.`, chunks: 120 },
              { type: "text", text: "Never said." },
            ],
            chunk_delay_ms: 100,
          },
        ],
        actions: [{ do: "interrupt", when: { on: "event", type: "item.delta", nth: 3 } }],
      },
    ],
    expect: { stop_reason: "interrupted" },
  },
  {
    name: "interrupt-tool",
    title: "interrupted while a command runs; the next turn works",
    session: free,
    turns: [
      { prompt: "Sleep long.", steps: [sleeper, say("Not reached.")], actions: [{ do: "interrupt", when: { on: "tool" } }] },
      { prompt: "And now?", steps: [say("Awake again.")] },
    ],
    expect: { stop_reason: "end_turn", final_text: ["Awake again."] },
  },
  {
    name: "interrupt-hang",
    title: "the provider never answers, until the person interrupts",
    turns: [
      {
        prompt: "Answer me.",
        steps: [{ ...say("Never said."), fault: { kind: "hang" } }],
        actions: [{ do: "interrupt", when: { on: "request", step: 1 } }],
      },
    ],
    expect: { stop_reason: "interrupted" },
  },
  {
    name: "interrupt-stalled-stream",
    title: "the stream stalls in mid-answer, until the person interrupts",
    turns: [
      {
        prompt: "Answer me in full.",
        steps: [
          {
            blocks: [{ type: "text", text: "It begins well and then stalls for good.", chunks: 8 }],
            fault: { kind: "hang", after_chunks: 3 },
          },
        ],
        actions: [{ do: "interrupt", when: { on: "text", text: "It begins" } }],
      },
    ],
    expect: { stop_reason: "interrupted" },
  },
  {
    name: "queue-two",
    title: "two more prompts are sent while the first turn runs",
    session: free,
    turns: [
      {
        prompt: "Take your time.",
        steps: [
          { blocks: [{ type: "tool", name: "shell", input: { command: "sleep 1; echo took-my-time" } }] },
          say("First done."),
        ],
      },
      { prompt: "Second, queued.", delivery: { mode: "queue", when: { on: "tool" } }, steps: [say("Second done.")] },
      { prompt: "Third, queued.", delivery: { mode: "queue", when: { on: "tool" } }, steps: [say("Third done.")] },
    ],
    expect: { final_text: ["Third done."], model_saw: ["Take your time.", "Second, queued.", "Third, queued."] },
  },
  {
    name: "steer",
    title: "a prompt steers the running turn",
    session: free,
    turns: [
      {
        prompt: "Start with this.",
        steps: [
          { blocks: [{ type: "tool", name: "shell", input: { command: "sleep 1; echo half-way" } }] },
          say("Finished the first thing."),
        ],
      },
      { prompt: "Rather do that.", delivery: { mode: "steer", when: { on: "tool" } }, steps: [say("Doing that instead.")] },
    ],
    expect: { final_text: ["Doing that instead."], model_saw: ["Rather do that."] },
  },
  {
    name: "kill-agent",
    title: "the agent is killed in mid-answer; the next prompt resumes the session",
    turns: [
      {
        prompt: "Remember the word marzipan and count.",
        steps: [slow],
        actions: [{ do: "kill_agent", when: { on: "text", text: "number 3" }, signal: "SIGKILL" }],
      },
      { prompt: "Which word?", delivery: { mode: "resume" }, steps: [say("Marzipan.")] },
    ],
    expect: { final_text: ["Marzipan."], model_saw: ["Remember the word marzipan and count."] },
    tags: ["process"],
  },
  {
    name: "terminate",
    title: "the session is terminated while a command runs",
    session: free,
    turns: [{ prompt: "Sleep long.", steps: [sleeper], actions: [{ do: "terminate", when: { on: "tool" } }] }],
    expect: { events: ["session.ended"] },
    tags: ["process"],
  },
  {
    name: "compact",
    title: "the conversation is compacted between two turns",
    turns: [
      { prompt: "Tell me something to summarise.", steps: [say("Something worth a summary.")] },
      { prompt: "Something more.", steps: [say("More of it.")] },
      {
        prompt: "Go on after the summary.",
        actions: [{ do: "compact", when: { on: "start" } }],
        steps: [say("Going on after the summary.")],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["Going on after the summary."] },
  },
  {
    name: "set-model",
    title: "another model from the second turn on",
    turns: [
      { prompt: "First model.", steps: [say("I am the first model.")] },
      {
        prompt: "Second model.",
        actions: [{ do: "set_model", when: { on: "start" }, model: "{{other_model}}" }],
        steps: [say("I am the second model.")],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["I am the second model."] },
  },
];
