/** What tasks may use. All of it can be set by whoever makes the manager. */

export type TaskLimits = {
  /** Tasks with a process at one time; further ones wait. */
  running: number;
  /** Tasks of one session that run or wait. */
  per_session: number;
  /** Tasks that may wait; further ones are refused. */
  queued: number;
  /** Ended tasks that are remembered, with their output; the oldest are forgotten. */
  ended: number;
  /** Newest output kept in memory, for each stream. */
  memory_bytes: number;
  /** First output kept in a file, for each stream. */
  file_bytes: number;
  /** Output of a task that is written as events, up to the chunk that passes it; what comes after can only be read by range. */
  event_bytes: number;
  /** Bytes for a program's input that it has not read. */
  input_bytes: number;
  /** Between SIGTERM and SIGKILL. */
  cancel_grace_ms: number;
};

const MIB = 1024 * 1024;

export const DEFAULT_LIMITS: TaskLimits = {
  running: 256,
  per_session: 128,
  queued: 256,
  ended: 256,
  memory_bytes: 256 * 1024,
  file_bytes: 64 * MIB,
  event_bytes: 16 * MIB,
  input_bytes: MIB,
  cancel_grace_ms: 2_000,
};
