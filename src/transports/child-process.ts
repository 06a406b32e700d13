/**
 * One child process in its own process group, with three pipes and no shell. Guarantees that neither the group nor any other descendant is left when it
 * ended, and that nothing it wrote is lost or waited for without bound. It does not read what the child says.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { AgentProcess, ExitInfo, SpawnAgentOptions } from "./agent-process.ts";
import { startedInCgroup } from "./cgroup.ts";
import { endFamily, type KnownProcess, ProcessFamily, Snapshot } from "./process-family.ts";
import { formatMark, PROCESS_MARK_VARIABLE, type ProcessMark } from "./process-mark.ts";
import { noteOwner } from "./process-owners.ts";
import { readStartTime, signalSame, worksIn } from "./process-table.ts";
import { noteActivity, unwatchFamily, type Watched, watchFamily } from "./process-watch.ts";
import { processorShares } from "./processor-share.ts";
import { SpawnError, toSpawnError } from "./spawn-error.ts";
import { type StderrOutput, StderrTail } from "./stderr-tail.ts";
import { childStdio } from "./withheld-descriptors.ts";

/** How long a pipe may stay open after the leader exited and its group was killed (a process that left the group can hold it). */
export const PIPE_DRAIN_MS = 500;
/** Between SIGTERM and SIGKILL for descendants that left the group. */
const STRAY_GRACE_MS = 500;

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
  #family: Watched | null = null;
  /** Resolves when no descendant is left; true unless some could not be ended. */
  #familyEnded: Promise<boolean> = Promise.resolve(true);
  #ending = false;

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
    if (this.#state !== "running") return;
    running.add(this);
    if (this.pid !== null) processorShares.add(this.pid);
  }

  get stdinBacklog(): number {
    return this.#child?.stdin?.writableLength ?? 0;
  }

  write(data: string | Buffer): boolean {
    const stdin = this.#child?.stdin;
    if (this.pid === null || !stdin?.writable || this.#state !== "running") return false;
    this.#active();
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
    this.#child?.stderr?.pause();
  }

  resumeStdout(): void {
    this.#held = false;
    this.#child?.stdout?.resume();
    this.#child?.stderr?.resume();
  }

  /**
   * One read a turn of the event loop. Left alone, libuv reads a flooding child up to 32 times on end: tens of milliseconds in which no socket is
   * written, no timer runs and no other agent is heard.
   */
  #breathe(stream: "stdout" | "stderr"): void {
    if (this.#held || this.#state !== "running") return;
    this.#child?.[stream]?.pause();
    setImmediate(() => {
      if (!this.#held) this.#child?.[stream]?.resume();
    });
  }

  stop(graceMs: number): Promise<ExitInfo> {
    if (this.#state !== "running") return this.#ended;
    this.#signalStrays("SIGTERM");
    this.kill("SIGTERM");
    this.#after(graceMs, () => {
      this.#signalStrays("SIGTERM");
      this.kill("SIGKILL");
    });
    return this.#ended;
  }

  async endDescendants({ directory }: { directory?: string } = {}): Promise<void> {
    if (this.#family === null || this.#state !== "running") return;
    const only = ({ pid, pgid }: { pid: number; pgid: number }): boolean =>
      pgid !== this.pid && (directory === undefined || worksIn(pid, directory));
    await endFamily(this.#family.family, { graceMs: STRAY_GRACE_MS, only });
  }

  /** For the last moment of a dying daemon: there is no time for manners. */
  killNow(): void {
    this.#signalStrays("SIGKILL");
    this.kill("SIGKILL");
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
    const { env, cwd } = this.#options;
    const [command, args] = this.#program();
    const mark = this.#mark === null ? {} : { [PROCESS_MARK_VARIABLE]: formatMark(this.#mark) };
    try {
      return spawn(command, args, {
        detached: true,
        shell: false,
        stdio: childStdio(["pipe", "pipe", "pipe"]),
        env: { ...(env ?? process.env), ...mark },
        ...(cwd === undefined ? {} : { cwd }),
      });
    } catch (error) {
      // Node throws instead of emitting for some causes (an argument list that is too long, a NUL byte).
      queueMicrotask(() => this.#spawnFailed(toSpawnError(command, cwd, error)));
      return null;
    }
  }

  #program(): [string, string[]] {
    const { command, args, recorder, entersGroup = false } = this.#options;
    const group = entersGroup && this.#mark !== null ? (recorder?.prepareGroup?.(this.#mark) ?? null) : null;
    return group === null ? [command, [...args]] : startedInCgroup(group, command, args);
  }

  #listen(child: ChildProcess): void {
    child.on("error", (error) => {
      if (this.pid === null) this.#spawnFailed(toSpawnError(this.#options.command, this.#options.cwd, error));
    });
    child.stdout?.on("data", (chunk: Buffer) => {
      if (this.#state === "ended") return;
      this.#active();
      this.#options.onStdout(chunk);
      this.#breathe("stdout");
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      if (this.#state === "ended") return;
      this.#stderr.push(chunk);
      if (this.#options.onStderr === undefined) return;
      this.#options.onStderr(chunk);
      this.#breathe("stderr");
    });
    child.stdout?.on("end", () => {
      if (this.#state === "running") this.#options.onStdoutEnd?.();
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
    if (this.#mark !== null) noteOwner({ pid, startTime: this.startTime, mark: this.#mark }, env ?? process.env, this.#members);
    try {
      const cgroup =
        this.#mark === null
          ? undefined
          : recorder?.register({ pid, startTime: this.startTime, command, mark: this.#mark }).cgroup;
      this.#watch(pid, cgroup ?? null);
    } catch (error) {
      // Unrecorded, it would outlive a crash of ours: better not to have it at all.
      signalGroup(pid, "SIGKILL");
      const detail = error instanceof Error ? error.message : String(error);
      const message = `${command} was not started because its process could not be recorded (${detail}): check the data directory.`;
      queueMicrotask(() => this.#spawnFailed(new SpawnError("spawn_failed", command, message, error)));
    }
  }

  /** Without a start time a process cannot be distinguished from a stranger: then only its group is known. */
  #watch(pid: number, cgroup: string | null): void {
    if (this.startTime === null) return;
    const family = new ProcessFamily({ leader: { pid, startTime: this.startTime }, record: this.#mark?.record ?? null, cgroup });
    this.#family = { family, onGrowth: () => this.#noteMembers() };
    watchFamily(this.#family);
  }

  #active(): void {
    if (this.#family !== null) noteActivity(this.#family);
  }

  /** Descendants that were seen, also those that have left since. */
  readonly #members = (): readonly KnownProcess[] => this.#family?.family.members ?? [];

  #noteMembers(): void {
    if (this.#family === null || this.pid === null) return;
    this.#options.recorder?.noteMembers(this.pid, this.#family.family.members);
  }

  #spawnFailed(error: SpawnError): void {
    if (this.#state === "ended") return;
    this.#state = "ended";
    running.delete(this);
    if (this.pid !== null) processorShares.remove(this.pid);
    this.#resolveEnded({ ...this.#exit, stderr: this.#stderr.output() });
    this.#releaseWriters();
    this.#options.onSpawnError(error);
  }

  #leaderExited(code: number | null, signal: string | null): void {
    if (this.#state !== "running" || this.pid === null) return;
    processorShares.remove(this.pid);
    // Grandchildren must not survive. The number is still theirs: a pid is not given out while a group bears it.
    signalGroup(this.pid, "SIGKILL");
    this.#familyEnded = this.#endFamily();
    this.#state = "exited";
    this.#exit = { code, signal };
    this.#clearTimers();
    this.#releaseWriters();
    this.resumeStdout();
    // After a blocked event loop timers run before pending reads: two turns let those reads happen first.
    this.#after(PIPE_DRAIN_MS, () => setImmediate(() => setImmediate(() => this.#end())));
  }

  async #endFamily(): Promise<boolean> {
    if (this.#family === null) return true;
    unwatchFamily(this.#family);
    return (await endFamily(this.#family.family, { graceMs: STRAY_GRACE_MS })).length === 0;
  }

  /** Agents start shells in sessions of their own, which no group signal reaches. Who is found is recorded: its parent may be gone the next moment. */
  #signalStrays(signal: NodeJS.Signals): void {
    if (this.#family === null) return;
    try {
      const { live, grew } = this.#family.family.look(new Snapshot(), true);
      if (grew) this.#noteMembers();
      for (const row of live) if (row.pgid !== this.pid) signalSame(row, signal);
    } catch {
      // No descriptor is left to look with: they are ended after the leader.
    }
  }

  #end(): void {
    if (this.#state !== "exited" || this.#ending) return;
    this.#ending = true;
    void this.#familyEnded.then((all) => this.#finish(all));
  }

  #finish(allEnded: boolean): void {
    this.#state = "ended";
    running.delete(this);
    this.#clearTimers();
    for (const pipe of [this.#child?.stdin, this.#child?.stdout, this.#child?.stderr]) pipe?.destroy();
    this.#stderr.end();
    // The record of what could not be ended stays, so that the next start tries again.
    if (this.pid !== null && allEnded) this.#options.recorder?.release(this.pid);
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

const running = new Set<SpawnedAgent>();

process.on("exit", () => {
  for (const agent of running) agent.killNow();
});

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
