/**
 * Tasks: commands that run beside the turns of a session, as requests, as events, and as the state the events add up to. The state is folded from the events
 * alone: the same for a running task, one read back from a log, and one in a client.
 */
import Type from "typebox";
import { Actor } from "./actor.ts";
import { ArtifactRef } from "./content.ts";
import { type EventDataOf, type EventType, type TaskControl, TaskControls, TaskOwner } from "./event-data.ts";
import { nullable } from "./nullable.ts";
import { isOpen } from "./task-status.ts";

export { isOpen } from "./task-status.ts";

export type TaskEventType = Extract<EventType, `task.${string}`>;

/** One event of a task's stream. Ids, sequence and time are given by whoever stores it. */
export type TaskEvent = { [T in TaskEventType]: { type: T; data: EventDataOf[T] } }[TaskEventType];

export const MAX_ROWS = 500;
export const MAX_COLS = 1_000;

const NoNul = { pattern: "^[^\\0]*$" };
const Rows = Type.Integer({ description: "Height of the terminal in lines.", minimum: 1, maximum: MAX_ROWS });
const Cols = Type.Integer({ description: "Width of the terminal in columns.", minimum: 1, maximum: MAX_COLS });

export const TerminalSize = Type.Object({ rows: Rows, cols: Cols }, { title: "TerminalSize", additionalProperties: false });
export type TerminalSize = Type.Static<typeof TerminalSize>;

const startFields = {
  command: Type.Optional(Type.String({ ...NoNul, minLength: 1, description: "A shell command line. Either this or argv." })),
  argv: Type.Optional(
    Type.Array(Type.String(NoNul), { minItems: 1, description: "A program and its arguments, read by no shell." }),
  ),
  cwd: Type.Optional(Type.String({ ...NoNul, description: "Working directory, inside the workspace; its root unless given." })),
  env: Type.Optional(
    Type.Record(Type.String({ pattern: "^[^=\\0]+$" }), Type.String(NoNul), {
      additionalProperties: false,
      description: "Added to the environment. Never written to the log.",
    }),
  ),
  title: Type.Optional(Type.String({ maxLength: 200, description: "For people." })),
  execution_mode: Type.Optional(
    Type.Enum(["pipes", "pty"], { description: "pipes: stdout and stderr apart. pty: a terminal. Default pipes." }),
  ),
  stdin: Type.Optional(Type.Boolean({ description: "With pipes: whether it gets a standard input. Default false." })),
  rows: Type.Optional(Rows),
  cols: Type.Optional(Cols),
  timeout_ms: Type.Optional(Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, description: "It is cancelled after this time." })),
};

/** What a client may ask for. */
export const StartTask = Type.Object(startFields, { title: "StartTask", additionalProperties: false });
export type StartTask = Type.Static<typeof StartTask>;

/** What the daemon itself may ask for: for which tool and session it runs. */
export const TaskRequest = Type.Object(
  {
    ...startFields,
    tool_name: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: "The tool it runs for. Default shell." })),
    origin_session_id: Type.Optional(nullable(Type.String({ description: "The session it runs for." }))),
    actor: Type.Optional(Actor),
  },
  { additionalProperties: false },
);
export type TaskRequest = Type.Static<typeof TaskRequest>;

const stateFields = {
  task_id: Type.String({ description: "Id of the task." }),
  tool_name: Type.String({ description: "The tool it runs for; `shell` for a command of a person." }),
  args: Type.Unknown({ description: "{command} or {argv}, as asked for" }),
  cwd: nullable(Type.String({ description: "Working directory; null: that of the session." })),
  title: nullable(Type.String({ description: "For people; null: none." })),
  execution_mode: Type.Enum(["pipes", "pty"], { description: "pipes: stdout and stderr apart. pty: a terminal." }),
  origin_session_id: nullable(Type.String({ description: "The session it runs for; null: for none." })),
  owner: TaskOwner,
  controls: TaskControls,
  status: Type.Enum(["queued", "running", "exited", "cancelled", "failed"], {
    description: "How far it is. exited: it ended by itself, see `exit_code`.",
  }),
  exit_code: nullable(Type.Integer({ description: "Exit code of the process; null when a signal ended it." })),
  signal: nullable(
    Type.String({ description: "Name of the signal that ended the process, such as `SIGKILL`; null when none did." }),
  ),
  started_at: nullable(Type.String({ description: "When it started: RFC 3339; null while it waits." })),
  ended_at: nullable(Type.String({ description: "When it ended: RFC 3339; null while it runs." })),
  error: nullable(Type.String({ description: "Why it failed to start or was lost; null: it did not." })),
  cancel_reason: nullable(Type.String({ description: "Why it is being, or was, cancelled." })),
  rows: nullable(Type.Integer({ description: "Height of its terminal; null for pipes." })),
  cols: nullable(Type.Integer({ description: "Width of its terminal; null for pipes." })),
  artifacts: Type.Array(ArtifactRef, { description: "Outputs that were too long for an event." }),
  created_by: nullable(Actor),
};

