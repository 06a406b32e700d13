/** Why a task was not started, or did not do what was asked. Not for a task that ran and failed: that is its status. */

export type TaskErrorCode =
  /** The request does not fit the schema. */
  | "invalid_request"
  | "task_not_found"
  /** The task has ended: nothing can be sent to it any more. */
  | "task_ended"
  /** The task still waits for its turn: there is no process yet. */
  | "task_queued"
  /** The task was started without a standard input, or has closed it. */
  | "no_stdin"
  /** The program does not read what was sent before. */
  | "stdin_full"
  /** Only a task in a pseudo-terminal has a size and a screen. */
  | "not_a_terminal"
  | "unknown_signal"
  /** The process is the agent's own: it takes nothing from us, or cannot be stopped. */
  | "task_of_agent"
  | "cwd_outside"
  | "cwd_not_found"
  | "program_not_found"
  | "quota_reached"
  /** The optional package for pseudo-terminals is not installed, or has no binary for this system. */
  | "pty_unavailable"
  /** The optional packages that compute a screen are not installed. */
  | "screen_unavailable"
  /** The manager was closed: the daemon is stopping. */
  | "closing";

/** The message says what to do next. */
export class TaskError extends Error {
  readonly code: TaskErrorCode;

  constructor(code: TaskErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "TaskError";
    this.code = code;
  }
}
