// Scenarios for models with the classic tools: exec_command, apply_patch, view_image, update_plan, multi-agent v1.
import type { Scenario } from "../../scenario.ts";
import { ask, call, free, patch, play, say, shell, step } from "./scenario-steps.ts";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export const classicScenarios: readonly Scenario[] = [
  play(
    "phases",
    "commentary and final answer in one response",
    [
      step(
        { type: "text", text: "Looking first.", phase: "commentary" },
        { type: "text", text: "It is forty-two.", phase: "final_answer" },
      ),
    ],
    {
      expect: {
        stop_reason: "end_turn",
        seen_text: ["Looking first."],
        final_text: ["It is forty-two."],
        events: ["agent.notice"],
      },
    },
  ),
  play(
    "reasoning-both",
    "a summary and raw reasoning of one item",
    [step({ type: "thinking", text: "Weighing both sides.", style: "both" }, { type: "text", text: "Weighed." })],
    { expect: { stop_reason: "end_turn", seen_text: ["Weighing both sides."], final_text: ["Weighed."] } },
  ),
  play(
    "patch-kinds",
    "one patch adds, changes and deletes",
    [
      step(
        patch(
          "*** Add File: src/new.txt",
          "+fresh",
          "*** Update File: hello.txt",
          "@@",
          "-hello world",
          "+hello patch",
          "*** Delete File: old.txt",
        ),
      ),
      say("Three files changed."),
    ],
    {
      session: { ...free, files: { "hello.txt": "hello world\n", "old.txt": "old\n" } },
      expect: { stop_reason: "end_turn", files: { "src/new.txt": "fresh", "hello.txt": "hello patch", "old.txt": null } },
    },
  ),
  play(
    "patch-move",
    "a patch that moves a file",
    [step(patch("*** Update File: old.txt", "*** Move to: renamed.txt", "@@", "-old", "+renamed")), say("Moved.")],
    {
      session: { ...free, files: { "old.txt": "old\n" } },
      expect: { stop_reason: "end_turn", files: { "renamed.txt": "renamed", "old.txt": null } },
    },
  ),
  play(
    "patch-heredoc",
    "apply_patch run through the shell is a file change",
    [
      step(shell("apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: via-shell.txt\n+by heredoc\n*** End Patch\nEOF")),
      say("Patched."),
    ],
    { expect: { stop_reason: "end_turn", files: { "via-shell.txt": "by heredoc" } } },
  ),
  play(
    "patch-declined",
    "a file change is declined and the turn goes on",
    [step(patch("*** Update File: hello.txt", "@@", "-hello world", "+changed")), say("Then not.")],
    {
      session: { ...ask, files: { "hello.txt": "hello world\n" } },
      replies: { permissions: [{ reply: "reject" }] },
      expect: {
        stop_reason: "end_turn",
        events: ["permission.requested", "permission.resolved"],
        files: { "hello.txt": "hello world" },
        final_text: ["Then not."],
      },
    },
  ),
  {
    name: "codex-patch-session",
    title: "a file change allowed for the session is not asked about again",
    session: { ...ask, files: { "hello.txt": "one\n" } },
    turns: [
      { prompt: "Change it.", steps: [step(patch("*** Update File: hello.txt", "@@", "-one", "+two")), say("Once.")] },
      { prompt: "Again.", steps: [step(patch("*** Update File: hello.txt", "@@", "-two", "+three")), say("Twice.")] },
    ],
    replies: { permissions: [{ reply: "always" }] },
    expect: { stop_reason: "end_turn", files: { "hello.txt": "three" }, final_text: ["Twice."] },
  },
  play(
    "patch-broken",
    "a patch that cannot be read is still visible",
    [step(patch("*** Frobnicate File: hello.txt")), say("It was not a patch.")],
    { expect: { stop_reason: "end_turn", events: ["item.completed"], final_text: ["It was not a patch."] } },
  ),
  play(
    "view-image",
    "the model looks at a picture",
    [
      step(shell(`echo ${PIXEL} | base64 -d > dot.png`)),
      step(call("view_image", { path: "{{cwd}}/dot.png" })),
      say("One red dot."),
    ],
    { expect: { stop_reason: "end_turn", final_text: ["One red dot."] } },
  ),
  play(
    "bad-arguments",
    "arguments that are no JSON are visible as a failed call",
    [step({ type: "tool", native_name: "exec_command", raw_arguments: '{"cmd": ' }), say("I misspoke.")],
    { expect: { stop_reason: "end_turn", final_text: ["I misspoke."], seen_text: ["failed to parse"] } },
  ),
  {
    name: "codex-plan-mode",
    title: "plan mode proposes a plan",
    session: { permission_mode: "plan" },
    turns: [
      {
        prompt: "Make a plan.",
        steps: [say("Here it is.\n<proposed_plan>\n# Plan\n\n1. Read\n2. Write\n</proposed_plan>\n")],
      },
    ],
    expect: { stop_reason: "end_turn", seen_text: ["1. Read"], events: ["config.changed"] },
  },
  {
    name: "codex-plan-question",
    title: "plan mode asks a question",
    session: { permission_mode: "plan" },
    turns: [
      {
        prompt: "Ask first.",
        steps: [
          step({
            type: "tool",
            name: "ask",
            input: {
              questions: [
                {
                  question: "Which colour?",
                  header: "Colour",
                  options: [
                    { label: "Red", description: "warm" },
                    { label: "Blue", description: "cool" },
                  ],
                },
              ],
            },
          }),
          say("Blue it is."),
        ],
      },
    ],
    replies: { questions: [{ answers: [["Blue"]] }] },
    expect: { stop_reason: "end_turn", events: ["question.requested", "question.resolved"], model_saw: ["Blue"] },
  },
  {
    name: "codex-skill-root",
    title: "a skill that lies where Codex does not look is used by its name in a message, and by reading it",
    session: {
      ...free,
      files: {
        ".dragoman/skills/heron/SKILL.md": "---\nname: heron\ndescription: What herons do at dawn.\n---\nStand on one leg.\n",
      },
    },
    turns: [
      { prompt: "Do as $heron says.", steps: [say("On one leg.")] },
      { prompt: "Again.", steps: [step(shell("cat .dragoman/skills/heron/SKILL.md")), say("Still on one leg.")] },
    ],
    expect: {
      stop_reason: "end_turn",
      events: ["skill.invoked"],
      final_text: ["Still on one leg."],
      model_saw: ["What herons do at dawn", "Stand on one leg."],
    },
  },
  {
    name: "codex-review",
    title: "a review with instructions",
    session: { ...free, files: { "hello.txt": "hello\n" } },
    turns: [
      {
        prompt: "/review Look for wrong greetings. [[scenario:codex-review#1]]",
        steps: [step(shell("cat hello.txt")), say("All greetings are right.")],
      },
    ],
    expect: { stop_reason: "end_turn", seen_text: ["All greetings are right."] },
  },
  {
    name: "codex-auto-compact",
    title: "the context is compacted by itself before the second turn",
    session: { ...free, native: { config: "model_auto_compact_token_limit = 2000" } },
    turns: [
      { prompt: "First.", steps: [{ ...say("First answer."), usage: { input: 5000, output: 100 } }] },
      { prompt: "Second.", steps: [say("Second answer.")] },
    ],
    expect: { stop_reason: "end_turn", events: ["session.compacted"], final_text: ["Second answer."] },
  },
  {
    name: "codex-collab",
    title: "a sub-agent is spawned and waited for",
    session: free,
    turns: [
      {
        prompt: "Delegate and wait.",
        steps: [
          step(call("spawn_agent", { message: "Say seven. [[scenario:codex-collab-child#1]]" }, "multi_agent_v1")),
          step(shell("sleep 1; echo waited")),
          say("The child said seven."),
        ],
      },
    ],
    expect: { stop_reason: "end_turn", seen_text: ["Seven."], final_text: ["The child said seven."] },
  },
  {
    name: "codex-collab-nested",
    title: "a sub-agent spawns one of its own; both stand under the call that started them",
    session: { ...free, native: { tables: "[agents]\nmax_depth = 2\n" } },
    turns: [
      {
        prompt: "Delegate twice.",
        steps: [
          step(call("spawn_agent", { message: "Delegate. [[scenario:codex-collab-middle#1]]" }, "multi_agent_v1")),
          step(shell("sleep 4; echo waited")),
          say("Both are back."),
        ],
      },
    ],
    expect: { stop_reason: "end_turn", seen_text: ["In the middle.", "Seven."], final_text: ["Both are back."] },
  },
  {
    name: "codex-collab-middle",
    title: "the sub-agent of `codex-collab-nested`, which has one of its own",
    tags: ["part"],
    session: free,
    turns: [
      {
        prompt: "Delegate.",
        steps: [
          step(call("spawn_agent", { message: "Say seven. [[scenario:codex-collab-child#1]]" }, "multi_agent_v1")),
          step(shell("sleep 2; echo middle-waited")),
          say("In the middle."),
        ],
      },
    ],
  },
  {
    name: "codex-collab-child",
    title: "what the sub-agent of `codex-collab` does",
    tags: ["part"],
    session: free,
    turns: [{ prompt: "Say seven.", steps: [say("Seven.")] }],
  },
  play(
    "odd-stream",
    "events and items no client knows",
    [
      step(
        { type: "native_event", event: "response.weather", data: { type: "response.weather", sky: "blue" }, only: ["responses"] },
        { type: "native", responses: { type: "hologram", id: "holo_1", status: "completed" } },
        { type: "text", text: "Still here." },
      ),
    ],
    { expect: { stop_reason: "end_turn", final_text: ["Still here."] } },
  ),
  play(
    "rate-limits",
    "limits in the headers of an answer",
    [
      {
        ...say("Within limits."),
        headers: {
          "x-codex-primary-used-percent": "12.5",
          "x-codex-primary-window-minutes": "300",
          "x-codex-primary-reset-at": "1900000000",
          "x-codex-secondary-used-percent": "40",
          "x-codex-secondary-window-minutes": "10080",
          "x-codex-secondary-reset-at": "1900500000",
        },
      },
    ],
    { expect: { stop_reason: "end_turn", events: ["limits.updated"] } },
  ),
  play("unknown-model", "a model the catalogue does not have", [say("I answer all the same.")], {
    session: { ...free, model: "model-of-tomorrow" },
    expect: { stop_reason: "end_turn", final_text: ["I answer all the same."], events: ["agent.notice"] },
  }),
  play("system-prompt", "instructions of the session reach the model", [say("Understood.")], {
    session: { ...free, system_prompt: "Always mention the heron." },
    expect: { stop_reason: "end_turn", model_saw: ["Always mention the heron."] },
  }),
  {
    name: "codex-mode-live",
    title: "the permission mode changes while the session lives",
    session: ask,
    turns: [
      {
        prompt: "Wait.",
        steps: [say("Waiting.")],
        actions: [{ do: "set_permission_mode", when: { on: "start" }, mode: "bypass" }],
      },
      { prompt: "Now do it.", steps: [step(shell("touch free.txt")), say("Done without asking.")] },
    ],
    expect: {
      stop_reason: "end_turn",
      events: ["config.changed"],
      no_events: ["permission.requested"],
      files: { "free.txt": "" },
      final_text: ["Done without asking."],
    },
  },
  {
    name: "codex-mode-tour",
    title: "every permission mode is taken by a living session",
    session: ask,
    turns: (["accept_edits", "plan", "bypass", "default"] as const).map((mode) => ({
      prompt: `Now ${mode}.`,
      steps: [say(`This was ${mode}.`)],
      actions: [{ do: "set_permission_mode" as const, when: { on: "start" as const }, mode }],
    })),
    expect: { stop_reason: "end_turn", events: ["config.changed"], final_text: ["This was default."], no_events: ["error"] },
  },
  {
    name: "codex-kill-asking",
    title: "the app-server is killed while it asks; the session goes on",
    session: ask,
    turns: [
      {
        prompt: "Ask me.",
        steps: [step(shell("touch never.txt")), say("Never said.")],
        actions: [{ do: "kill_agent", when: { on: "event", type: "permission.requested" } }],
      },
      { prompt: "Are you back?", steps: [say("Back again.")] },
    ],
    replies: { permissions: [{ reply: "none" }] },
    expect: {
      stop_reason: "end_turn",
      events: ["permission.requested", "permission.resolved"],
      final_text: ["Back again."],
      files: { "never.txt": null },
    },
  },
  {
    name: "codex-background-command",
    title: "a command that outlives its turn is a task",
    session: free,
    turns: [
      {
        prompt: "Start it.",
        steps: [
          step(call("exec_command", { cmd: "echo bg-begun; sleep 3; echo bg-finished", yield_time_ms: 300 })),
          say("It runs in the background."),
        ],
      },
      {
        prompt: "Wait for it.",
        steps: [step(call("exec_command", { cmd: "sleep 5", yield_time_ms: 8000 })), say("It must be over.")],
      },
    ],
    expect: { stop_reason: "end_turn", events: ["task.spawned", "task.status"], final_text: ["It must be over."] },
  },
];
