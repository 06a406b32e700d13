/** What the process of a task is to its task, whether it runs on pipes or in a pseudo-terminal. `pipes.ts` and `pty.ts` make one. */
import type { ProcessRecorder } from "../../transports/index.ts";

export type OutputStream = "stdout" | "stderr" | "pty";

/** `stopped`: why somebody else than this daemon ended it. */
export type TaskExit = { code: number | null; signal: string | null; stopped?: string };

/** What to start. Everything in it was checked. */
export type Launch = {
  argv: readonly [string, ...string[]];
  cwd: string;
  env: Record<string, string>;
  recorder: ProcessRecorder;
};

export type ProcessListener = {
  onOutput(stream: OutputStream, bytes: Buffer): void;
  /** Once, after the last output, when no process of the task is left. Never when `onSpawnError` is called. */
  onExit(exit: TaskExit): void;
  /** Once: it was not started, and this is why. */
  onSpawnError(error: Error): void;
};

export interface TaskProcess {
  /** Null when it could not be started. */
  readonly pid: number | null;
  /** Bytes for its input that it has not read yet. */
  readonly inputBacklog: number;
  /** False when it reads no input any more. */
  write(data: Buffer): boolean;
  /** It reads the end of its input after what was written. */
  endInput(): void;
  /** Stops reading its output; it blocks when the system's buffer is full. */
  pause(): void;
  resume(): void;
  /** False when nobody was there to be signalled. */
  signal(name: NodeJS.Signals): boolean;
  /** SIGTERM to all of its family, SIGKILL after the grace. `onExit` follows. */
  stop(graceMs: number): void;
}
