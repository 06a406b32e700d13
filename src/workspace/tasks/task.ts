/**
 * One task: a process, what it wrote, and the events that report it. Its stream is `spawned`, `status`, output, perhaps a cancellation, and one last `status`,
 * which comes after the last output and after the last of its processes. Quotas and the list of tasks are not here.
 */
import type { Actor } from "../../schema/actor.ts";
import type { TaskControl } from "../../schema/event-data.ts";
import { controlsOf, foldTask, type TaskEvent, type TaskState, type TerminalSize } from "../../schema/task.ts";
import type { ProcessRecorder } from "../../transports/index.ts";
import type { AgentProcess } from "./agent-process.ts";
import { BackPressure } from "./back-pressure.ts";
import type { TaskLimits } from "./limits.ts";
import type { OutputRange } from "./output-store.ts";
import { startPipes } from "./pipes.ts";
import { type PtyProcess, startPty } from "./pty.ts";
import { TaskScreen } from "./screen.ts";
import type { TaskPlan } from "./start-request.ts";
import { TaskError } from "./task-error.ts";
import type { TaskSink } from "./task-events.ts";
import { type OutputView, type StoreOutput, TaskOutput } from "./task-output.ts";
import type { OutputStream, ProcessListener, TaskExit, TaskProcess } from "./task-process.ts";

export type TaskSurroundings = {
  sink: TaskSink;
  recorder: ProcessRecorder;
  limits: TaskLimits;
  /** File for the output of one stream; null: output is kept in memory alone. */
  outputFile(stream: OutputStream): string | null;
  /** Called at the end for each stream that the events do not hold whole. */
  storeOutput?: StoreOutput;
};

/** Sees all output as it comes, also what is not reported in events any more. It must not keep the bytes. */
export type OutputObserver = (stream: OutputStream, bytes: Buffer) => void;

export class Task {
  readonly id: string;
  readonly plan: TaskPlan;
  /** Resolves with the last state, when everything of the task is over and its events are handed over. */
  readonly ended: Promise<TaskState>;
  readonly #around: TaskSurroundings;
  readonly #observe: OutputObserver | undefined;
  readonly #output: TaskOutput;
  readonly #sizes: (TerminalSize & { offset: number })[] = [];
  readonly #screen: TaskScreen | null;
  readonly #pressure: BackPressure;
  readonly #followers = new Set<() => void>();
  #state: TaskState | null = null;
  #process: TaskProcess | null = null;
  #pty: PtyProcess | null = null;
  #startedAt = 0;
  #timeout: NodeJS.Timeout | null = null;
  #fault: string | null = null;
  #finished = false;
  #announced: Promise<void> = Promise.resolve();
  #settle: (state: TaskState) => void = () => {};

