/** Why a child process could not be started, in words a user can act on. Not for processes that started and then failed. */
import { existsSync, statSync } from "node:fs";

export type SpawnErrorCode = "agent_not_found" | "agent_not_executable" | "spawn_failed";

export class SpawnError extends Error {
  readonly code: SpawnErrorCode;
  readonly command: string;

  constructor(code: SpawnErrorCode, command: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "SpawnError";
    this.code = code;
    this.command = command;
  }
}

/** The system says ENOENT for a missing program, a missing working directory and a missing `#!` interpreter alike: distinguishes them. */
export function toSpawnError(command: string, cwd: string | undefined, cause: unknown): SpawnError {
  const code = errnoCode(cause);
  if (cwd !== undefined && !isDirectory(cwd)) {
    return new SpawnError(
      "spawn_failed",
      command,
      `The working directory ${cwd} is not a directory: create it or choose another one.`,
      cause,
    );
  }
  if (code === "ENOENT" && command.includes("/") && existsSync(command)) {
    const message = `${command} exists, but the interpreter in its first line does not: install that interpreter.`;
    return new SpawnError("agent_not_executable", command, message, cause);
  }
  if (code === "ENOENT" || code === "ENOTDIR") {
    const message = `${command} was not found: install it, put it on PATH, or configure its full path.`;
    return new SpawnError("agent_not_found", command, message, cause);
  }
  if (code === "EACCES" || code === "EPERM" || code === "ENOEXEC") {
    const message = `${command} cannot be executed: check that it is a program for this system, and run chmod +x on it.`;
    return new SpawnError("agent_not_executable", command, message, cause);
  }
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new SpawnError("spawn_failed", command, `${command} could not be started (${detail}): fix that and try again.`, cause);
}

/** Never throws: `throwIfNoEntry` covers a missing entry only, not a path through a file, a NUL byte or a value that is no path. */
function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function errnoCode(error: unknown): string | null {
  if (typeof error !== "object" || error === null || !("code" in error)) return null;
  return typeof error.code === "string" ? error.code : null;
}
