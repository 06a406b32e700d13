/**
 * One child process in its own process group, with three pipes and no shell. Guarantees that nothing of the group is left
 * when it ended, and that nothing it wrote is lost or waited for without bound. It does not read what the child says.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { formatMark, PROCESS_MARK_VARIABLE, type ProcessMark } from "./process-mark.ts";
import { noteOwner } from "./process-owners.ts";
import { descendantsOf, listProcesses, type ProcessRow, readStartTime, signalSame } from "./process-table.ts";
import { SpawnError, toSpawnError } from "./spawn-error.ts";
import { type StderrOutput, StderrTail } from "./stderr-tail.ts";

/** How long a pipe may stay open after the leader exited and its group was killed (a process that left the group can hold it). */
export const PIPE_DRAIN_MS = 500;

export interface ExitInfo {
  code: number | null;
  signal: string | null;
  stderr: StderrOutput;
}

/** Remembers the group outside of this process, so that it can be reaped after a crash. `ProcessRegistry` is one. */
export interface ProcessRecorder {
  /** Asked before each start: what the child and its descendants carry in their environment. */
  newMark(): ProcessMark;
  register(child: { pid: number; startTime: string | null; command: string; mark: ProcessMark }): void;
  release(pid: number): void;
}

export interface SpawnAgentOptions {
  command: string;
  args: readonly string[];
  /** The whole environment of the child; only the mark of a recorded process is added. Default: ours. */
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  recorder?: ProcessRecorder;
  onStdout(chunk: Buffer): void;
  onStderrLine?(line: string): void;
  /** A write met a closed stdin (EPIPE). The child may live on; later writes return false. */
  onStdinError?(error: Error): void;
  /** Once, after the last `onStdout`. Never called when `onSpawnError` is. */
  onExit(exit: ExitInfo): void;
  /** Once, never before `spawnAgent` returned. */
  onSpawnError(error: SpawnError): void;
}

export interface AgentProcess {
  /** Null when the process could not be started. */
  readonly pid: number | null;
  /** See `ProcessRow.startTime`; null if unknown. */
  readonly startTime: string | null;
  /** Bytes accepted by `write` that the child has not read yet. */
  readonly stdinBacklog: number;
  /**
   * Never throws. False: the child reads slower than we write (or not at all any more); the data is queued unless stdin is closed.
   * Wait for `drained()` before writing much more, and keep stdout flowing while waiting: a child that is stuck
   * writing does not read.
   */
  write(data: string | Buffer): boolean;
  /** Resolves when the child has read enough to go on writing, or will never read again. */
  drained(): Promise<void>;
  endStdin(): void;
  /** Stops reading, so the child blocks when its pipe is full. Ends by itself at exit: the little that is left is delivered. */
  pauseStdout(): void;
  resumeStdout(): void;
  /**
   * SIGTERM to the group, SIGKILL after the grace. Descendants that left the group are killed too, once the leader is gone.
   * Resolves with what `onExit` is told; may be called again at any time.
   */
  stop(graceMs: number): Promise<ExitInfo>;
  /** To the whole group. False when there was nobody left to signal. */
  kill(signal: NodeJS.Signals): boolean;
  stderr(): StderrOutput;
}

export function spawnAgent(options: SpawnAgentOptions): AgentProcess {
  return new SpawnedAgent(options);
}

class SpawnedAgent implements AgentProcess {
  readonly pid: number | null;
  readonly startTime: string | null;
  readonly #options: SpawnAgentOptions;
  readonly #mark: ProcessMark | null;
  readonly #child: ChildProcess | null;
  readonly #stderr: StderrTail;
  readonly #ended: Promise<ExitInfo>;
  #resolveEnded: (exit: ExitInfo) => void = () => {};
  #state: "running" | "exited" | "ended" = "running";
  #exit: { code: number | null; signal: string | null } = { code: null, signal: null };
  readonly #timers = new Set<NodeJS.Timeout>();
  #drainWaiters: (() => void)[] = [];
  /** Our caller wants no stdout for now. */
  #held = false;
  #strays: ProcessRow[] = [];

