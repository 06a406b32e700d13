/** Runs a shell command. What still runs after `yield_ms` becomes a task: the same tool serves foreground and background. */
import { stat } from "node:fs/promises";
import Type from "typebox";
import { isObject } from "../../openresponses/json.ts";
import type { RunningTask, TaskExit } from "../ports.ts";
import { headAndTail } from "./output-limit.ts";
import { realPath, shownPath } from "./paths.ts";
import { defineTool, type ToolContext, ToolError, type ToolResult } from "./tool.ts";

const TIMEOUT_MS = 120_000;
const YIELD_MS = 10_000;
const MAX_MS = 3_600_000;

export const bashTool = defineTool({
  name: "bash",
  description:
    "Runs a bash command. It gets no input. When it still runs after yield_ms it goes on as a task and you get its id; timeout_ms ends it for good.",
  parameters: Type.Object({
    command: Type.String({ minLength: 1 }),
    cwd: Type.Optional(Type.String({ description: "Where; the working directory when left out." })),
    timeout_ms: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_MS, description: `End it after this time (${TIMEOUT_MS}).` }),
    ),
    yield_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: 600_000, description: `Wait this long (${YIELD_MS}).` })),
    background: Type.Optional(Type.Boolean({ description: "Do not wait and do not end it: a server." })),
    unsandboxed: Type.Optional(
      Type.Boolean({ description: "Run it outside the sandbox: only when the sandbox has refused it. The user is asked." }),
    ),
    title: Type.Optional(Type.String({ description: "A few words for the user." })),
  }),
  effect: "unknown",
  repair: (args) =>
    isObject(args) && args.command === undefined && typeof args.cmd === "string" ? { ...args, command: args.cmd } : args,
  subject: ({ command, cwd = ".", unsandboxed = false }, { directory }) => ({
    kind: "bash",
    command,
    cwd: realPath(directory, cwd),
    unsandboxed,
  }),
  timeoutMs: ({ timeout_ms, background }) => (background ? null : (timeout_ms ?? TIMEOUT_MS)),
  async run(args, context): Promise<ToolResult> {
    const cwd = context.at(args.cwd ?? ".");
    const place = await stat(cwd).catch(() => null);
    if (!place?.isDirectory()) throw new ToolError(`${shownPath(context.directory, cwd)} is not a directory.`);
    const title = args.title ?? args.command.slice(0, 80);
    const unsandboxed = args.unsandboxed ?? false;
    const task = await context.tasks.start({ command: args.command, cwd, title, unsandboxed, onOutput: context.onOutput });
    const background = args.background ?? false;
    const timeout = args.timeout_ms ?? TIMEOUT_MS;
    if (!background) endAfter(task, timeout);
    const first = await firstOf(task, background ? 200 : Math.min(args.yield_ms ?? YIELD_MS, timeout + 5_000), context.signal);
    if (first === "aborted") {
      const exit = await task.stop();
      return report(task, exit, context, "Interrupted by the user.");
    }
    if (first !== "running") return report(task, first, context);
    task.outlive();
    const { text } = task.output();
    return { output: `Still running as ${task.id}. Use task to look after it. Output so far:\n${text === "" ? "(none)" : text}` };
  },
});

/** Ends a command whose time is over, also when it has become a task. */
function endAfter(task: RunningTask, ms: number): void {
  const timer = setTimeout(() => {
    timedOut.add(task);
    void task.stop();
  }, ms);
  timer.unref();
  void task.ended.then(() => clearTimeout(timer));
}

const timedOut = new WeakSet<RunningTask>();

function firstOf(task: RunningTask, yieldMs: number, signal: AbortSignal): Promise<TaskExit | "running" | "aborted"> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => settle("running"), yieldMs);
    const onAbort = (): void => settle("aborted");
    const settle = (value: TaskExit | "running" | "aborted"): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      resolve(value);
    };
    if (signal.aborted) settle("aborted");
    else signal.addEventListener("abort", onAbort, { once: true });
    void task.ended.then(settle);
  });
}

async function report(task: RunningTask, exit: TaskExit, { blobs }: ToolContext, note = ""): Promise<ToolResult> {
  const { whole } = task.output();
  const { text, cut } = headAndTail(whole.toString("utf8"));
  const artifacts = cut ? [await blobs.put(whole)] : [];
  const lines = [
    text === "" ? "(no output)" : text.replace(/\n$/, ""),
    ...artifacts.map((digest) => `(All of it: artifact:${digest})`),
    ...(note === "" ? [] : [note]),
    ...(timedOut.has(task) ? ["It was ended because its time was over."] : []),
    ...(exit.code === 0 ? [] : [exit.signal === null ? `Exit code ${exit.code}` : `Ended by ${exit.signal}`]),
  ];
  const exitCode = exit.code ?? 128;
  return { output: lines.join("\n"), exitCode, isError: exitCode !== 0, artifacts };
}

export { report as reportTask };
