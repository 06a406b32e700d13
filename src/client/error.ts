// The one error the client throws: the same code the daemon answered with, so that callers can act on it.
import type { Problem } from "../schema/session.ts";

export type ClientErrorCode =
  | "unreachable"
  | "aborted"
  | "bad_answer"
  | "no_daemon"
  | "no_token"
  | "stream_ended"
  | (string & {});

export class DragomanError extends Error {
  readonly code: ClientErrorCode;
  /** HTTP status; 0 when no answer came. */
  readonly status: number;
  readonly problem: Problem | null;

  constructor(code: ClientErrorCode, message: string, options: ErrorOptions & { status?: number; problem?: Problem } = {}) {
    super(message, options);
    this.name = "DragomanError";
    this.code = code;
    this.status = options.status ?? 0;
    this.problem = options.problem ?? null;
  }
}