  constructor(options: SpawnAgentOptions) {
    this.#options = options;
    this.#stderr = new StderrTail(options.onStderrLine);
    this.#ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.#mark = options.recorder?.newMark() ?? null;
    this.#child = this.#spawn();
    this.pid = this.#child?.pid ?? null;
    this.startTime = this.pid === null ? null : readStartTime(this.pid);
    if (this.#child !== null) this.#listen(this.#child);
    if (this.pid !== null) this.#record(this.pid);
  }

  get stdinBacklog(): number {
    return this.#child?.stdin?.writableLength ?? 0;
  }

  write(data: string | Buffer): boolean {
    const stdin = this.#child?.stdin;
    if (this.pid === null || !stdin?.writable || this.#state !== "running") return false;
    return stdin.write(data);
  }

  drained(): Promise<void> {
    const stdin = this.#child?.stdin;
    if (!stdin?.writable || !stdin.writableNeedDrain || this.#state !== "running") return Promise.resolve();
    return new Promise((resolve) => this.#drainWaiters.push(resolve));
  }

  endStdin(): void {
    if (this.#child?.stdin?.writable) this.#child.stdin.end();
  }

  pauseStdout(): void {
    if (this.#state !== "running") return;
    this.#held = true;
    this.#child?.stdout?.pause();
  }

  resumeStdout(): void {
    this.#held = false;
    this.#child?.stdout?.resume();
  }

  /**
   * One read a turn of the event loop. Left alone, libuv reads a flooding child up to 32 times on end: tens of milliseconds in which no socket is
   * written, no timer runs and no other agent is heard.
   */
  #breathe(): void {
    if (this.#held || this.#state !== "running") return;
    this.#child?.stdout?.pause();
    setImmediate(() => {
      if (!this.#held) this.#child?.stdout?.resume();
    });
  }

  stop(graceMs: number): Promise<ExitInfo> {
    if (this.#state !== "running") return this.#ended;
    this.#findStrays();
    this.kill("SIGTERM");
    this.#after(graceMs, () => {
      this.#findStrays();
      this.kill("SIGKILL");
    });
    return this.#ended;
  }

  kill(signal: NodeJS.Signals): boolean {
    // Once the leader is gone and the group was killed, the number may belong to somebody else.
    if (this.pid === null || this.#state !== "running") return false;
    return signalGroup(this.pid, signal);
  }

  stderr(): StderrOutput {
    return this.#stderr.output();
  }

  #spawn(): ChildProcess | null {
    const { command, args, env, cwd } = this.#options;
    const mark = this.#mark === null ? {} : { [PROCESS_MARK_VARIABLE]: formatMark(this.#mark) };
    try {
      return spawn(command, [...args], {
        detached: true,
        shell: false,
        stdio: ["pipe", "pipe", "pipe"],
        env: { ...(env ?? process.env), ...mark },
        ...(cwd === undefined ? {} : { cwd }),
      });
    } catch (error) {
      // Node throws instead of emitting for some causes (an argument list that is too long, a NUL byte).
      queueMicrotask(() => this.#spawnFailed(toSpawnError(command, cwd, error)));
      return null;
    }
  }

  #listen(child: ChildProcess): void {
    child.on("error", (error) => {
      if (this.pid === null) this.#spawnFailed(toSpawnError(this.#options.command, this.#options.cwd, error));
    });
    child.stdout?.on("data", (chunk: Buffer) => {
      if (this.#state === "ended") return;
      this.#options.onStdout(chunk);
      this.#breathe();
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      if (this.#state !== "ended") this.#stderr.push(chunk);
    });
    child.stdout?.on("error", () => {});
    child.stderr?.on("error", () => {});
    child.stdin?.on("error", (error) => {
      if (this.pid !== null && this.#state !== "ended") this.#options.onStdinError?.(error);
    });
    child.stdin?.on("drain", () => this.#releaseWriters());
    child.stdin?.on("close", () => this.#releaseWriters());
    child.once("exit", (code, signal) => this.#leaderExited(code, signal));
    child.once("close", () => this.#end());
  }

  #record(pid: number): void {
    const { recorder, command, env } = this.#options;
    if (this.#mark !== null) noteOwner({ pid, startTime: this.startTime, mark: this.#mark }, env ?? process.env);
    try {
      if (this.#mark !== null) recorder?.register({ pid, startTime: this.startTime, command, mark: this.#mark });
    } catch (error) {
      // Unrecorded, it would outlive a crash of ours: better not to have it at all.
      signalGroup(pid, "SIGKILL");
      const detail = error instanceof Error ? error.message : String(error);
      const message = `${command} was not started because its process could not be recorded (${detail}): check the data directory.`;
      queueMicrotask(() => this.#spawnFailed(new SpawnError("spawn_failed", command, message, error)));
    }
  }

  #spawnFailed(error: SpawnError): void {
    if (this.#state === "ended") return;
    this.#state = "ended";
    this.#resolveEnded({ ...this.#exit, stderr: this.#stderr.output() });
    this.#releaseWriters();
    this.#options.onSpawnError(error);
  }

  #leaderExited(code: number | null, signal: string | null): void {
    if (this.#state !== "running" || this.pid === null) return;
    // Grandchildren must not survive. The number is still theirs: a pid is not given out while a group bears it.
    signalGroup(this.pid, "SIGKILL");
    for (const stray of this.#strays) signalSame(stray, "SIGKILL");
    this.#state = "exited";
    this.#exit = { code, signal };
    this.#clearTimers();
    this.#releaseWriters();
    this.resumeStdout();
    // After a blocked event loop timers run before pending reads: two turns let those reads happen first.
    this.#after(PIPE_DRAIN_MS, () => setImmediate(() => setImmediate(() => this.#end())));
  }

  /** Agents start shells in sessions of their own, which no group signal reaches. They are known by descent while their parents live. */
  #findStrays(): void {
    const { pid } = this;
    if (pid === null) return;
    this.#strays.push(...descendantsOf([pid], listProcesses()).filter((row) => row.pgid !== pid));
  }

  #end(): void {
    if (this.#state !== "exited") return;
    this.#state = "ended";
    this.#clearTimers();
    for (const pipe of [this.#child?.stdin, this.#child?.stdout, this.#child?.stderr]) pipe?.destroy();
    this.#stderr.end();
    if (this.pid !== null) this.#options.recorder?.release(this.pid);
    const exit: ExitInfo = { ...this.#exit, stderr: this.#stderr.output() };
    this.#resolveEnded(exit);
    this.#options.onExit(exit);
  }

  #releaseWriters(): void {
    const waiters = this.#drainWaiters;
    this.#drainWaiters = [];
    for (const resolve of waiters) resolve();
  }

  #after(ms: number, then: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      then();
    }, ms);
    this.#timers.add(timer);
  }

  #clearTimers(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}

/** False when the group has no member (or none that we may signal). */
export function signalGroup(pgid: number, signal: NodeJS.Signals): boolean {
  // A group id of 0 or 1 would be our own group, or every process there is.
  if (!Number.isSafeInteger(pgid) || pgid <= 1) return false;
  try {
    process.kill(-pgid, signal);
    return true;
  } catch {
    return false;
  }
}
