// Sub-agents, background work and turns that Claude Code starts by itself.
import type { Block, ModelStep, Scenario, SessionSettings } from "../../scenario.ts";

const free: SessionSettings = { permission_mode: "bypass" };
const say = (text: string): ModelStep => ({ blocks: [{ type: "text", text }] });
const shell = (command: string, more: Record<string, unknown> = {}): Block => ({
  type: "tool",
  native_name: "Bash",
  input: { command, description: "A command", ...more },
});
const agent = (part: string, more: Record<string, unknown> = {}): Block => ({
  type: "tool",
  native_name: "Agent",
  input: {
    description: `part ${part}`,
    prompt: `Do your part. [[scenario:claude-part-${part}#1]]`,
    subagent_type: "general-purpose",
    run_in_background: false,
    ...more,
  },
});
const part = (name: string, ...steps: ModelStep[]): Scenario => ({
  name: `claude-part-${name}`,
  title: `the part "${name}" of a sub-agent`,
  tags: ["part"],
  turns: [{ prompt: "Do your part.", steps }],
});

export const backgroundScenarios: readonly Scenario[] = [
  part("talk", say("Talked.")),
  part("work", { blocks: [{ type: "thinking", text: "Thinking in the sub-agent." }, shell("echo sub-work")] }, say("Worked.")),
  part("sleep", { blocks: [shell("sleep 20")] }, say("Slept.")),
  part("fail", { ...say("Never said."), fault: { kind: "http", status: 400 } }),
  part("deep", { blocks: [shell("sleep 3; echo deep-work")] }, say("Deep down it is done.")),
  part("outer", { blocks: [agent("deep")] }, say("The outer one is done.")),
  {
    name: "claude-nested-background",
    title: "an agent that a background agent started goes on after the turn, with its command",
    session: free,
    turns: [
      { prompt: "Start it.", steps: [{ blocks: [agent("outer", { run_in_background: true })] }, say("It works on its own.")] },
      { prompt: "Wait for it.", steps: [{ blocks: [shell("sleep 6")] }, say("It must be over.")] },
    ],
    expect: { stop_reason: ["end_turn", "interrupted"], seen_text: ["deep-work", "Deep down it is done."] },
  },
  {
    name: "claude-subagent-words",
    title: "a sub-agent's thoughts, words and calls stand under the call that started it",
    session: free,
    turns: [{ prompt: "Delegate it.", steps: [{ blocks: [agent("work")] }, say("The report came.")] }],
    expect: {
      stop_reason: "end_turn",
      seen_text: ["Thinking in the sub-agent.", "sub-work", "Worked."],
      final_text: ["The report came."],
    },
  },
  {
    name: "claude-two-subagents",
    title: "two sub-agents at the same time",
    session: free,
    turns: [{ prompt: "Delegate both.", steps: [{ blocks: [agent("talk"), agent("work")] }, say("Both came back.")] }],
    expect: { stop_reason: "end_turn", seen_text: ["Talked.", "Worked."], final_text: ["Both came back."] },
  },
  {
    name: "claude-subagent-fails",
    title: "a sub-agent whose model call fails",
    session: free,
    turns: [{ prompt: "Delegate it.", steps: [{ blocks: [agent("fail")] }, say("It failed there.")] }],
    expect: { stop_reason: "end_turn", final_text: ["It failed there."], no_events: ["error"] },
  },
  {
    name: "claude-interrupt-subagent",
    title: "an interrupt while a sub-agent works",
    session: free,
    turns: [
      {
        prompt: "Delegate it.",
        steps: [{ blocks: [agent("sleep")] }, say("Not reached.")],
        actions: [{ do: "interrupt", when: { on: "event", type: "item.started", nth: 6 } }],
      },
    ],
    expect: { stop_reason: "interrupted" },
  },
  {
    name: "claude-background-shell",
    title: "a command in the background outlives its turn",
    session: free,
    turns: [
      {
        prompt: "Start it.",
        steps: [{ blocks: [shell("sleep 1; echo bg-finished", { run_in_background: true })] }, say("It runs in the background.")],
      },
      { prompt: "Wait for it.", steps: [{ blocks: [shell("sleep 3")] }, say("It must be over.")] },
    ],
    expect: { stop_reason: ["end_turn", "interrupted"], events: ["task.spawned", "task.status"] },
  },
  {
    name: "claude-background-agent",
    title: "a sub-agent in the background, and the turn its end starts",
    session: free,
    turns: [
      { prompt: "Start it.", steps: [{ blocks: [agent("talk", { run_in_background: true })] }, say("It works on its own.")] },
      { prompt: "Wait for it.", steps: [{ blocks: [shell("sleep 2")] }, say("It must be over.")] },
    ],
    // The turn its end starts may be the last one, and cut short by the end of the session.
    expect: { stop_reason: ["end_turn", "interrupted"], seen_text: ["Talked."] },
  },
  {
    name: "claude-team",
    title: "a named agent is sent a message: team events",
    session: { ...free, env: { CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: "1" } },
    turns: [
      {
        prompt: "Work in a team.",
        steps: [
          { blocks: [agent("talk", { run_in_background: true, name: "worker-1" })] },
          {
            blocks: [
              {
                type: "tool",
                native_name: "SendMessage",
                input: { to: "worker-1", message: "hello worker [[scenario:claude-part-talk#1]]", summary: "greeting" },
              },
            ],
          },
          say("The team is at work."),
        ],
      },
    ],
    expect: { stop_reason: ["end_turn", "interrupted"], events: ["team.state_changed", "team.message"] },
  },
  {
    name: "claude-monitor",
    title: "a monitor wakes the agent by itself",
    session: free,
    turns: [
      {
        prompt: "Watch it.",
        steps: [
          {
            blocks: [
              {
                type: "tool",
                native_name: "Monitor",
                input: { command: "echo tick", description: "One tick", timeout_ms: 5000, persistent: false },
              },
            ],
          },
          say("Watching."),
        ],
      },
      { prompt: "Wait for it.", steps: [{ blocks: [shell("sleep 2")] }, say("Seen.")] },
    ],
    expect: { stop_reason: ["end_turn", "interrupted"] },
  },
];
