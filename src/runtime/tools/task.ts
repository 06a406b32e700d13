/** The model's side of commands that outlived their call. */
import Type from "typebox";
import type { RunningTask } from "../ports.ts";
import { reportTask } from "./bash.ts";
import { headAndTail } from "./output-limit.ts";
import { defineTool, type ToolContext, ToolError, type ToolResult } from "./tool.ts";

const WAIT_MS = 10_000;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGKILL"] as const;

export const taskTool = defineTool({
  name: "task",
  description: "Looks after a running command: output (waits for more than `after` bytes, or its end), signal, stop, list.",
  parameters: Type.Object({
    action: Type.Enum(["output", "signal", "stop", "list"]),
    id: Type.Optional(Type.String({ description: "The task, unless you list." })),
    after: Type.Optional(Type.Integer({ minimum: 0, description: "Only output after this many bytes." })),
    wait_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: 600_000, description: `Wait this long for more (${WAIT_MS}).` })),
    signal: Type.Optional(Type.Enum([...SIGNALS])),
  }),
  // It touches only what the session itself has started, and each action may be repeated.
  effect: "none",
  subject: () => ({ kind: "internal" }),
  async run(args, context): Promise<ToolResult> {
    if (args.action === "list") {
      const rows = context.tasks.list().map((task) => `${task.id}\t${task.running ? "running" : "ended"}\t${task.title}`);
      return { output: rows.join("\n") || "There are no tasks." };
    }
    const task = context.tasks.get(args.id ?? "");
    if (task === undefined) throw new ToolError(`There is no task ${JSON.stringify(args.id ?? "")}. Use action list.`);
    switch (args.action) {
      case "output":
        return output(task, args.after ?? 0, args.wait_ms ?? WAIT_MS, context);
      case "stop":
        return reportTask(task, await task.stop(), context, "Stopped.");
      case "signal":
        return { output: task.signal(args.signal ?? "SIGINT") ? `Sent ${args.signal ?? "SIGINT"}.` : "It has ended already." };
      default:
        return args.action satisfies never;
    }
  },
});

async function output(task: RunningTask, after: number, waitMs: number, context: ToolContext): Promise<ToolResult> {
  await task.waitForOutput(after, waitMs, context.signal);
  const { whole, bytes } = task.output();
  const exit = await Promise.race([task.ended, new Promise<null>((resolve) => setImmediate(() => resolve(null)))]);
  const { text } = headAndTail(whole.subarray(Math.min(after, whole.length)).toString("utf8"));
  const state =
    exit === null ? "Still running." : exit.signal === null ? `Ended with exit code ${exit.code}.` : `Ended by ${exit.signal}.`;
  return { output: `${text === "" ? "(nothing new)" : text}\n(${bytes} bytes so far. ${state})` };
}
