/**
 * All tasks of a daemon: starts them within the quotas, finds them, and ends them when it is closed. What one task does is in `task.ts`; who may do what is
 * decided by those who call.
 */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { Compile } from "typebox/compile";
import type { Actor } from "../../schema/actor.ts";
import { onUse } from "../../schema/on-use.ts";
import {
  MAX_COLS,
  MAX_ROWS,
  type TaskRequest,
  type TaskState,
  type TerminalSize,
  TerminalSize as TerminalSizeSchema,
} from "../../schema/task.ts";
import type { ProcessRecorder } from "../../transports/index.ts";
import type { AgentCommand, AgentProcess } from "./agent-process.ts";
import { DEFAULT_LIMITS, type TaskLimits } from "./limits.ts";
import type { OutputRange } from "./output-store.ts";
import { ptyModule } from "./pty-module.ts";
import type { Screen } from "./screen.ts";
import { signalNamed } from "./signals.ts";
import { agentPlan, checkStart, type TaskPlace, type TaskPlan } from "./start-request.ts";
import { type OutputObserver, Task, type TaskSurroundings } from "./task.ts";
import { TaskError } from "./task-error.ts";
import type { TaskSink } from "./task-events.ts";
import type { OutputView, StoreOutput } from "./task-output.ts";
import type { OutputStream } from "./task-process.ts";

/** A range may not be longer than this. */
export const MAX_READ_BYTES = 1024 * 1024;

export type TasksOptions = {
  sink: TaskSink;
  /** Records the processes, so that they are ended after a crash of the daemon too. */
  recorder: ProcessRecorder;
  /** Existing private directory for long output. Left out: only the newest output is kept, in memory. */
  outputDirectory?: string;
  limits?: Partial<TaskLimits>;
  /** Called at the end for each stream that the events do not hold whole. */
  storeOutput?: StoreOutput;
};

/** A task as it is now: what its events say, and what only its process knows. */
export type TaskView = TaskState & {
  /** Null when no process was started. */
  pid: number | null;
  output: OutputView[];
};

/** The output and the screen of a task, running or not. */
export type WatchedTask = Pick<Task, "follow" | "shown" | "read" | "screen" | "state">;

const sizeValidator = onUse(() => Compile(TerminalSizeSchema));

export class Tasks {
  readonly #options: TasksOptions;
  readonly #limits: TaskLimits;
  /** In the order of their start. */
  readonly #tasks = new Map<string, Task>();
  readonly #queue: Task[] = [];
  readonly #running = new Set<Task>();
  /** Commands of agents. */
  readonly #adopted = new Set<Task>();
  /** The oldest first. */
  readonly #ended: Task[] = [];
  #closed = false;

  constructor(options: TasksOptions) {
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
  }

