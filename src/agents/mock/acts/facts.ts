// What the mock agent reports about itself and its session.
import type { MockEvent } from "../translate/wire.ts";
import { type Act, number, type Stage, say } from "./stage.ts";

const LONG_DESCRIPTION =
  "A command with a description as long as some agents give them: what it does, when to use it, which arguments it takes, what it never does.";

const event = (stage: Stage, type: string, data: unknown): void =>
  stage.emit({ type: "event", event: { type, data } as Extract<MockEvent, { type: "event" }>["event"] });

export const facts: Record<string, Act> = {
  facts: {
    usage: "facts [COMMANDS]",
    about: "usage, limits, auth, title, compaction, configuration, teams, skills, checkpoints, tasks, a notice and a heartbeat",
    play: async (stage, args) => {
      event(stage, "usage.updated", {
        scope: "session",
        input_tokens: 1200,
        output_tokens: 340,
        cost_usd: 0.02,
        context_used: 1540,
        context_window: 200000,
      });
      event(stage, "limits.updated", {
        windows: [{ name: "five_hour", used_percent: 42, resets_at: "2030-01-01T00:00:00.000Z" }],
      });
      event(stage, "auth.status", { status: "ok" });
      event(stage, "session.updated", { title: "A mock session" });
      stage.emit({ type: "status", status: { status: "compacting" } });
      event(stage, "session.compacted", { trigger: "manual", pre_tokens: 1540, post_tokens: 200, summary: "We talked." });
      event(stage, "config.changed", {
        model: "mock-2",
        commands: [
          { name: "help", description: "lists the acts" },
          ...Array.from({ length: number(args, 0) }, (_, i) => ({ name: `command-${i}`, description: LONG_DESCRIPTION })),
        ],
        models: [{ id: "mock-1" }, { id: "mock-2" }],
        modes: [{ id: "build" }, { id: "ask" }],
        mcp_servers: [{ name: "files", status: "connected" }],
        tools: ["shell", "edit"],
      });
      event(stage, "team.state_changed", { members: [{ name: "ada", status: "working" }] });
      event(stage, "team.task_updated", { task_id: "1", title: "Look", status: "done", owner: "ada" });
      event(stage, "team.message", { from: "ada", to: "lead", text: "Done." });
      event(stage, "skill.catalog_updated", { count: 1, roots: [".skills"] });
      event(stage, "skill.loaded", {
        name: "greet",
        path: ".skills/greet/SKILL.md",
        digest: "sha256:00",
        frontmatter: { name: "greet" },
      });
      event(stage, "skill.invoked", { name: "greet", mode: "auto" });
      event(stage, "skill.warning", { name: "greet", kind: "frontmatter", detail: "no description" });
      event(stage, "checkpoint.created", {
        checkpoint_id: "cp1",
        label: "before edit",
        created_at: "2030-01-01T00:00:00.000Z",
        files: ["hello.txt"],
        auto: true,
        tool_name: "edit",
      });
      event(stage, "checkpoint.rewound", { checkpoint_id: "cp1", label: "before edit", files: ["hello.txt"] });
      event(stage, "checkpoint.failed", { action: "rewind", error: "no such checkpoint" });
      event(stage, "task.spawned", { task_id: "t1", tool_name: "shell", args: { command: "sleep 1" }, execution_mode: "pty" });
      event(stage, "task.status", { task_id: "t1", status: "running" });
      event(stage, "task.output", { task_id: "t1", stream: "pty", chunk: "tick\n" });
      event(stage, "task.stdin", { task_id: "t1", chunk_b64: "eQo=" });
      event(stage, "task.resized", { task_id: "t1", rows: 24, cols: 80 });
      event(stage, "task.signalled", { task_id: "t1", signal: "SIGINT" });
      event(stage, "task.cancel_requested", { task_id: "t1", reason: "enough" });
      event(stage, "task.cancelled", { task_id: "t1", reason: "enough", wall_time_ms: 12 });
      stage.emit({ type: "note", name: "hook_ran", detail: { hook: "pre_tool" } });
      stage.emit({ type: "ping" });
      await say(stage, "These are the facts.");
    },
  },
};
