/**
 * The events of tasks in the log: one stream of kind `task` for each, with the task's state as the state of its row. It is the sink that the daemon gives to
 * `Tasks`, and closes what a daemon that died left open.
 */
import { readFile } from "node:fs/promises";
import type { Log, StreamWriter } from "../../log/contract.ts";
import { type Shape, shapeOf } from "../../schema/envelope.ts";
import {
  closeLost,
  controlsOf,
  foldTask,
  isOpen,
  type TaskEvent,
  type TaskEventType,
  type TaskState,
} from "../../schema/task.ts";
import type { TaskSink } from "./task-events.ts";
import type { StoreOutput } from "./task-output.ts";

export type TaskStreamsOptions = {
  log: Log;
  /** The next id of an event, in two parts. */
  nextEvent(): { head: string; counter: string };
  /** Now, as RFC 3339. */
  clock(): string;
  /** Called with the first and the last event of a task that runs for a session, when they are stored. */
  onTold?(sessionId: string, event: TaskEvent): void;
};

type OpenTask = { writer: StreamWriter; state: TaskState; shapes: Map<TaskEventType, Shape> };

/** By it the tasks of a session are found in the list of all. */
export const sessionTag = (sessionId: string): string => `session:${sessionId}`;

export class TaskStreams implements TaskSink {
  readonly #options: TaskStreamsOptions;
  readonly #open = new Map<string, OpenTask>();

  constructor(options: TaskStreamsOptions) {
    this.#options = options;
  }

  append(event: TaskEvent): Promise<void> {
    if (event.type === "task.spawned") return this.#begin(event);
    const task = this.#open.get(event.data.task_id);
    if (task === undefined) throw new Error(`the stream of task ${event.data.task_id} is not open`);
    return this.#write(task, event);
  }

  /** Resolves when everything that was reported of the task so far is stored. */
  async stored(taskId: string): Promise<void> {
    await this.#open.get(taskId)?.writer.committed();
  }

  /** For output that the events do not hold whole. */
  readonly storeOutput: StoreOutput = async ({ task_id, stream, path }) => {
    const writer = this.#open.get(task_id)?.writer;
    if (writer === undefined) return null;
    const about = { kind: "tool_output", mime: "application/octet-stream", name: `${task_id}.${stream}` };
    const { artifact_id, path: served, bytes, mime } = writer.artifacts.put(await readFile(path), about);
    return { artifact_id, path: served, bytes, mime };
  };

  /** Closes the tasks of a daemon that died. Their processes must be gone. Returns how many there were. */
  async closeLost(): Promise<number> {
    let closed = 0;
    for (const id of await this.#lost()) {
      if (this.#open.has(id)) continue;
      const writer = await this.#options.log.writer("task", id);
      if (writer === undefined) continue;
      const task: OpenTask = { writer, state: stateOf(writer.state()), shapes: new Map() };
      this.#open.set(id, task);
      const events = closeLost(task.state, new Date());
      if (events.length === 0) writer.setOpenSince(null);
      for (const event of events) await this.#write(task, event);
      this.#open.delete(id);
      closed += events.length;
    }
    return closed;
  }

  async #lost(): Promise<string[]> {
    const ids: string[] = [];
    for (let before: string | undefined; ; ) {
      const page = await this.#options.log.list("task", {
        onlyOpen: true,
        limit: 500,
        ...(before === undefined ? {} : { before }),
      });
      ids.push(...page.streams.map(({ id }) => id));
      if (page.next === null) return ids;
      before = page.next;
    }
  }

  async #begin(event: Extract<TaskEvent, { type: "task.spawned" }>): Promise<void> {
    const { task_id } = event.data;
    const state = foldTask(null, event);
    if (state === null) throw new Error("a task that was announced has a state");
    const writer = await this.#options.log.create("task", task_id, rowOf(state));
    writer.setOpenSince(1);
    const task: OpenTask = { writer, state, shapes: new Map() };
    this.#open.set(task_id, task);
    await this.#write(task, event);
  }

  async #write(task: OpenTask, event: TaskEvent): Promise<void> {
    const { writer } = task;
    const { head, counter } = this.#options.nextEvent();
    const text = {
      head,
      counter,
      time: this.#options.clock(),
      shape: shape(task, event.type),
      value: JSON.stringify(event.data),
    };
    writer.append({ text, sequence: writer.last + 1, type: event.type, native: null, sync: event.type === "task.spawned" });
    const state = foldTask(task.state, event) ?? task.state;
    if (state !== task.state) {
      task.state = state;
      writer.setState(rowOf(state));
    }
    const over = !isOpen(state);
    if (over) {
      writer.setOpenSince(null);
      this.#open.delete(state.task_id);
    }
    await writer.committed();
    const { origin_session_id } = state;
    if (origin_session_id !== null && (over || event.type === "task.spawned")) this.#options.onTold?.(origin_session_id, event);
  }
}

/** The stored row of a task. */
export const stateOf = (row: string): TaskState => {
  const { tags: _, ...state } = JSON.parse(row) as TaskState & { tags?: string[] };
  return { ...state, owner: state.owner ?? "daemon", controls: state.controls ?? controlsOf(state.execution_mode) };
};

const rowOf = (state: TaskState): string =>
  JSON.stringify({ ...state, tags: state.origin_session_id === null ? [] : [sessionTag(state.origin_session_id)] });

/** Kept as long as the task: events of one type have the same one. */
function shape({ shapes, state }: OpenTask, type: TaskEventType): Shape {
  const known = shapes.get(type) ?? shapeOf({ sessionId: state.task_id, nativeSessionId: null, source: "daemon", type });
  shapes.set(type, known);
  return known;
}
