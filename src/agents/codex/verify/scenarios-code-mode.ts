// Scenarios for models in code mode: one tool that runs scripts, multi-agent v2, asynchronous questions.
import type { Scenario, SessionSettings } from "../../scenario.ts";
import { call, custom, play, say, shell, step } from "./scenario-steps.ts";

const MODEL = "gpt-6.1-sol";
const free: SessionSettings = { permission_mode: "bypass", model: MODEL };
const ask: SessionSettings = { permission_mode: "default", model: MODEL };

export const codeModeScenarios: readonly Scenario[] = [
  play("code-text", "plain text of a code-mode model", [say("Hello from code mode.")], {
    session: free,
    expect: { stop_reason: "end_turn", final_text: ["Hello from code mode."] },
  }),
  play("code-shell", "a command out of a script", [step(shell("echo out-of-a-script")), say("Ran.")], {
    session: free,
    expect: { stop_reason: "end_turn", seen_text: ["out-of-a-script"], tools: ["shell"] },
  }),
  play(
    "code-script",
    "one script runs two commands and a patch",
    [
      step(
        custom(
          "exec",
          `await tools.exec_command({ cmd: "echo first-of-two" });
await tools.exec_command({ cmd: "echo second-of-two" });
await tools.apply_patch("*** Begin Patch\\n*** Add File: scripted.txt\\n+by script\\n*** End Patch\\n");
text("all done");
`,
        ),
      ),
      say("Three things in one."),
    ],
    {
      session: free,
      expect: { stop_reason: "end_turn", seen_text: ["first-of-two", "second-of-two"], files: { "scripted.txt": "by script" } },
    },
  ),
  play(
    "code-script-fails",
    "a script that throws is visible",
    [step(custom("exec", 'throw new Error("script-went-wrong");\n')), say("It threw.")],
    {
      session: free,
      expect: { stop_reason: "end_turn", seen_text: ["script-went-wrong"], final_text: ["It threw."] },
    },
  ),
  play("code-permission", "a command of a script is asked about and allowed", [step(shell("touch asked.txt")), say("Allowed.")], {
    session: ask,
    replies: { permissions: [{ reply: "once" }] },
    expect: { stop_reason: "end_turn", events: ["permission.requested", "permission.resolved"], files: { "asked.txt": "" } },
  }),
  play("code-permission-denied", "a command of a script is denied", [step(shell("touch denied.txt")), say("Not allowed.")], {
    session: ask,
    replies: { permissions: [{ reply: "reject" }] },
    expect: { events: ["permission.requested", "permission.resolved"], files: { "denied.txt": null } },
  }),
  play(
    "code-plan",
    "a plan out of a script",
    [
      step({
        type: "tool",
        name: "todo",
        input: {
          items: [
            { text: "Look", status: "in_progress" },
            { text: "Leap", status: "pending" },
          ],
        },
      }),
      say("Planned."),
    ],
    { session: free, expect: { stop_reason: "end_turn", final_text: ["Planned."] } },
  ),
  play(
    "code-mcp",
    "an MCP tool out of a script",
    [
      step({ type: "tool", name: "mcp", input: { server: "lab", tool: "echo", arguments: { message: "scripted echo" } } }),
      say("Echoed."),
    ],
    {
      session: { ...free, mcp_servers: [{ name: "lab", builtin: "echo" }] },
      expect: { stop_reason: "end_turn", seen_text: ["scripted echo"] },
    },
  ),
  play(
    "code-question-async",
    "a question that does not block",
    [
      step(call("request_user_input_async", { questions: [{ title: "Which colour?", options: ["Red", "Blue"] }] })),
      say("I asked and went on."),
    ],
    { session: free, expect: { stop_reason: "end_turn", final_text: ["I asked and went on."] } },
  ),
  {
    name: "codex-code-collab",
    title: "a sub-agent of multi-agent v2, waited for",
    session: free,
    turns: [
      {
        prompt: "Delegate it.",
        steps: [
          step(
            call(
              "spawn_agent",
              { message: "Say eight. [[scenario:codex-code-collab-child#1]]", task_name: "eight" },
              "collaboration",
            ),
          ),
          step(call("wait_agent", { timeout_ms: 5000 }, "collaboration")),
          say("The child is done."),
        ],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["The child is done."] },
  },
  {
    name: "codex-code-collab-child",
    title: "what the sub-agent of `codex-code-collab` does",
    tags: ["part"],
    session: free,
    turns: [{ prompt: "Say eight.", steps: [say("Eight.")] }],
  },
  {
    name: "codex-code-interrupt",
    title: "a command of a script is interrupted",
    session: free,
    turns: [
      {
        prompt: "Sleep.",
        steps: [step(shell("echo asleep; sleep 30; echo never")), say("Never said.")],
        actions: [{ do: "interrupt", when: { on: "tool" } }],
      },
      { prompt: "Awake?", steps: [say("Awake.")] },
    ],
    expect: { stop_reason: "end_turn", final_text: ["Awake."] },
  },
  play("code-refusal", "a refusal of a code-mode model", [step({ type: "refusal", text: "I will not." })], {
    session: free,
    expect: { stop_reason: "refusal" },
  }),
];
