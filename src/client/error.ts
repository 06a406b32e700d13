/** The one error the client throws: the same code the daemon answered with, so that callers can act on it. */
import type { ProblemCode } from "../schema/problem-codes.ts";
import type { Problem } from "../schema/session.ts";

/** What the client finds out by itself. */
export type ClientErrorCode =
  | "unreachable"
  | "aborted"
  | "bad_answer"
  | "no_daemon"
  | "no_token"
  | "stream_ended"
  | "message_removed";

/** Everything `code` can be. A daemon that is newer than the client may know more: keep a default branch. */
export type DragomanErrorCode = ClientErrorCode | ProblemCode;

export class DragomanError extends Error {
  readonly code: DragomanErrorCode;
  /** HTTP status; 0 when no answer came. */
  readonly status: number;
  readonly problem: Problem | null;

  constructor(code: DragomanErrorCode, message: string, options: ErrorOptions & { status?: number; problem?: Problem } = {}) {
    super(message, options);
    this.name = "DragomanError";
    this.code = code;
    this.status = options.status ?? 0;
    this.problem = options.problem ?? null;
  }
}
