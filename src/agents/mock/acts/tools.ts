// Tools that the mock agent uses. Nothing is really run.
import { type Act, number, say, shell } from "./stage.ts";

const DIFF = "--- a/hello.txt\n+++ b/hello.txt\n@@ -1,2 +1,2 @@\n-hello\n+hello world\n again\n";

export const tools: Record<string, Act> = {
  shell: {
    usage: "shell COMMAND",
    about: "a command with streamed output (nothing is really run)",
    play: async (stage, args) => {
      const m = await say(stage, "I run a command.");
      await shell(stage, args || "ls", 0, { m, delay: 5 });
      await say(stage, "It worked.");
    },
  },
  fail: {
    usage: "fail",
    about: "a command that exits with 3",
    play: async (stage) => {
      await shell(stage, "false", 3, { m: await say(stage, "I run a command.") });
      await say(stage, "It failed.");
    },
  },
  big: {
    usage: "big BYTES",
    about: "a tool result of so many bytes",
    play: async (stage, args) => {
      const c = stage.id();
      const output = "0123456789abcde\n".repeat(Math.ceil(number(args, 1_000_000) / 16));
      stage.emit({ type: "call", c, name: "shell", kind: "shell", title: "yes", input: { command: "yes" } });
      stage.emit({ type: "result", c, output, exit_code: 0 });
    },
  },
  args: {
    usage: "args",
    about: "a tool call whose arguments are streamed",
    play: async (stage) => {
      const c = stage.id();
      stage.emit({ type: "call", c, name: "search", kind: "search", title: "search" });
      for (const d of ['{"query":', '"drago', 'man"}']) stage.emit({ type: "call_args", c, d });
      stage.emit({ type: "result", c, output: "3 matches" });
    },
  },
  edit: {
    usage: "edit",
    about: "a file change with its diff",
    play: async (stage) => {
      const m = await say(stage, "I change a file.");
      const c = stage.id();
      stage.emit({
        type: "call",
        c,
        m,
        name: "edit",
        kind: "edit",
        title: "Edit hello.txt",
        input: { path: "hello.txt" },
        paths: ["hello.txt"],
      });
      stage.emit({
        type: "result",
        c,
        output: "done",
        parts: [{ type: "file_ref", path: "hello.txt", action: "patch", diff: DIFF }],
      });
    },
  },
  plan: {
    usage: "plan",
    about: "a plan that moves on",
    play: async (stage) => {
      const id = stage.id();
      const entries = ["Look", "Change", "Test"].map((text) => ({ text, status: "pending" as const }));
      stage.emit({ type: "plan", id, entries });
      stage.emit({
        type: "plan",
        id,
        entries: entries.map((entry, i) => ({ ...entry, status: i === 0 ? "completed" : "in_progress" })),
      });
      stage.emit({ type: "plan", id, entries: entries.map((entry) => ({ ...entry, status: "completed" })) });
      await say(stage, "All three steps are done.");
    },
  },
  subagent: {
    usage: "subagent",
    about: "a sub-agent with work of its own under its call",
    play: async (stage) => {
      const c = stage.id();
      stage.emit({ type: "call", c, name: "task", kind: "subagent", title: "Look around", input: { prompt: "look around" } });
      await say(stage, "I am the sub-agent.", { p: c });
      await shell(stage, "find .", 0, { p: c });
      stage.emit({ type: "result", c, output: "It looks fine." });
      await say(stage, "The sub-agent is back.");
    },
  },
  background: {
    usage: "background MS",
    about: "a command that outlives its turn; when it ends the agent starts a turn of its own",
    play: async (stage, args) => {
      const c = stage.id();
      stage.emit({
        type: "call",
        c,
        name: "shell",
        kind: "shell",
        title: "sleep",
        input: { command: "sleep" },
        background: true,
      });
      await say(stage, "It runs in the background.");
      stage.later(number(args, 50), async () => {
        stage.emit({ type: "result", c, output: "done\n", exit_code: 0 });
        await say(stage, "The background command is done.");
      });
    },
  },
};
