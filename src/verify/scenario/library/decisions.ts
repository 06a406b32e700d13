// Scenarios in which a person decides: permissions, questions, plans.

import type { ModelStep, PermissionReply, QuestionReply, Scenario, SessionSettings } from "../../../agents/scenario.ts";
import { profiles } from "../../../agents/verified.ts";

/** An agent that every daemon has. */
const HARNESS = profiles.find(({ onlyByName }) => onlyByName)?.agent ?? "";

const ask: SessionSettings = { permission_mode: "default" };
const say = (text: string): ModelStep => ({ blocks: [{ type: "text", text }] });
const touch = (file: string): ModelStep => ({
  blocks: [{ type: "tool", name: "shell", input: { command: `touch ${file} && echo made-${file}`, escalate: true } }],
});

function permission(name: string, title: string, replies: PermissionReply[], made: boolean, last: string): Scenario {
  return {
    name,
    title,
    session: ask,
    turns: [{ prompt: "Make a file with a command.", steps: [touch("made.txt"), say(last)] }],
    replies: { permissions: replies },
    expect: {
      events: ["permission.requested", "permission.resolved"],
      files: { "made.txt": made ? "" : null },
      ...(made ? { stop_reason: "end_turn", final_text: [last] } : {}),
    },
    // amp has no dialogue about permissions.
  };
}

/** What a command of the agent gets from the daemon with the token of the file: an answer to a request, another token, another session. */
const CALL_THE_DAEMON = [
  'f="$HOME/../data/daemon.json"',
  `of() { sed "s/.*\\"$1\\":\\"\\([^\\"]*\\)\\".*/\\1/" "$f"; }`,
  `call() { curl -s -X POST -H "authorization: Bearer $(of token)" -H "content-type: application/json" -d "$2" "$(of url)$1"; }`,
  `call /v1/sessions/any/permissions/any/reply '{"reply":"once"}'`,
  `call /v1/auth/tokens '{"role":"admin"}'`,
  `call /v1/sessions '{"agent":"${HARNESS}","permission_mode":"bypass"}' | sed 's/agent_forbidden/no-session-either/'`,
].join("\n");

interface Asked {
  readonly question: string;
  readonly header: string;
  readonly multi?: boolean;
  readonly options: readonly { readonly label: string; readonly description: string }[];
}

const colour: Asked = {
  question: "Which colour?",
  header: "Colour",
  options: [
    { label: "Red", description: "a warm one" },
    { label: "Blue", description: "a cool one" },
  ],
};
const features: Asked = {
  question: "Which features?",
  header: "Features",
  multi: true,
  options: [
    { label: "Search", description: "find things" },
    { label: "Export", description: "take things away" },
    { label: "Import", description: "bring things in" },
  ],
};

function question(name: string, title: string, asked: Asked[], replies: QuestionReply[], seen: string[]): Scenario {
  return {
    name,
    title,
    session: ask,
    turns: [
      {
        prompt: "Ask me before you start.",
        steps: [{ blocks: [{ type: "tool", name: "ask", input: { questions: asked } }] }, say("Thank you for the answer.")],
      },
    ],
    replies: { questions: replies },
    expect: { events: ["question.requested", "question.resolved"], ...(seen.length > 0 ? { model_saw: seen } : {}) },
  };
}

