// Scenarios of commands that leave their agent: they run in sessions of their own, as daemons do. The runner looks afterwards whether one lives on.

import type { ModelStep, Scenario, SessionSettings } from "../../../agents/scenario.ts";

const free: SessionSettings = { permission_mode: "bypass" };

const shell = (command: string): ModelStep => ({ blocks: [{ type: "tool", name: "shell", input: { command } }] });
const say = (text: string): ModelStep => ({ blocks: [{ type: "text", text }] });

const apart = "</dev/null >/dev/null 2>&1";
/** Starts two, one by a double fork and one deaf to hang-ups, waits until both run, and says so. */
const leave = shell(
  [
    `setsid -f sh -c 'echo $$ > one.pid; exec sleep 300' ${apart}`,
    `nohup setsid sh -c 'echo $$ > two.pid; exec sleep 300' ${apart} &`,
    "until test -s one.pid && test -s two.pid; do sleep 0.1; done",
    "read one < one.pid; read two < two.pid; test -e /proc/$one/exe && test -e /proc/$two/exe && echo both-run",
  ].join("\n"),
);

export const leftoverScenarios: readonly Scenario[] = [
  {
    name: "leftovers-terminate",
    title: "commands in sessions of their own end with the session",
    session: free,
    turns: [{ prompt: "Start two services.", steps: [leave, say("Both run.")] }],
    expect: { seen_text: ["both-run"], final_text: ["Both run."] },
    tags: ["process"],
  },
  {
    name: "leftovers-kill",
    title: "commands in sessions of their own end when the agent is killed",
    session: free,
    turns: [
      {
        prompt: "Start two services.",
        steps: [leave, { blocks: [{ type: "text", text: "Both run. I go on for long.", chunks: 20 }], chunk_delay_ms: 300 }],
        actions: [{ do: "kill_agent", when: { on: "request", step: 2 }, signal: "SIGKILL" }],
      },
    ],
    // Its output may not have been reported yet when the agent dies.
    expect: { files: { "one.pid": "", "two.pid": "" } },
    tags: ["process"],
  },
  {
    name: "leftovers-restart",
    title: "commands in sessions of their own end with the daemon",
    session: free,
    turns: [
      { prompt: "Start two services.", steps: [leave, say("Both run.")] },
      {
        prompt: "Do they still run?",
        delivery: { mode: "resume" },
        steps: [
          shell("read one < one.pid; read two < two.pid; test -e /proc/$one/exe || test -e /proc/$two/exe || echo both-gone"),
          say("Looked."),
        ],
      },
    ],
    expect: { seen_text: ["both-run", "both-gone"], final_text: ["Looked."] },
    tags: ["process"],
  },
];
