// Scenarios only OpenCode can play: its own words (`/undo`, `!`), its rules, its sub-agents, and the faults it meets in its own way.
import type { ModelStep, Scenario, SessionSettings } from "../../scenario.ts";

const say = (text: string): ModelStep => ({ blocks: [{ type: "text", text }] });
const bash = (command: string, more: object = {}) =>
  ({ type: "tool", native_name: "bash", input: { command, description: "Run it", ...more } }) as const;
const task = (description: string, marker: string) =>
  ({
    type: "tool",
    native_name: "task",
    input: { description, prompt: `[[scenario:${marker}]] do it`, subagent_type: "general" },
  }) as const;
const free: SessionSettings = { permission_mode: "bypass" };
const asks: SessionSettings = { permission_mode: "default" };
/** OpenCode puts a .gitignore beside what it finds in there. */
const own = (files: Record<string, string>): Record<string, string> => ({ ".opencode/.gitignore": "*\n", ...files });
const settings = (json: object): Record<string, string> => ({ "opencode.json": JSON.stringify(json) });

const words: Scenario[] = [
  {
    name: "oc-command",
    title: "a slash command of the project",
    session: {
      ...free,
      files: own({ ".opencode/command/greet.md": "---\ndescription: Greets\n---\nGreet $ARGUMENTS [[scenario:oc-command#1]]\n" }),
    },
    turns: [{ prompt: "/greet Ada", steps: [say("Greetings, Ada.")] }],
    expect: { stop_reason: "end_turn", final_text: ["Greetings, Ada."], events: ["config.changed"] },
  },
  {
    name: "oc-command-subtask",
    title: "a slash command that runs in a sub-agent without a model call first",
    session: {
      ...free,
      files: own({
        ".opencode/command/sub.md": "---\ndescription: Sub\nagent: general\nsubtask: true\n---\n[[scenario:oc-child#1]] go\n",
      }),
    },
    turns: [{ prompt: "/sub", steps: [] }],
    // What follows the sub-agent is asked without a marker: the scripted model does not know it.
    expect: { stop_reason: ["end_turn", "error"], tools: ["subagent"], seen_text: ["Child is done."] },
  },
  {
    name: "oc-undo-redo",
    title: "undo takes a turn and its file back, redo brings both again",
    session: { ...free, git: true },
    turns: [
      {
        prompt: "Write a.txt.",
        steps: [{ blocks: [{ type: "tool", name: "write", input: { path: "a.txt", content: "one\n" } }] }, say("Written.")],
      },
      { prompt: "/undo", steps: [] },
      { prompt: "/redo", steps: [] },
    ],
    expect: { stop_reason: "end_turn", events: ["item.removed"], files: { "a.txt": "one" } },
  },
  {
    name: "oc-undo-prompt",
    title: "what was undone is gone for good with the next prompt",
    session: { ...free, git: true },
    turns: [
      { prompt: "Say one.", steps: [say("One.")] },
      { prompt: "/undo", steps: [] },
      { prompt: "Say two.", steps: [say("Two.")] },
    ],
    expect: { stop_reason: "end_turn", events: ["item.removed"] },
  },
  {
    name: "oc-undo-nothing",
    title: "undo with nothing to undo says so",
    turns: [{ prompt: "/undo", steps: [] }],
    expect: { stop_reason: "error", error_code: "execution_error" },
  },
  {
    name: "oc-summarize",
    title: "a conversation is compacted by hand",
    turns: [
      { prompt: "Remember 41.", steps: [say("Noted: 41.")] },
      { prompt: "/summarize", steps: [] },
    ],
    expect: { stop_reason: "end_turn", events: ["session.compacted"] },
  },
];

