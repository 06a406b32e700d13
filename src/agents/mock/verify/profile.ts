// The mock agent: it talks to no model, so its scenarios are made of its own commands. They show that the harness itself works.

import type { VerifyProfile } from "../../kit/verify/profile.ts";
import type { Scenario } from "../../scenario.ts";

type Rest = Omit<Scenario, "name" | "title" | "turns">;

const turn = (prompt: string): Scenario["turns"][number] => ({ prompt, steps: [] });
const one = (name: string, title: string, prompt: string, rest: Rest = {}): Scenario => ({
  name,
  title,
  turns: [turn(prompt)],
  ...rest,
  only: ["mock"],
});

const done: Rest = { expect: { stop_reason: "end_turn" } };

export const mockScenarios: readonly Scenario[] = [
  one("mock-text", "a short answer", "say Hello there.", { expect: { stop_reason: "end_turn", final_text: ["Hello there."] } }),
  one("mock-thinking", "thinking, then an answer", "think Let me see.", done),
  one("mock-shell", "a command with streamed output", "shell ls", { expect: { stop_reason: "end_turn", tools: ["shell"] } }),
  one("mock-shell-fail", "a command that exits with 3", "fail", { expect: { stop_reason: "end_turn", tools: ["shell"] } }),
  one("mock-edit", "a file change with its diff", "edit", { expect: { stop_reason: "end_turn", tools: ["edit"] } }),
  one("mock-plan", "a plan that moves on", "plan", done),
  one("mock-subagent", "a sub-agent", "subagent", { expect: { stop_reason: "end_turn", tools: ["subagent"] } }),
  one("mock-parts", "every other kind of part", "parts", done),
  one("mock-steps", "steps with tokens and cost", "steps", { expect: { events: ["step.started", "step.ended"] } }),
  one("mock-facts", "facts about the session", "facts", {
    expect: { events: ["usage.updated", "config.changed", "agent.notice"] },
  }),
  one("mock-remove", "a message that is taken back", "remove", { expect: { events: ["item.removed"] } }),
  one("mock-retry", "retries of the provider", "retry 2", { expect: { stop_reason: "end_turn", events: ["session.status"] } }),
  one("mock-error", "a turn that fails", "error rate_limit", { expect: { stop_reason: "error", error_code: "rate_limit" } }),
  one("mock-refusal", "a refusal", "refuse", { expect: { stop_reason: "refusal" } }),
  one("mock-permission-allow", "a permission, given", "ask make test", {
    replies: { permissions: [{ reply: "once" }] },
    expect: { stop_reason: "end_turn", events: ["permission.requested", "permission.resolved"] },
  }),
  one("mock-permission-deny", "a permission, denied", "ask make test", {
    replies: { permissions: [{ reply: "reject", message: "Not now." }] },
    expect: { events: ["permission.requested", "permission.resolved"] },
  }),
  one("mock-question", "two questions, answered", "question", {
    replies: { questions: [{ answers: [["Large"], ["Cheese", "Basil"]] }] },
    expect: { stop_reason: "end_turn", events: ["question.requested", "question.resolved"] },
  }),
  one("mock-garbage", "what is no message is said to be none", "garbage", { expect: { events: ["agent.unparsed"] } }),
  {
    name: "mock-interrupt",
    title: "interrupted; the next turn works",
    only: ["mock"],
    turns: [
      {
        ...turn("slow 100 one two three\nhang"),
        actions: [{ do: "interrupt", when: { on: "text", text: "two" } }],
      },
      turn("say Here again."),
    ],
    expect: { stop_reason: "end_turn", final_text: ["Here again."] },
  },
  {
    name: "mock-queue",
    title: "a second message is queued",
    only: ["mock"],
    turns: [
      turn("slow 50 one two three four"),
      { ...turn("say Second."), delivery: { mode: "queue", when: { on: "text", text: "one" } } },
    ],
    expect: { stop_reason: "end_turn", final_text: ["Second."] },
  },
  {
    name: "mock-steer",
    title: "a message steers the running turn",
    only: ["mock"],
    turns: [
      turn("slow 100 one two three four five\nhold"),
      { ...turn("to the left"), delivery: { mode: "steer", when: { on: "text", text: "one" } } },
    ],
    expect: { stop_reason: "end_turn", seen_text: ["Steered: to the left"] },
  },
  {
    name: "mock-set-model",
    title: "another model between two turns",
    only: ["mock"],
    turns: [
      turn("say One."),
      { ...turn("say Two."), actions: [{ do: "set_model", when: { on: "start" }, model: "{{other_model}}" }] },
    ],
    expect: { stop_reason: "end_turn", events: ["config.changed"] },
  },
  {
    name: "mock-resume",
    title: "a new process remembers the conversation",
    only: ["mock"],
    turns: [turn("say heliotrope"), { ...turn("remember"), delivery: { mode: "resume" } }],
    expect: { stop_reason: "end_turn", final_text: ["heliotrope"] },
  },
  {
    name: "mock-kill",
    title: "killed in mid-turn; the conversation goes on in a new process",
    only: ["mock"],
    turns: [
      { ...turn("slow 100 one two three\nhang"), actions: [{ do: "kill_agent", when: { on: "text", text: "two" } }] },
      { ...turn("remember"), delivery: { mode: "resume" } },
    ],
    expect: { stop_reason: "end_turn", final_text: ["slow 100 one"] },
  },
  {
    name: "mock-terminate",
    title: "terminated in mid-turn",
    only: ["mock"],
    turns: [{ ...turn("hang"), actions: [{ do: "terminate", when: { on: "event", type: "turn.started" } }] }],
    expect: { events: ["session.ended"] },
  },
];

export const mockProfile: VerifyProfile = {
  agent: "mock",
  onlyByName: true,
  commonScenarios: false,
  scenarios: mockScenarios,
  marks: false,
  models: { first: "mock-1", other: "mock-2" },
  compact: null,
  parallel: 4,
  setUp: async () => ({ env: {} }),
};
