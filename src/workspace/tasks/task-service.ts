/**
 * All tasks of a daemon, those that run and those that only the log knows: what the server offers to clients. Everything it says is committed. Who may do what
 * is decided by those who call.
 */
import type { Log, Stream, StreamRow } from "../../log/contract.ts";
import type { Actor } from "../../schema/actor.ts";
import {
  isOpen,
  type TaskInfo,
  type TaskInput,
  type TaskOutputRange,
  type TaskRequest,
  type TerminalSize,
} from "../../schema/task.ts";
import type { Screen } from "./screen.ts";
import type { TaskPlace } from "./start-request.ts";
import { StoredTask } from "./stored-task.ts";
import { TaskError } from "./task-error.ts";
import type { OutputStream } from "./task-process.ts";
import { sessionTag, stateOf, type TaskStreams } from "./task-streams.ts";
import { MAX_READ_BYTES, type Tasks, type WatchedTask } from "./tasks.ts";
import { wholeCharacters } from "./whole-characters.ts";

export type TaskListOptions = { session_id?: string; status?: string; limit?: number; before?: string };

export class TaskService {
  readonly tasks: Tasks;
  readonly #streams: TaskStreams;
  readonly #log: Log;
  readonly #environment: () => Record<string, string | undefined>;

  constructor(options: { tasks: Tasks; streams: TaskStreams; log: Log; environment(): Record<string, string | undefined> }) {
    this.tasks = options.tasks;
    this.#streams = options.streams;
    this.#log = options.log;
    this.#environment = options.environment;
  }

  /** `root`: where it must run; null: anywhere. */
  async start(request: TaskRequest, root: string | null): Promise<TaskInfo> {
    const place: TaskPlace = { root, environment: this.#environment() };
    const { task_id } = await this.tasks.start(request, place);
    await this.#streams.stored(task_id);
    return this.info(task_id);
  }

  async info(taskId: string): Promise<TaskInfo> {
    const row = await this.#log.row("task", taskId);
    if (row === undefined) throw notFound(taskId);
    return infoOf(row);
  }

  /** The newest first. */
  async list({ session_id, status, limit = 100, before }: TaskListOptions): Promise<{ tasks: TaskInfo[]; next: string | null }> {
    const page = await this.#log.list("task", {
      limit,
      ...(status === undefined ? {} : { where: { status } }),
      ...(session_id === undefined ? {} : { tag: sessionTag(session_id) }),
      ...(before === undefined ? {} : { before }),
    });
    return { tasks: page.streams.map(infoOf), next: page.next };
  }

  async stream(taskId: string): Promise<Stream> {
    const stream = await this.#log.stream("task", taskId);
    if (stream === undefined) throw notFound(taskId);
    return stream;
  }

  /** Its output and its screen, as they are and as they change. */
  async watched(taskId: string): Promise<WatchedTask> {
    return this.tasks.find(taskId) ?? StoredTask.read(await this.stream(taskId));
  }

  async output(taskId: string, range: { stream?: OutputStream; offset?: number; limit?: number }): Promise<TaskOutputRange> {
    const task = await this.watched(taskId);
    const isPty = task.state.execution_mode === "pty";
    const stream = range.stream ?? (isPty ? "pty" : "stdout");
    if ((stream === "pty") !== isPty)
      throw new TaskError("invalid_request", `The task has no stream ${stream}: it has ${isPty ? "pty" : "stdout and stderr"}.`);
    const total = task.shown(stream);
    const limit = Math.min(range.limit ?? MAX_READ_BYTES, MAX_READ_BYTES, Math.max(0, total - (range.offset ?? 0)));
    const read = await task.read(stream, range.offset ?? 0, limit);
    const { skipped, bytes } = wholeCharacters(read.bytes, read.offset + read.bytes.length >= total);
    return { stream, offset: read.offset + skipped, bytes: bytes.length, total, text: bytes.toString("utf8") };
  }

  async screen(taskId: string, scrollback?: number): Promise<Screen> {
    return (await this.watched(taskId)).screen(scrollback);
  }

  async input(taskId: string, { text, base64, secret = false, end = false }: TaskInput, actor: Actor): Promise<void> {
    await this.#mustBeOpen(taskId);
    if (text !== undefined && base64 !== undefined) throw new TaskError("invalid_request", "Give either text or base64.");
    if (base64 !== undefined && base64.length % 4 !== 0)
      throw new TaskError("invalid_request", "The base64 was cut: its length must be a multiple of four.");
    const data = base64 === undefined ? Buffer.from(text ?? "") : Buffer.from(base64, "base64");
    this.tasks.write(taskId, data, { secret, actor });
    if (end) this.tasks.endInput(taskId);
  }

  async resize(taskId: string, size: TerminalSize, actor: Actor): Promise<void> {
    await this.#mustBeOpen(taskId);
    await this.tasks.resize(taskId, size, actor);
  }

  async signal(taskId: string, name: string, actor: Actor): Promise<void> {
    await this.#mustBeOpen(taskId);
    this.tasks.signal(taskId, name, actor);
  }

  /** Resolves when no process of it is left. A task that has ended stays as it is. */
  async cancel(taskId: string, reason: string, actor: Actor): Promise<TaskInfo> {
    const info = await this.info(taskId);
    if (this.tasks.find(taskId) !== null) await this.tasks.cancel(taskId, reason, actor);
    else if (isOpen(info)) throw notFound(taskId);
    return this.info(taskId);
  }

  /** Removes an ended task, its events and its output. */
  async remove(taskId: string): Promise<void> {
    await this.info(taskId);
    if (this.tasks.find(taskId) !== null) await this.tasks.remove(taskId);
    await this.#log.delete("task", taskId);
  }

  /** For a session that is removed: what runs for it is ended, and nothing of its tasks is left. */
  async removeOf(sessionId: string): Promise<void> {
    for (;;) {
      const { tasks, next } = await this.list({ session_id: sessionId, limit: 500 });
      for (const { task_id } of tasks) {
        if (this.tasks.find(task_id) !== null) {
          await this.tasks.cancel(task_id, "its session was removed");
          await this.tasks.remove(task_id).catch(() => undefined);
        }
        await this.#log.delete("task", task_id);
      }
      if (next === null) return;
    }
  }

  /** Something runs for the session, or waits to. */
  isUsed(sessionId: string): boolean {
    return this.tasks.list({ origin_session_id: sessionId }).some(isOpen);
  }

  close(): Promise<void> {
    return this.tasks.close();
  }

  /** An ended task that only the log knows is there, but takes nothing. */
  async #mustBeOpen(taskId: string): Promise<void> {
    if (this.tasks.find(taskId) !== null) return;
    const { status } = await this.info(taskId);
    throw new TaskError("task_ended", `Task ${taskId} has ended (${status}): start another one.`);
  }
}

const infoOf = ({ state, created_at, last_sequence }: StreamRow): TaskInfo => ({
  ...stateOf(state),
  created_at: new Date(created_at).toISOString(),
  last_sequence,
});

const notFound = (taskId: string): TaskError =>
  new TaskError("task_not_found", `There is no task ${JSON.stringify(taskId.slice(0, 100))}: list them to see which there are.`);
