/**
 * Runs shell commands as process groups of their own. A command ends when its shell exits, not when the last process closes the pipe: something in the background
 * may hold it for hours. Commands that outlive their call stay here as tasks.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import { StringDecoder } from "node:string_decoder";
import type { Ids, RunningTask, TaskExit, TaskOutput, TaskSpec, TaskStarter, TaskWatcher } from "./ports.ts";
import { headAndTail } from "./tools/output-limit.ts";

const STOP_GRACE_MS = 2_000;
/** After the shell's exit: what is in the pipe is read, what a background process writes later is not waited for. */
const DRAIN_MS = 100;
const MAX_KEPT_BYTES = 16 * 1024 * 1024;
const CHUNK_CHARS = 8 * 1024;
const MAX_TASKS = 64;

/** Puts a command into a sandbox, or leaves it as it is. */
export type WrapCommand = (argv: readonly string[], cwd: string) => Promise<readonly string[]>;

export interface ShellTasksOptions {
  readonly ids: Ids;
  /** The sandbox, for every command that a person has not let out of it. */
  readonly wrap?: WrapCommand;
  readonly environment?: NodeJS.ProcessEnv;
  readonly shell?: string;
  /** Asked before each start: remembers the process outside of ours, so that a crash leaves no orphan. */
  readonly track?: () => TrackedProcess;
  readonly watch?: TaskWatcher;
}

/** A process that is remembered until it has ended. */
export interface TrackedProcess {
  /** What it carries in its environment. */
  readonly environment: Readonly<Record<string, string>>;
  started(pid: number, command: string): void;
  ended(): void;
}

export class ShellTasks implements TaskStarter {
  readonly #options: ShellTasksOptions;
  readonly #tasks = new Map<string, ShellTask>();

  constructor(options: ShellTasksOptions) {
    this.#options = options;
  }

