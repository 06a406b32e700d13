// Tools for tasks: commands beside the turns of a session. A command asks nobody, so starting one needs the mode in which nothing is asked.

import { stripVTControlCharacters } from "node:util";
import Type from "typebox";
import type { TaskInfo } from "../schema/task.ts";
import { type Tool, tool } from "./tool.ts";
import { ToolRefusal } from "./tool-refusal.ts";

const optional = Type.Optional;
const strict = { additionalProperties: false };
const TaskId = Type.String({ minLength: 1, maxLength: 128, description: "task_id of list_tasks or start_task" });
const SessionId = Type.String({ minLength: 1, maxLength: 128 });

const brief = ({ task_id, args, cwd, title, status, exit_code, signal, error, origin_session_id, created_at }: TaskInfo) => ({
  task_id,
  args,
  cwd,
  title,
  status,
  exit_code,
  signal,
  error,
  session_id: origin_session_id,
  created_at,
});

export const taskTools: readonly Tool[] = [
  tool({
    name: "list_tasks",
    description: "Lists commands that run, or ran, beside the sessions, the newest first.",
    readOnly: true,
    input: Type.Object(
      {
        session_id: optional(SessionId),
        status: optional(Type.Enum(["queued", "running", "exited", "cancelled", "failed"])),
        limit: optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
      },
      strict,
    ),
    run: async ({ session_id, status, limit }, { daemon, signal }) => {
      const options = { limit: limit ?? 20, ...(status === undefined ? {} : { status }) };
      const page =
        session_id === undefined ? await daemon.tasks(options, signal) : await daemon.session(session_id).tasks(options, signal);
      return { tasks: page.tasks.map(brief) };
    },
  }),
  tool({
    name: "start_task",
    description:
      "Starts a shell command in a session's directory, beside its turns: a development server, a watcher. Then read_task. Only where the person started this server with --permission-mode bypass: a command asks nobody.",
    readOnly: false,
    input: Type.Object(
      {
        session_id: SessionId,
        command: Type.String({ minLength: 1 }),
        cwd: optional(Type.String({ description: "inside the session's directory" })),
        title: optional(Type.String({ maxLength: 200 })),
        timeout_s: optional(Type.Integer({ minimum: 1, maximum: 86_400 })),
      },
      strict,
    ),
    run: async ({ session_id, timeout_s, ...request }, { daemon, permissionMode, signal }) => {
      if (permissionMode !== "bypass")
        throw new ToolRefusal(
          "wider_mode",
          `A task runs without asking, and this server was started for the permission mode ${permissionMode}. A person starts it with \`dragoman task run --session ${session_id}\`, or starts the server with --permission-mode bypass.`,
        );
      const timeout = timeout_s === undefined ? {} : { timeout_ms: timeout_s * 1000 };
      const task = await daemon.session(session_id).startTask({ ...request, ...timeout }, signal);
      return brief(await task.get(signal));
    },
  }),
  tool({
    name: "read_task",
    description: "Says whether a task still runs, and gives the end of what it wrote.",
    readOnly: true,
    input: Type.Object(
      { task_id: TaskId, longest: optional(Type.Integer({ minimum: 100, maximum: 100_000, default: 8_000 })) },
      strict,
    ),
    run: async ({ task_id, longest }, { daemon, signal }) => {
      const task = daemon.task(task_id);
      const info = await task.get(signal);
      const streams = info.execution_mode === "pty" ? (["pty"] as const) : (["stdout", "stderr"] as const);
      const output: Record<string, string> = {};
      for (const stream of streams) {
        const { total } = await task.output({ stream, offset: Number.MAX_SAFE_INTEGER, signal });
        const offset = Math.max(0, total - (longest ?? 8_000));
        output[stream] = stripVTControlCharacters((await task.output({ stream, offset, signal })).text);
      }
      return { ...brief(info), output };
    },
  }),
  tool({
    name: "stop_task",
    description: "Ends a task and everything it started.",
    readOnly: false,
    input: Type.Object({ task_id: TaskId }, strict),
    run: async ({ task_id }, { daemon, signal }) => brief(await daemon.task(task_id).cancel("stopped through MCP", signal)),
  }),
];
