/** What is known of a task, folded from its events alone: the same for a running one, one read back from a log, and one in a client. */
import Type from "typebox";
import { ArtifactRef } from "../../schema/content.ts";
import type { TaskEvent } from "./task-events.ts";

const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

export const TaskState = Type.Object({
  task_id: Type.String(),
  tool_name: Type.String(),
  args: Type.Unknown(),
  cwd: nullable(Type.String()),
  title: nullable(Type.String()),
  execution_mode: Type.Enum(["pipes", "pty"]),
  origin_session_id: nullable(Type.String()),
  status: Type.Enum(["queued", "running", "exited", "cancelled", "failed"]),
  exit_code: nullable(Type.Integer()),
  signal: nullable(Type.String()),
  started_at: nullable(Type.String()),
  ended_at: nullable(Type.String()),
  error: nullable(Type.String()),
  cancel_reason: nullable(Type.String({ description: "Why it is being, or was, cancelled." })),
  rows: nullable(Type.Integer({ description: "Height of its terminal; null for pipes." })),
  cols: nullable(Type.Integer()),
  artifacts: Type.Array(ArtifactRef),
});
export type TaskState = Type.Static<typeof TaskState>;

/** The state after one more event; null for an event of a task that was never announced. */
export function foldTask(state: TaskState | null, event: TaskEvent): TaskState | null {
  if (event.type === "task.spawned") return state ?? spawned(event.data);
  if (state === null) return null;
  switch (event.type) {
    case "task.status": {
      const { task_id: _, artifacts = [], ...facts } = event.data;
      return { ...state, ...facts, artifacts: [...state.artifacts, ...artifacts] };
    }
    case "task.resized":
      return { ...state, rows: event.data.rows, cols: event.data.cols };
    case "task.cancel_requested":
    case "task.cancelled":
      return { ...state, cancel_reason: event.data.reason };
    case "task.output":
    case "task.stdin":
    case "task.signalled":
      return state;
    default:
      return event satisfies never;
  }
}

export const isOpen = ({ status }: Pick<TaskState, "status">): boolean => status === "queued" || status === "running";

/** What closes a task whose daemon died: its process was ended by the next start, and nobody saw how. */
export function closeLost(state: TaskState, now: Date): TaskEvent[] {
  if (!isOpen(state)) return [];
  const data = {
    task_id: state.task_id,
    status: "failed" as const,
    ended_at: now.toISOString(),
    error: "the daemon was restarted",
  };
  return [{ type: "task.status", data }];
}

function spawned(data: Extract<TaskEvent, { type: "task.spawned" }>["data"]): TaskState {
  return {
    task_id: data.task_id,
    tool_name: data.tool_name,
    args: data.args,
    cwd: data.cwd ?? null,
    title: data.title ?? null,
    execution_mode: data.execution_mode,
    origin_session_id: data.origin_session_id ?? null,
    status: "queued",
    exit_code: null,
    signal: null,
    started_at: null,
    ended_at: null,
    error: null,
    cancel_reason: null,
    rows: null,
    cols: null,
    artifacts: data.artifacts ?? [],
  };
}
