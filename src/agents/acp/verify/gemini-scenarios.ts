// What only Gemini does: its commands, its modes, its ways to stop.
import type { Scenario } from "../../scenario.ts";
import { asking, free, hello, say, shell, use } from "./scenario-words.ts";

const geminiTurns: readonly Scenario[] = [
  {
    name: "gemini-mode-text",
    title: "the model enters plan mode: reported as a text, shown as a change of configuration",
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
export const geminiScenarios: readonly Scenario[] = geminiTurns.map((scenario) => ({ ...scenario, only: ["gemini"] }));