  async start(spec: TaskSpec): Promise<RunningTask> {
    const running = [...this.#tasks.values()].filter((task) => task.running);
    if (running.length >= MAX_TASKS) throw new Error(`${MAX_TASKS} commands are running: stop one first.`);
    const argv = [this.#options.shell ?? "bash", "-c", spec.command];
    const { wrap } = this.#options;
    const wrapped = wrap === undefined || spec.unsandboxed ? argv : await wrap(argv, spec.cwd);
    const tracked = this.#options.track?.();
    const environment = this.#options.environment ?? shellEnvironment(process.env);
    const env = { ...environment, ...tracked?.environment };
    const task = new ShellTask(this.#options.ids.next("task"), spec, wrapped, env, this.#options.watch ?? null);
    if (tracked !== undefined && task.pid !== undefined) {
      tracked.started(task.pid, wrapped[0] ?? "bash");
      void task.ended.then(() => tracked.ended());
    }
    this.#tasks.set(task.id, task);
    await task.spawned;
    return task;
  }

  get(id: string): RunningTask | undefined {
    return this.#tasks.get(id);
  }

  list() {
    return [...this.#tasks.values()].map(({ id, title, running }) => ({ id, title, running }));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#tasks.values()].map((task) => task.close()));
    this.#tasks.clear();
  }
}

type Stream = "stdout" | "stderr";

class ShellTask implements RunningTask {
  readonly id: string;
  readonly title: string;
  readonly ended: Promise<TaskExit>;
  /** Rejects when the program cannot be started. */
  readonly spawned: Promise<void>;
  running = true;
  readonly #child: ChildProcess;
  readonly #spec: TaskSpec;
  readonly #watcher: TaskWatcher | null;
  readonly #chunks: { readonly stream: Stream; readonly bytes: Buffer }[] = [];
  #outlived = false;
  #stopped = false;
  #kept = 0;
  #bytes = 0;
  /** The end of an output that is too long to be kept. */
  #tail = Buffer.alloc(0);
  #pipesOpen = 2;
  #waiters = new Set<() => void>();

  constructor(id: string, spec: TaskSpec, argv: readonly string[], env: NodeJS.ProcessEnv, watcher: TaskWatcher | null) {
    this.id = id;
    this.#watcher = watcher;
    this.title = spec.title;
    this.#spec = spec;
    const [program = "bash", ...args] = argv;
    this.#child = spawn(program, args, { cwd: spec.cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    const child = this.#child;
    this.spawned = new Promise((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
    this.#listen("stdout");
    this.#listen("stderr");
    this.ended = new Promise((resolve) => {
      const exited = (code: number | null, signal: string | null): void =>
        void this.#drain().then(() => resolve({ code, signal }));
      child.once("exit", exited);
      child.once("error", () => exited(null, null));
    });
    void this.ended.then(() => {
      this.running = false;
      this.#wake();
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  output(): TaskOutput {
    const whole = Buffer.concat([...this.#chunks.map(({ bytes }) => bytes), this.#tail]);
    return { text: headAndTail(whole.toString("utf8")).text, bytes: this.#bytes, whole };
  }

  waitForOutput(afterBytes: number, waitMs: number, signal?: AbortSignal): Promise<void> {
    if (this.#bytes > afterBytes || !this.running || signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#waiters.delete(done);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, waitMs);
      this.#waiters.add(done);
      signal?.addEventListener("abort", done, { once: true });
    });
  }

  signal(name: NodeJS.Signals): boolean {
    // The group's number is still its own while the shell runs or one of its processes holds a pipe of ours.
    const { pid } = this.#child;
    if (pid === undefined || pid <= 1 || (!this.running && this.#pipesOpen === 0)) return false;
    try {
      process.kill(-pid, name);
      return true;
    } catch {
      return false;
    }
  }

  outlive(): void {
    const watcher = this.#watcher;
    if (watcher === null || this.#outlived || !this.running) return;
    this.#outlived = true;
    const { id } = this;
    const { command, cwd, title } = this.#spec;
    watcher.started({ id, command, cwd, title });
    // What these decoders keep of a cut character, the ones that read the pipes have kept too.
    const decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
    for (const { stream, bytes } of this.#chunks) this.#toWatcher(stream, decoders[stream].write(bytes));
    void this.ended.then(({ code, signal }) =>
      watcher.ended(id, { exit_code: code ?? 128 + signalNumber(signal), stopped: this.#stopped }),
    );
  }

  async stop(graceMs = STOP_GRACE_MS): Promise<TaskExit> {
    if (this.running) this.#stopped = true;
    this.signal("SIGTERM");
    const timer = setTimeout(() => this.signal("SIGKILL"), graceMs);
    const exit = await this.ended;
    clearTimeout(timer);
    this.signal("SIGKILL");
    return exit;
  }

  async close(): Promise<void> {
    if (this.running) await this.stop(500);
    else this.signal("SIGKILL");
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
  }

  #listen(name: Stream): void {
    const pipe = this.#child[name];
    const decoder = new StringDecoder("utf8");
    pipe?.on("data", (chunk: Buffer) => {
      if (!this.running) return;
      this.#keep(name, chunk);
      this.#tell(name, decoder.write(chunk));
    });
    pipe?.on("error", () => {});
    pipe?.once("close", () => {
      this.#pipesOpen -= 1;
      this.#tell(name, decoder.end());
      this.#wake();
    });
  }

  /** In pieces that fit a frame, never inside a character. */
  #tell(name: Stream, text: string): void {
    if (!this.running) return;
    if (this.#outlived) this.#toWatcher(name, text);
    for (let at = 0; at < text.length; ) {
      let end = Math.min(text.length, at + CHUNK_CHARS);
      if (end < text.length && /[\ud800-\udbff]/.test(text[end - 1] as string)) end -= 1;
      this.#listener(name, text.slice(at, end));
      at = end;
    }
  }

  /** A listener that fails (a full disk) must not end the daemon from inside a pipe's event; its next own step fails, too. */
  #listener(name: Stream, text: string): void {
    try {
      this.#spec.onOutput?.(name, text);
    } catch {
      this.signal("SIGTERM");
    }
  }

  #toWatcher(stream: Stream, text: string): void {
    if (text !== "") this.#watcher?.output(this.id, stream, text);
  }

  #keep(stream: Stream, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#kept + chunk.length <= MAX_KEPT_BYTES) {
      this.#chunks.push({ stream, bytes: chunk });
      this.#kept += chunk.length;
    } else this.#tail = Buffer.concat([this.#tail, chunk]).subarray(-64 * 1024);
    this.#wake();
  }

  #wake(): void {
    for (const waiter of [...this.#waiters]) waiter();
  }

  /** Until both pipes are closed, or a moment has passed without them. */
  async #drain(): Promise<void> {
    const deadline = Date.now() + DRAIN_MS;
    while (this.#pipesOpen > 0 && Date.now() < deadline) await this.#pause(deadline - Date.now());
    // Under load timers come before reads: let those happen first.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    for (const pipe of [this.#child.stdout, this.#child.stderr]) if (pipe && "unref" in pipe) (pipe as { unref(): void }).unref();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#waiters.delete(done);
        resolve();
      };
      const timer = setTimeout(done, Math.max(1, ms));
      this.#waiters.add(done);
    });
  }
}

const signalNumber = (name: string | null): number =>
  name !== null && Object.hasOwn(constants.signals, name) ? constants.signals[name as NodeJS.Signals] : 0;

/** What commands get to see: no keys of the daemon, no pagers, no prompts. */
export function shellEnvironment(from: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const secret = /(^|_)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)($|_)|^DRAGOMAN_/i;
  const kept = Object.fromEntries(Object.entries(from).filter(([name]) => !secret.test(name)));
  return { ...kept, TERM: "dumb", PAGER: "cat", GIT_PAGER: "cat", GIT_TERMINAL_PROMPT: "0", NO_COLOR: "1" };
}