  constructor(id: string, plan: TaskPlan, around: TaskSurroundings, observe?: OutputObserver) {
    this.id = id;
    this.plan = plan;
    this.#around = around;
    this.#observe = observe;
    this.ended = new Promise((resolve) => {
      this.#settle = resolve;
    });
    const isPty = plan.mode.kind === "pty";
    this.#output = new TaskOutput({
      task_id: id,
      streams: isPty ? ["pty"] : ["stdout", "stderr"],
      limits: around.limits,
      file: around.outputFile,
      tell: (event) => this.#tell(event),
      onShown: () => this.#changed(),
    });
    this.#screen = isPty ? new TaskScreen(this.#screenSource()) : null;
    this.#pressure = new BackPressure({ pause: () => this.#process?.pause(), resume: () => this.#process?.resume() });
  }

  get state(): TaskState {
    if (this.#state === null) throw new Error(`task ${this.id} was not announced`);
    return this.#state;
  }

  get pid(): number | null {
    return this.#process?.pid ?? null;
  }

  /** Bytes each stream has had, and which of them can be read. */
  get output(): OutputView[] {
    return this.#output.views;
  }

  /** Says what will be started. Resolves when that is stored: nothing is started that nobody knows of. */
  announce(queued: boolean): Promise<void> {
    this.#announced = this.#announce(queued);
    return this.#announced;
  }

  async #announce(queued: boolean): Promise<void> {
    const { plan } = this;
    const { mode } = plan;
    await this.#append({
      type: "task.spawned",
      data: {
        task_id: this.id,
        tool_name: plan.tool_name,
        args: plan.args,
        cwd: plan.cwd,
        ...(plan.title === null ? {} : { title: plan.title }),
        execution_mode: mode.kind === "pty" ? "pty" : "pipes",
        origin_session_id: plan.origin_session_id,
        ...(mode.kind === "agent" ? { owner: "agent" as const } : {}),
        controls: controlsFor(mode),
        ...by(plan.actor ?? undefined),
      },
    });
    if (mode.kind === "pty") await this.#resized(mode);
    if (queued) await this.#append({ type: "task.status", data: { task_id: this.id, status: "queued" } });
  }

  /** Starts the process, unless the task was cancelled while it waited. A failure is a status, not an exception. */
  async start(): Promise<void> {
    await this.#announced;
    if (this.#finished || this.#process !== null) return;
    if (this.#fault !== null) return this.#failed(this.#fault);
    const launch = { ...this.plan, recorder: this.#around.recorder };
    const listener = {
      onOutput: (stream: OutputStream, bytes: Buffer) => this.#received(stream, bytes),
      onExit: (exit: TaskExit) => void this.#exited(exit),
      onSpawnError: (error: Error) => void this.#failed(error.message),
    };
    this.#startedAt = Date.now();
    try {
      const { mode } = this.plan;
      if (mode.kind === "agent") return this.#adopt(mode.process, listener);
      this.#pty = mode.kind === "pty" ? startPty(launch, listener, mode) : null;
      this.#process = this.#pty ?? startPipes(launch, listener, { stdin: mode.kind === "pipes" && mode.stdin });
    } catch (error) {
      return this.#failed(error instanceof Error ? error.message : String(error));
    }
    if (this.#process.pid === null) return;
    this.#runs();
    if (this.plan.timeout_ms !== null) this.#timeout = setTimeout(() => void this.cancel("timeout"), this.plan.timeout_ms);
  }

  /** It runs already: first that is said, then what was sent to it meanwhile. */
  #adopt(process: AgentProcess, listener: ProcessListener): void {
    this.#process = process;
    this.#runs();
    process.open(listener);
  }

  #runs(): void {
    const started_at = new Date(this.#startedAt).toISOString();
    this.#tell({ type: "task.status", data: { task_id: this.id, status: "running", started_at } });
  }

  /** The bytes are the system's then, or wait for a program that reads slowly. `secret`: that something was typed is reported, not what. */
  write(data: Buffer, { secret = false, actor }: { secret?: boolean; actor?: Actor } = {}): void {
    const process = this.#running();
    this.#mustHaveInput("start it with stdin, or in a terminal");
    if (process.inputBacklog + data.length > this.#around.limits.input_bytes)
      throw new TaskError(
        "stdin_full",
        `Task ${this.id} does not read its input: ${process.inputBacklog} bytes wait for it. Send less, or later.`,
      );
    if (!process.write(data)) throw new TaskError("no_stdin", `Task ${this.id} has closed its standard input.`);
    // The contract has events of input for terminals alone.
    if (this.#pty !== null && data.length > 0)
      this.#tell({
        type: "task.stdin",
        data: { task_id: this.id, chunk_b64: secret ? "" : data.toString("base64"), ...by(actor) },
      });
  }

  /** The program reads the end of its input: with pipes it is closed, in a terminal Ctrl-D is typed. */
  endInput(): void {
    const process = this.#running();
    this.#mustHaveInput("there is nothing to close");
    process.endInput();
  }

  #mustHaveInput(advice: string): void {
    const { mode } = this.plan;
    if (mode.kind === "agent")
      throw new TaskError("no_stdin", `Task ${this.id} is a command of the agent: it has no input that is ours to write to.`);
    if (mode.kind === "pipes" && !mode.stdin)
      throw new TaskError("no_stdin", `Task ${this.id} has no standard input: ${advice}.`);
  }

  async resize(size: TerminalSize, actor?: Actor): Promise<void> {
    if (this.plan.mode.kind !== "pty") throw this.#notATerminal("its size cannot be changed");
    this.#running();
    this.#pty?.resize(size);
    await this.#resized(size, actor);
  }

  signal(name: NodeJS.Signals, actor?: Actor): void {
    const process = this.#running();
    if (this.plan.mode.kind === "agent")
      throw new TaskError("task_of_agent", `Task ${this.id} is a command of the agent, which passes on no signals: cancel it.`);
    if (!process.signal(name)) throw this.#over();
    this.#tell({ type: "task.signalled", data: { task_id: this.id, signal: name, ...by(actor) } });
  }

  /** SIGTERM, SIGKILL after the grace, to all of its processes. Resolves when none is left. Asked again, or after the end, it changes nothing. */
  async cancel(reason: string, actor?: Actor): Promise<TaskState> {
    await this.#announced;
    const { mode } = this.plan;
    if (mode.kind === "agent" && !this.#finished) return this.#cancelOfAgent(mode.process, reason, actor);
    if (this.#finished || this.state.cancel_reason !== null) return this.ended;
    this.#tell({ type: "task.cancel_requested", data: { task_id: this.id, reason, ...by(actor) } });
    if (this.#process === null) await this.#end({ status: "cancelled" });
    else this.#process.stop(this.#around.limits.cancel_grace_ms);
    return this.ended;
  }

  /** The agent stops it. One that refuses leaves it running: it can be asked again. */
  async #cancelOfAgent(process: AgentProcess, reason: string, actor?: Actor): Promise<TaskState> {
    if (!process.canStop)
      throw new TaskError(
        "task_of_agent",
        `Task ${this.id} is a command of the agent, which cannot stop it: ask it in a message.`,
      );
    if (this.state.cancel_reason === null)
      this.#tell({ type: "task.cancel_requested", data: { task_id: this.id, reason, ...by(actor) } });
    await process.askToStop();
    return this.ended;
  }

  read(stream: OutputStream, offset: number, limit: number): Promise<OutputRange> {
    return this.#output.read(stream, offset, limit);
  }

  screen(scrollback?: number): ReturnType<TaskScreen["now"]> {
    if (this.#screen === null) throw this.#notATerminal("it has no screen");
    return this.#screen.now(scrollback);
  }

  /** Called after each change that clients may see: output that is stored, another size, the end. Returns what ends it. */
  follow(listener: () => void): () => void {
    this.#followers.add(listener);
    return () => void this.#followers.delete(listener);
  }

  /** Bytes of a stream that are stored, and may be shown. */
  shown(stream: OutputStream): number {
    return this.#output.shown(stream);
  }

  /** Removes what is kept of the output. */
  async forget(): Promise<void> {
    this.#screen?.dispose();
    await this.#output.remove();
  }

  #received(stream: OutputStream, bytes: Buffer): void {
    if (this.#finished) return;
    this.#observe?.(stream, bytes);
    const stored = this.#output.received(stream, bytes);
    if (stored !== null) this.#pressure.add(bytes.length, stored);
  }

  async #resized({ rows, cols }: TerminalSize, actor?: Actor): Promise<void> {
    this.#sizes.push({ rows, cols, offset: this.#output.told("pty") });
    await this.#append({ type: "task.resized", data: { task_id: this.id, rows, cols, ...by(actor) } });
    this.#changed();
  }

  #changed(): void {
    for (const listener of this.#followers) listener();
  }

  async #exited({ code, signal, stopped }: TaskExit): Promise<void> {
    this.#output.flush();
    if (stopped !== undefined && this.state.cancel_reason === null)
      this.#tell({ type: "task.cancel_requested", data: { task_id: this.id, reason: stopped } });
    const cancelled = this.state.cancel_reason !== null;
    await this.#end({ status: this.#fault !== null ? "failed" : cancelled ? "cancelled" : "exited", exit_code: code, signal });
  }

  async #failed(error: string): Promise<void> {
    this.#fault = error;
    await this.#end({ status: "failed" });
  }

  async #end(outcome: {
    status: "exited" | "cancelled" | "failed";
    exit_code?: number | null;
    signal?: string | null;
  }): Promise<void> {
    if (this.#finished) return;
    this.#finished = true;
    if (this.#timeout !== null) clearTimeout(this.#timeout);
    const reason = this.state.cancel_reason;
    const wall = this.#startedAt === 0 ? 0 : Date.now() - this.#startedAt;
    if (outcome.status === "cancelled" && reason !== null)
      this.#tell({ type: "task.cancelled", data: { task_id: this.id, reason, wall_time_ms: wall } });
    const ended_at = new Date().toISOString();
    const artifacts = await this.#output.end(this.#around.storeOutput);
    const error = this.#fault === null ? {} : { error: this.#fault };
    const data = { task_id: this.id, ...outcome, ended_at, ...error, ...(artifacts.length > 0 ? { artifacts } : {}) };
    await this.#append({ type: "task.status", data });
    this.#settle(this.state);
    this.#changed();
  }

  /** For an event that nobody waits for: null when it is stored already. */
  #tell(event: TaskEvent): Promise<void> | null {
    this.#state = foldTask(this.#state, event);
    try {
      const stored = this.#around.sink.append(event);
      return stored ? stored.catch((error: unknown) => this.#sinkFailed(error)) : null;
    } catch (error) {
      this.#sinkFailed(error);
      return null;
    }
  }

  async #append(event: TaskEvent): Promise<void> {
    await this.#tell(event);
  }

  /** A story that cannot be written down must not go on unseen. */
  #sinkFailed(error: unknown): void {
    if (this.#fault !== null) return;
    this.#fault = `its events could not be stored: ${error instanceof Error ? error.message : String(error)}`;
    this.#process?.stop(this.#around.limits.cancel_grace_ms);
  }

  #running(): TaskProcess {
    if (this.#finished) throw this.#over();
    if (this.#process === null)
      throw new TaskError("task_queued", `Task ${this.id} waits for its turn: ask again when its status is running.`);
    return this.#process;
  }

  #screenSource(): ConstructorParameters<typeof TaskScreen>[0] {
    return {
      sizes: this.#sizes,
      total: () => this.#output.shown("pty"),
      read: (offset, limit) => this.#output.read("pty", offset, limit),
    };
  }

  #over = (): TaskError => new TaskError("task_ended", `Task ${this.id} has ended: start another one.`);

  #notATerminal = (what: string): TaskError =>
    new TaskError("not_a_terminal", `Task ${this.id} runs on pipes, so ${what}: start it with execution_mode "pty".`);
}

const by = (actor: Actor | undefined): { actor?: Actor } => (actor === undefined ? {} : { actor });

const controlsFor = (mode: TaskPlan["mode"]): TaskControl[] => {
  if (mode.kind === "agent") return mode.process.canStop ? ["cancel"] : [];
  return controlsOf(mode.kind, mode.kind === "pipes" && mode.stdin);
};