const decisions: Scenario[] = [
  {
    name: "oc-plan-agent",
    title: "the plan agent may not write",
    session: { permission_mode: "plan" },
    turns: [
      {
        prompt: "Write it.",
        steps: [{ blocks: [{ type: "tool", name: "write", input: { path: "no.txt", content: "x" } }] }, say("I may not.")],
      },
    ],
    expect: { stop_reason: "end_turn", final_text: ["I may not."], files: { "no.txt": null } },
  },
  {
    name: "oc-config-denies",
    title: "rules of the project do not count: what they deny is asked for",
    session: { ...asks, files: settings({ permission: { bash: "deny" } }) },
    turns: [{ prompt: "Run it.", steps: [{ blocks: [bash("echo no")] }, say("Denied.")] }],
    replies: { permissions: [{ reply: "reject" }] },
    expect: { stop_reason: "end_turn", events: ["permission.requested"], final_text: ["Denied."] },
  },
  {
    name: "oc-config-allows",
    title: "rules of the project do not count: what they allow is asked for",
    session: { ...asks, files: settings({ permission: { bash: { "echo *": "allow" } } }) },
    turns: [{ prompt: "Run it.", steps: [{ blocks: [bash("echo allowed-here")] }, say("Ran.")] }],
    expect: { stop_reason: "end_turn", events: ["permission.requested"], seen_text: ["allowed-here"] },
  },
  {
    name: "oc-doom-loop",
    title: "three identical calls in one message need a permission",
    session: { ...asks, files: settings({ permission: { bash: "allow" } }) },
    turns: [
      { prompt: "Loop.", steps: [{ blocks: [bash("echo again"), bash("echo again"), bash("echo again")] }, say("Looped.")] },
    ],
    replies: { permissions: [{ reply: "once" }] },
    expect: { stop_reason: "end_turn", events: ["permission.requested", "permission.resolved"], final_text: ["Looped."] },
  },
  {
    name: "oc-outside",
    title: "a file outside the project needs a permission",
    session: asks,
    turns: [
      {
        prompt: "Read it.",
        steps: [{ blocks: [{ type: "tool", native_name: "read", input: { filePath: "/etc/hostname" } }] }, say("Read.")],
      },
    ],
    replies: { permissions: [{ reply: "once" }] },
    expect: { stop_reason: "end_turn", events: ["permission.requested"], final_text: ["Read."] },
  },
  {
    name: "oc-reject-stops",
    title: "a rejection without a word ends the turn",
    session: asks,
    turns: [{ prompt: "Run it.", steps: [{ blocks: [bash("touch never.txt")] }, say("Not reached.")] }],
    replies: { permissions: [{ reply: "reject" }] },
    expect: { stop_reason: "end_turn", events: ["permission.resolved"], files: { "never.txt": null } },
  },
  {
    name: "oc-reject-message",
    title: "a rejection with a reason is given to the model, which goes on",
    session: asks,
    turns: [{ prompt: "Run it.", steps: [{ blocks: [bash("touch never.txt")] }, say("I will not, then.")] }],
    replies: { permissions: [{ reply: "reject", message: "Use another way." }] },
    expect: { stop_reason: "end_turn", final_text: ["I will not, then."], model_saw: ["Use another way."] },
  },
  {
    name: "oc-reject-first",
    title: "rejecting one of two pending permissions does not reject the other, which is answered later",
    session: asks,
    turns: [{ prompt: "Run both.", steps: [{ blocks: [bash("touch first.txt"), bash("touch second.txt")] }, say("Done.")] }],
    replies: {
      permissions: [
        { reply: "reject", matching: "first.txt" },
        { reply: "once", matching: "second.txt" },
      ],
    },
    expect: { events: ["permission.resolved"], files: { "first.txt": null, "second.txt": "" } },
  },
  {
    name: "oc-always-covers",
    title: "what is allowed for ever is not asked again",
    session: asks,
    turns: [{ prompt: "Run both.", steps: [{ blocks: [bash("echo one")] }, { blocks: [bash("echo two")] }, say("Both ran.")] }],
    replies: { permissions: [{ reply: "always" }, { reply: "none" }] },
    expect: { stop_reason: "end_turn", final_text: ["Both ran."], seen_text: ["two"] },
  },
  {
    name: "oc-questions",
    title: "two questions at once: several choices, and an answer in own words",
    turns: [
      {
        prompt: "Ask me.",
        steps: [
          {
            blocks: [
              {
                type: "tool",
                native_name: "question",
                input: {
                  questions: [
                    {
                      question: "Which colours?",
                      header: "Colours",
                      multiple: true,
                      options: [
                        { label: "Red", description: "warm" },
                        { label: "Blue", description: "cold" },
                      ],
                    },
                    { question: "Which name?", header: "Name", options: [{ label: "Ada", description: "a name" }] },
                  ],
                },
              },
            ],
          },
          say("Thank you."),
        ],
      },
    ],
    replies: { questions: [{ answers: [["Red", "Blue"], ["Grace"]] }] },
    expect: { stop_reason: "end_turn", events: ["question.requested", "question.resolved"], model_saw: ["Grace"] },
  },
  {
    name: "oc-question-rejected",
    title: "a question nobody wants to answer ends the turn",
    turns: [
      {
        prompt: "Ask me.",
        steps: [
          {
            blocks: [
              {
                type: "tool",
                name: "ask",
                input: { questions: [{ question: "Why?", header: "Why", options: [{ label: "So", description: "so" }] }] },
              },
            ],
          },
          say("Not reached."),
        ],
      },
    ],
    replies: { questions: [{ reject: true }] },
    expect: { stop_reason: "end_turn", events: ["question.resolved"] },
  },
];