  /** Rejects with a `TaskError` when nothing was started. Resolves when the process runs, failed to start, or waits for its turn. */
  async start(request: TaskRequest, place: TaskPlace, observe?: OutputObserver): Promise<TaskView> {
    if (this.#closed) throw new TaskError("closing", "The daemon is stopping: it starts no tasks any more.");
    const plan = checkStart(request, place);
    if (plan.mode.kind === "pty") ptyModule();
    const task = this.#admit(plan, observe);
    const waits = this.#queue.includes(task);
    await task.announce(waits);
    if (!waits) await task.start();
    return this.#view(task);
  }

  /** A command that an agent runs by itself. It runs already, so no quota counts it. Output and end are reported through what it returns. */
  adopt(command: AgentCommand): AgentProcess {
    const plan = agentPlan(command);
    const task = this.#made(plan);
    this.#adopted.add(task);
    if (this.#closed) plan.process.lost("the daemon is stopping");
    void task.announce(false).then(() => task.start());
    return plan.process;
  }

  get(taskId: string): TaskView {
    return this.#view(this.#find(taskId));
  }

  /** The oldest first. */
  list(filter: { origin_session_id?: string } = {}): TaskView[] {
    const all = [...this.#tasks.values()].filter(
      ({ plan }) => filter.origin_session_id === undefined || plan.origin_session_id === filter.origin_session_id,
    );
    return all.map((task) => this.#view(task));
  }

  /** Resolves with its last state, when the task is over. */
  async ended(taskId: string): Promise<TaskView> {
    const task = this.#find(taskId);
    await task.ended;
    return this.#view(task);
  }

  /** `secret`: what is typed is not written to the log. */
  write(taskId: string, data: Buffer, options: { secret?: boolean; actor?: Actor } = {}): void {
    this.#find(taskId).write(data, options);
  }

  endInput(taskId: string): void {
    this.#find(taskId).endInput();
  }

  async resize(taskId: string, size: TerminalSize, actor?: Actor): Promise<void> {
    const task = this.#find(taskId);
    if (!sizeValidator().Check(size))
      throw new TaskError("invalid_request", `A terminal has 1 to ${MAX_ROWS} rows and 1 to ${MAX_COLS} cols.`);
    await task.resize(size, actor);
  }

  /** The name may lack its `SIG`. */
  signal(taskId: string, name: string, actor?: Actor): void {
    const task = this.#find(taskId);
    task.signal(signalNamed(name), actor);
  }

  async cancel(taskId: string, reason: string, actor?: Actor): Promise<TaskView> {
    const task = this.#find(taskId);
    await task.cancel(reason, actor);
    return this.#view(task);
  }

  async read(taskId: string, range: { stream: OutputStream; offset: number; limit?: number }): Promise<OutputRange> {
    return this.#find(taskId).read(range.stream, range.offset, Math.min(range.limit ?? MAX_READ_BYTES, MAX_READ_BYTES));
  }

  async screen(taskId: string, options: { scrollback?: number } = {}): Promise<Screen> {
    return this.#find(taskId).screen(options.scrollback);
  }

  /** Null: this manager does not know it, or not any more. */
  find(taskId: string): WatchedTask | null {
    return this.#tasks.get(taskId) ?? null;
  }

  /** Forgets an ended task and removes its output. */
  async remove(taskId: string): Promise<void> {
    const task = this.#find(taskId);
    if (!this.#ended.includes(task)) throw new TaskError("invalid_request", `Task ${taskId} has not ended: cancel it first.`);
    this.#ended.splice(this.#ended.indexOf(task), 1);
    await this.#forget(task);
  }

  /** Cancels everything and waits until no process is left. Nothing can be started after it. */
  async close(): Promise<void> {
    this.#closed = true;
    const open = [...this.#queue, ...this.#running];
    for (const { plan } of this.#adopted) if (plan.mode.kind === "agent") plan.mode.process.lost("the daemon is stopping");
    await Promise.all([
      ...open.map((task) => task.cancel("the daemon is stopping")),
      ...[...this.#adopted].map((task) => task.ended),
    ]);
  }

  /** Checked and counted in one step: two requests at the same time must not both get the last place. */
  #admit(plan: TaskPlan, observe?: OutputObserver): Task {
    const open = [...this.#running, ...this.#queue];
    const ofSession = open.filter(
      (task) => task.plan.origin_session_id !== null && task.plan.origin_session_id === plan.origin_session_id,
    );
    if (ofSession.length >= this.#limits.per_session)
      throw new TaskError(
        "quota_reached",
        `The session has ${ofSession.length} tasks that run or wait: cancel one, or wait for one to end.`,
      );
    const mustWait = this.#running.size >= this.#limits.running;
    if (mustWait && this.#queue.length >= this.#limits.queued)
      throw new TaskError(
        "quota_reached",
        `${this.#running.size} tasks run and ${this.#queue.length} wait: cancel one, or wait for one to end.`,
      );
    const task = this.#made(plan, observe);
    if (mustWait) this.#queue.push(task);
    else this.#running.add(task);
    return task;
  }

  #made(plan: TaskPlan, observe?: OutputObserver): Task {
    const task = new Task(`task_${randomUUID()}`, plan, this.#surroundings(), observe);
    this.#tasks.set(task.id, task);
    void task.ended.then(() => this.#over(task));
    return task;
  }

  #surroundings(): TaskSurroundings {
    const { sink, recorder, outputDirectory, storeOutput } = this.#options;
    const id = randomUUID();
    return {
      sink,
      recorder,
      limits: this.#limits,
      outputFile: (stream) => (outputDirectory === undefined ? null : join(outputDirectory, `${id}.${stream}`)),
      ...(storeOutput ? { storeOutput } : {}),
    };
  }

  #over(task: Task): void {
    this.#running.delete(task);
    this.#adopted.delete(task);
    if (this.#queue.includes(task)) this.#queue.splice(this.#queue.indexOf(task), 1);
    this.#ended.push(task);
    while (this.#ended.length > this.#limits.ended) {
      const oldest = this.#ended.shift();
      if (oldest) void this.#forget(oldest);
    }
    while (!this.#closed && this.#running.size < this.#limits.running) {
      const next = this.#queue.shift();
      if (next === undefined) return;
      this.#running.add(next);
      void next.start();
    }
  }

  async #forget(task: Task): Promise<void> {
    this.#tasks.delete(task.id);
    await task.forget();
  }

  #find(taskId: string): Task {
    const task = this.#tasks.get(taskId);
    if (task === undefined)
      throw new TaskError(
        "task_not_found",
        `There is no task ${JSON.stringify(taskId.slice(0, 100))}: list them to see which there are.`,
      );
    return task;
  }

  #view(task: Task): TaskView {
    return { ...task.state, pid: task.pid, output: task.output };
  }
}