export const decisionScenarios: readonly Scenario[] = [
  {
    name: "permission-mixed",
    title: "two commands of one answer: one is allowed and fails, the other is refused, and the turn goes on",
    session: ask,
    turns: [
      {
        prompt: "Make two files with commands.",
        steps: [
          {
            blocks: ["first.txt", "second.txt"].map((file) => ({
              type: "tool",
              name: "shell",
              input: { command: `touch ${file} && exit 3`, escalate: true },
            })),
          },
          say("One failed, one was refused."),
        ],
      },
    ],
    replies: {
      permissions: [
        { reply: "once", matching: "first.txt" },
        { reply: "reject", matching: "second.txt", message: "Not this one." },
      ],
    },
    expect: {
      stop_reason: "end_turn",
      events: ["permission.requested", "permission.resolved"],
      files: { "first.txt": "", "second.txt": null },
      final_text: ["One failed, one was refused."],
    },
  },
  {
    name: "own-request",
    title: "a command of the agent calls the daemon with its root token, and is refused as an agent",
    session: { ...ask, files: { "call.sh": CALL_THE_DAEMON } },
    turns: [
      {
        prompt: "Call the daemon.",
        steps: [{ blocks: [{ type: "tool", name: "shell", input: { command: "sh call.sh", escalate: true } }] }, say("Refused.")],
      },
    ],
    expect: { stop_reason: "end_turn", seen_text: ["own_request", "agent_forbidden", "no-session-either"] },
    // amp has no dialogue about permissions.
  },
  permission("permission-allow", "a command is allowed once", [{ reply: "once" }], true, "Made it."),
  permission("permission-deny", "a command is denied", [{ reply: "reject" }], false, "I was not allowed."),
  permission(
    "permission-deny-message",
    "a command is denied, with words for the model",
    [{ reply: "reject", message: "Use a heron instead." }],
    false,
    "A heron, then.",
  ),
  {
    name: "permission-always",
    title: "a command is allowed for good; the next one of its kind is not asked about",
    session: ask,
    turns: [
      { prompt: "Make a file.", steps: [touch("made.txt"), say("Made it.")] },
      { prompt: "Make it again.", steps: [touch("made.txt"), say("Made it again.")] },
    ],
    replies: { permissions: [{ reply: "always" }] },
    expect: {
      stop_reason: "end_turn",
      events: ["permission.requested", "permission.resolved"],
      files: { "made.txt": "" },
      final_text: ["Made it again."],
    },
  },
  {
    name: "permission-parallel",
    title: "two calls of one answer ask; the first is allowed, the second is not",
    session: ask,
    turns: [
      {
        prompt: "Make two files.",
        steps: [
          {
            blocks: [
              { type: "tool", name: "shell", input: { command: "touch one.txt", escalate: true } },
              { type: "tool", name: "shell", input: { command: "touch two.txt", escalate: true } },
            ],
          },
          say("One of two."),
        ],
      },
    ],
    replies: {
      permissions: [
        { reply: "once", matching: "one.txt" },
        { reply: "reject", matching: "two.txt" },
      ],
    },
    expect: { events: ["permission.requested", "permission.resolved"], files: { "two.txt": null } },
  },
  {
    name: "permission-write",
    title: "writing a file is asked about and allowed",
    session: ask,
    turns: [
      {
        prompt: "Write a file.",
        steps: [
          { blocks: [{ type: "tool", name: "write", input: { path: "{{cwd}}/asked.txt", content: "asked\n" } }] },
          say("Written."),
        ],
      },
    ],
    replies: { permissions: [{ reply: "once" }] },
    expect: { stop_reason: "end_turn", files: { "asked.txt": "asked" }, final_text: ["Written."] },
  },
  {
    name: "permission-interrupt",
    title: "the turn is interrupted while a permission is open",
    session: ask,
    turns: [
      {
        prompt: "Make a file, or rather not.",
        steps: [touch("made.txt"), say("This is not reached.")],
        actions: [{ do: "interrupt", when: { on: "event", type: "permission.requested" } }],
      },
    ],
    replies: { permissions: [{ reply: "none" }] },
    expect: { stop_reason: "interrupted", events: ["permission.requested", "permission.resolved"], files: { "made.txt": null } },
  },
  question("question-single", "one question, one answer", [colour], [{ answers: [["Blue"]] }], ["Blue"]),
  question(
    "question-multi-select",
    "a question with several answers",
    [features],
    [{ answers: [["Search", "Import"]] }],
    ["Search", "Import"],
  ),
  question(
    "question-free-text",
    "an answer that was not offered",
    [colour],
    [{ answers: [["Ultramarine, please"]] }],
    ["Ultramarine, please"],
  ),
  question(
    "question-several",
    "two questions at once",
    [colour, features],
    [{ answers: [["Red"], ["Export"]] }],
    ["Red", "Export"],
  ),
  question("question-reject", "the question is not answered", [colour], [{ reject: true, message: "Decide yourself." }], []),
];
