// Every error a client can meet, as RFC 9457. What is not known becomes `internal`, and its text stays in the daemon's log.
import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { AgentError } from "../agents/contract.ts";
import { LogError } from "../log/log-error.ts";
import { type ProblemCode, ProblemError, problemCodes } from "../schema/problem-codes.ts";
import type { Problem } from "../schema/session.ts";
import { FilesError, type FilesErrorCode } from "../workspace/files/errors.ts";
import { TaskError, type TaskErrorCode } from "../workspace/tasks/task-error.ts";
import { RetryLaterError } from "./auth.ts";
import { securityHeaders } from "./security-headers.ts";

export const PROBLEM_MEDIA = "application/problem+json";

/** Where the docs page explains a code. */
export const problemUri = (code: ProblemCode): string => `/docs/api#problem-${code}`;

export function problemOf(error: ProblemError): Problem {
  const { status, title } = problemCodes[error.code];
  return {
    type: problemUri(error.code),
    title,
    status,
    detail: error.message,
    code: error.code,
    ...(error.errors === undefined ? {} : { errors: error.errors }),
  };
}

/** Fastify's own refusals, by their code. */
const frameworkCodes: Readonly<Record<string, ProblemCode>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: "invalid_json",
  FST_ERR_CTP_EMPTY_JSON_BODY: "invalid_json",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "invalid_json",
  FST_ERR_CTP_BODY_TOO_LARGE: "body_too_large",
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "unsupported_media_type",
  FST_ERR_BAD_URL: "not_found",
  FST_ERR_ROUTE_MAX_PARAM_LENGTH: "not_found",
  FST_ERR_NOT_FOUND: "not_found",
};

const logCodes: Partial<Record<LogError["code"], ProblemCode>> = {
  disk_full: "disk_full",
  write_failed: "not_ready",
  data_dir_unreadable: "not_ready",
  fenced: "not_ready",
  log_closed: "not_ready",
  database_newer: "not_ready",
  corrupt_chunk: "data_damaged",
  corrupt_artifact: "data_damaged",
  database_corrupt: "data_damaged",
  log_changed: "log_changed",
  cursor_too_large: "cursor_too_large",
  invalid_cursor: "invalid_request",
  stream_exists: "session_exists",
  stream_deleted: "session_not_found",
  invalid_artifact_id: "artifact_not_found",
};

/** What the log says itself is clearer than the code's own sentence. */
const toldByLog: ReadonlySet<LogError["code"]> = new Set([
  "fenced",
  "database_newer",
  "data_dir_unreadable",
  "corrupt_chunk",
  "corrupt_artifact",
  "log_changed",
  "cursor_too_large",
  "invalid_cursor",
]);

const taskCodes: Readonly<Record<TaskErrorCode, ProblemCode>> = {
  invalid_request: "invalid_request",
  task_not_found: "task_not_found",
  task_ended: "task_ended",
  task_queued: "task_queued",
  no_stdin: "no_stdin",
  stdin_full: "stdin_full",
  not_a_terminal: "not_a_terminal",
  unknown_signal: "unknown_signal",
  task_of_agent: "task_of_agent",
  cwd_outside: "cwd_outside",
  cwd_not_found: "directory_not_found",
  program_not_found: "program_not_found",
  quota_reached: "too_many_tasks",
  pty_unavailable: "terminals_unavailable",
  screen_unavailable: "terminals_unavailable",
  closing: "not_ready",
};

const filesCodes: Readonly<Record<FilesErrorCode, ProblemCode>> = {
  invalid_path: "invalid_request",
  path_outside: "path_outside",
  not_found: "file_not_found",
  directory_missing: "directory_not_found",
  is_a_directory: "is_a_directory",
  not_a_directory: "not_a_directory",
  not_a_file: "not_a_file",
  already_exists: "file_exists",
  not_empty: "directory_not_empty",
  too_large: "body_too_large",
  invalid_range: "range_not_satisfiable",
  etag_mismatch: "file_changed",
  changed_meanwhile: "file_changed",
  permission_denied: "file_forbidden",
  disk_full: "disk_full",
  not_a_repository: "not_a_repository",
  git_failed: "git_failed",
  invalid_pattern: "invalid_request",
};

export function toProblemError(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  if (error instanceof AgentError) return new ProblemError(error.code, error.message, { cause: error });
  if (error instanceof TaskError) return new ProblemError(taskCodes[error.code], error.message, { cause: error });
  if (error instanceof FilesError) return new ProblemError(filesCodes[error.code], error.message, { cause: error });
  if (error instanceof LogError) {
    const code = logCodes[error.code];
    const detail = toldByLog.has(error.code) || "taken" in error.details ? error.message : undefined;
    return new ProblemError(code ?? "internal", detail, { cause: error });
  }
  return systemProblem(error) ?? new ProblemError(frameworkCode(error), undefined, { cause: error });
}

/** A file of the daemon beside the log could not be written or read, as the system says: that is no fault of the daemon, and somebody can do something. */
function systemProblem(error: unknown): ProblemError | null {
  if (!(error instanceof Error && "syscall" in error && "code" in error)) return null;
  switch (error.code) {
    case "ENOSPC":
    case "EDQUOT":
      return new ProblemError("disk_full", undefined, { cause: error });
    case "EROFS":
    case "EIO":
      return new ProblemError("not_ready", `The disk fails: ${error.message}. Check it, then try again.`, { cause: error });
    case "EMFILE":
    case "ENFILE":
      return new ProblemError("not_ready", "No file can be opened now. Try again in a moment, or raise `ulimit -n`.", {
        cause: error,
      });
    default:
      return null;
  }
}

function frameworkCode(error: unknown): ProblemCode {
  if (!(error instanceof Error)) return "internal";
  const known = "code" in error && typeof error.code === "string" ? frameworkCodes[error.code] : undefined;
  if (known) return known;
  const status = "statusCode" in error && typeof error.statusCode === "number" ? error.statusCode : 500;
  // The file server's 403 is a path that leaves its folder: there is nothing there.
  if (status === 403 || status === 404) return "not_found";
  return status >= 400 && status < 500 ? "invalid_request" : "internal";
}

export const problemHeaders = (error: ProblemError): Record<string, string> => ({
  "content-type": PROBLEM_MEDIA,
  ...(error instanceof RetryLaterError ? { "retry-after": String(Math.max(1, Math.ceil(error.retryAfterMs / 1000))) } : {}),
  ...(error.code === "unauthorized" || error.code === "link_invalid" ? { "www-authenticate": 'Bearer realm="dragoman"' } : {}),
});

/** For refusals before routing, where there is no Fastify reply yet. The connection is not used again: its body was not read. */
export function writeProblem(response: ServerResponse, error: ProblemError): void {
  const { headers, body } = closing(error);
  response.writeHead(error.status, headers);
  response.end(body);
}

/** Where there is not even a response: bytes that are no request, one that does not come to its end, an upgrade. */
export function closeWithProblem(socket: Duplex, error: ProblemError): void {
  const { headers, body } = closing(error);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ""}\r\n${lines.join("")}\r\n${body}`, () =>
    socket.destroy(),
  );
}

function closing(error: ProblemError): { headers: Record<string, string>; body: string } {
  const body = JSON.stringify(problemOf(error));
  const length = String(Buffer.byteLength(body));
  return { headers: { ...securityHeaders, ...problemHeaders(error), "content-length": length, connection: "close" }, body };
}
