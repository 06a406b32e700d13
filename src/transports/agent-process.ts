/** What a child process of ours is to those who use it: how it is asked for, how it is spoken to, and what records it. `child-process.ts` makes one. */
import type { KnownProcess } from "./process-family.ts";
import type { ProcessMark } from "./process-mark.ts";
import type { SpawnError } from "./spawn-error.ts";
import type { StderrOutput } from "./stderr-tail.ts";

export interface ExitInfo {
  code: number | null;
  signal: string | null;
  stderr: StderrOutput;
}

/** Remembers the group outside of this process, so that it can be reaped after a crash. `ProcessRegistry` is one. */
export interface ProcessRecorder {
  /** Asked before each start: what the child and its descendants carry in their environment. */
  newMark(): ProcessMark;
  /** The path of a control group for a child that enters it by itself; null where there are none. */
  prepareGroup?(mark: ProcessMark): string | null;
  register(child: { pid: number; startTime: string | null; command: string; mark: ProcessMark }): {
    /** The control group it was put into, if any. */
    cgroup: string | null;
  };
  /** The descendants that live now. */
  noteMembers(pid: number, members: readonly KnownProcess[]): void;
  release(pid: number): void;
}

export interface SpawnAgentOptions {
  command: string;
  args: readonly string[];
  /** The whole environment of the child; only the mark of a recorded process is added. Default: ours. */
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  recorder?: ProcessRecorder;
  /** The program exists, and may start others at once: where there are control groups, it is in its own before it begins. */
  entersGroup?: boolean;
  onStdout(chunk: Buffer): void;
  /** It has closed its stdout, and lives. */
  onStdoutEnd?(): void;
  onStderrLine?(line: string): void;
  /** All bytes of stderr as they come, for a caller to whom `stderr()` is too little. Like `onStdout`, it is stopped by `pauseStdout`. */
  onStderr?(chunk: Buffer): void;
  /** A write met a closed stdin (EPIPE). The child may live on; later writes return false. */
  onStdinError?(error: Error): void;
  /** Once, after the last `onStdout` and `onStderr`. Never called when `onSpawnError` is. */
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
   * SIGTERM to the group and to the descendants that left it, SIGKILL after the grace. Resolves when none of them is left, with what `onExit` gets;
   * may be called again at any time.
   */
  stop(graceMs: number): Promise<ExitInfo>;
  /**
   * Ends what left the group (commands in sessions of their own) and leaves the process itself alone. With `directory` only what works there or below. Resolves
   * when they are gone.
   */
  endDescendants(options?: { directory?: string }): Promise<void>;
  /** To the whole group. False when there was nobody left to signal. */
  kill(signal: NodeJS.Signals): boolean;
  stderr(): StderrOutput;
}