export const TaskState = Type.Object(stateFields);
export type TaskState = Type.Static<typeof TaskState>;

export const TaskStatusName = stateFields.status;
export const OutputStreamName = Type.Enum(["stdout", "stderr", "pty"], { description: "Which of its outputs." });
export type OutputStreamName = Type.Static<typeof OutputStreamName>;

/** A task as clients get it. */
export const TaskInfo = Type.Object(
  {
    ...stateFields,
    created_at: Type.String({ description: "When it was asked for: RFC 3339, UTC." }),
    last_sequence: Type.Integer({ description: "Sequence of the newest event." }),
  },
  { title: "Task" },
);
export type TaskInfo = Type.Static<typeof TaskInfo>;

export const TaskList = Type.Object({
  tasks: Type.Array(TaskInfo, { description: "One page, the newest first." }),
  next: nullable(Type.String({ description: "the `before` of the following page" })),
});
export type TaskList = Type.Static<typeof TaskList>;

export const TaskInput = Type.Object(
  {
    text: Type.Optional(Type.String({ description: "What is typed, or written to the standard input." })),
    base64: Type.Optional(
      Type.String({ pattern: "^[A-Za-z0-9+/]*={0,2}$", description: "The same as bytes. Either this or text." }),
    ),
    secret: Type.Optional(Type.Boolean({ description: "It is not written to the log: a password." })),
    end: Type.Optional(Type.Boolean({ description: "Nothing follows: the input is closed, in a terminal Ctrl-D is typed." })),
  },
  { title: "TaskInput", additionalProperties: false },
);
export type TaskInput = Type.Static<typeof TaskInput>;

export const TaskOutputRange = Type.Object({
  stream: OutputStreamName,
  offset: Type.Integer({ description: "Place of the first byte: later than asked for when what lies before is not kept." }),
  bytes: Type.Integer({ description: "How many bytes the text stands for." }),
  total: Type.Integer({ description: "Bytes the stream has had so far." }),
  text: Type.String({ description: "The bytes as UTF-8, whole characters only." }),
});
export type TaskOutputRange = Type.Static<typeof TaskOutputRange>;

export const TaskScreen = Type.Object({
  rows: Type.Integer({ description: "Height of the screen." }),
  cols: Type.Integer({ description: "Width of the screen." }),
  serialized: Type.String({ description: "Escape sequences that draw the screen on an empty terminal of this size." }),
  offset: Type.Integer({ description: "Place in the output up to which it is drawn: what comes from there on continues it." }),
  exact: Type.Boolean({ description: "False: the output was too long to replay all of it." }),
});
export type TaskScreen = Type.Static<typeof TaskScreen>;

/** What a task's WebSocket says. */
export type TaskSocketMessage =
  | { type: "hello"; task: TaskInfo; role: string; version: string }
  /** First in a terminal, and again after a gap: what comes next continues it. */
  | ({ type: "screen" } & TaskScreen)
  | { type: "output"; stream: OutputStreamName; offset: number; bytes: number; text: string }
  | ({ type: "size" } & TerminalSize)
  /** The last one. */
  | { type: "ended"; task: TaskInfo };

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
    owner: data.owner ?? "daemon",
    controls: data.controls ?? controlsOf(data.execution_mode),
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
    created_by: data.actor ?? null,
  };
}

/** What can be done with a task of the daemon. A stream that says nothing of it is an old one: its task has ended. */
export const controlsOf = (mode: "pipes" | "pty", stdin = true): TaskControl[] =>
  mode === "pty" ? ["stdin", "resize", "signal", "cancel"] : [...(stdin ? (["stdin"] as const) : []), "signal", "cancel"];
