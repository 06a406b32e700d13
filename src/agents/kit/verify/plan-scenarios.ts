/** Scenarios of agents whose model shows a plan with a tool of its own, and waits for its approval. */
import type { ModelStep, Scenario } from "../../scenario.ts";

const say = (text: string): ModelStep => ({ blocks: [{ type: "text", text }] });

export const planScenarios: readonly Scenario[] = [
  {
    name: "plan-approve",
    title: "a plan is shown and approved",
    session: { permission_mode: "plan" },
    turns: [
      {
        prompt: "Plan it first.",
        steps: [
          { blocks: [{ type: "tool", name: "plan", input: { text: "# Plan\n1. Look\n2. Change" } }] },
          say("The plan is approved."),
        ],
      },
    ],
    replies: { questions: [{ answers: [["approve"]] }], permissions: [{ reply: "once" }] },
    expect: { stop_reason: "end_turn", final_text: ["The plan is approved."] },
  },
  {
    name: "plan-reject",
    title: "a plan is sent back with a remark",
    session: { permission_mode: "plan" },
    turns: [
      {
        prompt: "Plan it first.",
        steps: [
          { blocks: [{ type: "tool", name: "plan", input: { text: "# Plan\n1. Guess" } }] },
          say("I will make a better plan."),
        ],
      },
    ],
    replies: {
      questions: [{ reject: true, message: "Guessing is no plan." }],
      permissions: [{ reply: "reject", message: "Guessing is no plan." }],
    },
    expect: { events: ["turn.ended"] },
  },
];