const helpers: Scenario[] = [
  {
    name: "oc-child",
    title: "the part of a sub-agent",
    tags: ["part"],
    turns: [{ prompt: "", steps: [{ blocks: [bash("echo from-the-child")] }, say("Child is done.")] }],
  },
  {
    name: "oc-child-fails",
    title: "the part of a sub-agent whose model refuses",
    tags: ["part"],
    turns: [{ prompt: "", steps: [{ ...say("Never."), fault: { kind: "http", status: 400 } }] }],
  },
  {
    name: "oc-subagents",
    title: "two sub-agents at once",
    session: free,
    turns: [
      {
        prompt: "Delegate.",
        steps: [{ blocks: [task("First", "oc-child#1"), task("Second", "oc-child#1")] }, say("Both reported.")],
      },
    ],
    expect: { stop_reason: "end_turn", tools: ["subagent"], final_text: ["Both reported."], seen_text: ["from-the-child"] },
  },
  {
    name: "oc-subagent-asks",
    title: "a sub-agent, which does not inherit what has to be asked for, is itself asked for",
    session: asks,
    turns: [{ prompt: "Delegate.", steps: [{ blocks: [task("Ask", "oc-child#1")] }, say("It reported.")] }],
    replies: { permissions: [{ reply: "once" }] },
    expect: { stop_reason: "end_turn", events: ["permission.requested"], seen_text: ["from-the-child"] },
  },
  {
    name: "oc-subagent-fails",
    title: "a sub-agent that fails is a failed call, not a failed turn",
    session: free,
    turns: [{ prompt: "Delegate.", steps: [{ blocks: [task("Fail", "oc-child-fails#1")] }, say("It failed.")] }],
    expect: { stop_reason: "end_turn", no_events: ["error"], final_text: ["It failed."] },
  },
  {
    name: "oc-skill",
    title: "a skill of the project",
    session: {
      ...free,
      files: own({
        ".opencode/skill/tiny/SKILL.md": "---\nname: tiny\ndescription: A tiny skill\n---\nSay hi from the skill.\n",
      }),
    },
    turns: [
      { prompt: "Use it.", steps: [{ blocks: [{ type: "tool", native_name: "skill", input: { name: "tiny" } }] }, say("Used.")] },
    ],
    expect: { stop_reason: "end_turn", seen_text: ["Say hi from the skill."], final_text: ["Used."] },
  },
  {
    name: "oc-skill-root",
    title: "a skill that lies where OpenCode does not look is used through its own tool",
    session: {
      ...free,
      files: {
        ".dragoman/skills/heron/SKILL.md": "---\nname: heron\ndescription: What herons do at dawn.\n---\nStand on one leg.\n",
      },
    },
    turns: [
      {
        prompt: "Use it.",
        steps: [{ blocks: [{ type: "tool", native_name: "skill", input: { name: "heron" } }] }, say("Used.")],
      },
    ],
    expect: { stop_reason: "end_turn", events: ["skill.invoked"], seen_text: ["Stand on one leg."], final_text: ["Used."] },
  },
  {
    name: "oc-todo-states",
    title: "a todo list in all its states is one plan",
    session: free,
    turns: [
      {
        prompt: "Plan.",
        steps: [
          {
            blocks: [
              {
                type: "tool",
                native_name: "todowrite",
                input: {
                  todos: [
                    { content: "Write", status: "completed", priority: "high" },
                    { content: "Test", status: "in_progress", priority: "medium" },
                    { content: "Ship", status: "cancelled", priority: "low" },
                  ],
                },
              },
            ],
          },
          say("Planned."),
        ],
      },
    ],
    expect: { stop_reason: "end_turn", tools: ["todo"], final_text: ["Planned."] },
  },
  {
    name: "oc-shell-timeout",
    title: "a command over its own time limit",
    session: free,
    turns: [{ prompt: "Wait.", steps: [{ blocks: [bash("echo begun; sleep 30", { timeout: 800 })] }, say("Too long.")] }],
    expect: { stop_reason: "end_turn", seen_text: ["begun"], final_text: ["Too long."] },
  },
];

const faults: Scenario[] = [
  {
    name: "oc-retry-midstream",
    title: "the socket dies in mid-text, the second try is whole",
    turns: [
      {
        prompt: "Tell me.",
        steps: [
          {
            blocks: [{ type: "text", text: "One two three four five six.", chunks: 6 }],
            fault: { kind: "cut", after_chunks: 3, times: 1 },
          },
        ],
      },
    ],
    expect: { stop_reason: "end_turn", seen_text: ["One two three four five six."], events: ["session.status"] },
  },
  {
    name: "oc-retry-mid-arguments",
    title: "the socket dies while arguments stream: the stale call fails, the new one runs",
    session: free,
    turns: [
      {
        prompt: "Run it.",
        steps: [
          {
            blocks: [
              { type: "text", text: "Now." },
              { ...bash("echo whole-in-the-end"), chunks: 6 },
            ],
            fault: { kind: "cut", after_chunks: 3, times: 1 },
          },
          say("Done at last."),
        ],
      },
    ],
    expect: { stop_reason: "end_turn", seen_text: ["whole-in-the-end"], final_text: ["Done at last."] },
  },
  {
    name: "oc-length",
    title: "an answer cut off by the output limit says so",
    turns: [{ prompt: "Write a lot.", steps: [{ ...say("It goes on and"), stop: "max_tokens" }] }],
    expect: { stop_reason: "output_length", error_code: "output_length", events: ["error"] },
  },
  {
    name: "oc-filter",
    title: "an answer blocked by the provider's filter is a refusal",
    turns: [{ prompt: "Say it.", steps: [{ ...say("I cannot"), stop: "content_filter" }] }],
    expect: { stop_reason: "refusal", events: ["error"] },
  },
  {
    name: "oc-odd-finish",
    title: "an unknown finish reason: the loop goes on with a new message",
    turns: [{ prompt: "Say it.", steps: [{ ...say("First half."), native_stop: "whimsy" }, say("Second half.")] }],
    expect: { stop_reason: "end_turn", seen_text: ["First half."], final_text: ["Second half."] },
  },
  {
    name: "oc-overflow",
    title: "a context overflow is compacted away and the turn goes on",
    turns: [{ prompt: "Go on.", steps: [{ ...say("After all."), fault: { kind: "context_overflow", times: 1 } }] }],
    // What follows the summary is asked without a marker: the scripted model does not know it.
    expect: { stop_reason: ["end_turn", "error"], events: ["session.compacted"] },
  },
  {
    name: "oc-overflow-final",
    title: "a context overflow without automatic compaction is an error, reported once",
    session: { files: settings({ compaction: { auto: false } }) },
    turns: [{ prompt: "Go on.", steps: [{ ...say("Never."), fault: { kind: "context_overflow" } }] }],
    expect: { stop_reason: "error", error_code: "context_overflow", events: ["error"] },
  },
  {
    name: "oc-interrupt-retry",
    title: "interrupted while it waits for a retry",
    turns: [
      {
        prompt: "Try.",
        steps: [{ ...say("Never."), fault: { kind: "http", status: 429, headers: { "retry-after": "60" } } }],
        actions: [{ do: "interrupt", when: { on: "request", step: 1 } }],
      },
    ],
    expect: { stop_reason: "interrupted" },
  },
  {
    name: "oc-kill-in-tool",
    title: "the server is killed while a command runs; the session goes on",
    session: free,
    turns: [
      {
        prompt: "Sleep.",
        steps: [{ blocks: [bash("echo begun; sleep 60")] }, say("Not reached.")],
        actions: [{ do: "kill_agent", when: { on: "tool" }, signal: "SIGKILL" }],
      },
      { prompt: "And now?", steps: [say("Still here.")] },
    ],
    expect: { stop_reason: "end_turn", final_text: ["Still here."] },
  },
];

export const opencodeScenarios: readonly Scenario[] = [...words, ...decisions, ...helpers, ...faults].map((scenario) => ({
  ...scenario,
  only: ["opencode"],
}));
