/**
 * What the log refuses, with a code that HTTP and the command line show as it is. The message says what to do next.
 */
export type LogErrorCode =
  // Opening the data directory.
  | "data_dir_locked"
  | "data_dir_unreadable"
  | "network_file_system"
  | "disk_full"
  | "database_corrupt"
  | "database_newer"
  | "migration_failed"
  // Using the log.
  | "stream_exists"
  | "stream_deleted"
  | "sequence_gap"
  | "invalid_entry"
  | "invalid_artifact_id"
  | "write_failed"
  /** Another took over the stream, or the whole log: nothing of this writer will ever be committed again. */
  | "fenced"
  | "corrupt_chunk"
  | "corrupt_artifact"
  /** A cursor of another history: of a log that was replaced, or of an end that was lost. */
  | "log_changed"
  /** Not a cursor at all, or one that lies beyond the end. */
  | "invalid_cursor"
  | "cursor_too_large"
  | "log_closed";

export class LogError extends Error {
  override readonly name = "LogError";
  readonly code: LogErrorCode;
  /** Structured facts for the one who handles it: `pid` of the holder, `path` of what was moved aside, … */
  readonly details: Readonly<Record<string, string | number>>;

  constructor(code: LogErrorCode, message: string, details: Record<string, string | number> = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = details;
  }
}

const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_IOERR = 10;
const SQLITE_CANTOPEN = 14;
const SQLITE_READONLY = 8;
const SQLITE_PERM = 3;
const SQLITE_NOTADB = 26;
/** Extended codes of SQLITE_IOERR that a full disk makes: a short write, and growing the WAL index (-shm). */
const FULL_IO = new Set([SQLITE_IOERR | (3 << 8), SQLITE_IOERR | (19 << 8)]);

/** Gives an error of SQLite or of the file system the code that belongs to it. */
export function toLogError(error: unknown, doing: string): LogError {
  if (error instanceof LogError) return error;
  const { code, errcode, message } = facts(error);
  const primary = errcode === undefined ? undefined : errcode & 0xff;
  if (code === "ENOSPC" || code === "EDQUOT" || primary === SQLITE_FULL || (errcode !== undefined && FULL_IO.has(errcode))) {
    return new LogError("disk_full", `${doing}: the disk is full. Free some space; writing goes on by itself.`, {}, error);
  }
  if (primary === SQLITE_CORRUPT || primary === SQLITE_NOTADB) {
    return new LogError(
      "database_corrupt",
      `${doing}: the database file is damaged (${message}). Restore the data directory from a backup.`,
      {},
      error,
    );
  }
  const denied = primary === SQLITE_CANTOPEN || primary === SQLITE_READONLY || primary === SQLITE_PERM;
  if (denied || code === "EACCES" || code === "EPERM" || code === "EROFS" || code === "ENOTDIR" || code === "EEXIST") {
    return new LogError(
      "data_dir_unreadable",
      `${doing}: ${message}. Check owner and permissions of the data directory.`,
      {},
      error,
    );
  }
  return new LogError("write_failed", `${doing}: ${message}. See the cause; it is tried again.`, {}, error);
}

/** For who waits no longer: what was appended is kept in memory and tried again, so it may still become durable. */
export function notDurableYet(error: LogError): LogError {
  const message = `${error.message} What was taken is not stored yet, and may still take effect: look before you repeat it.`;
  return new LogError(error.code, message, { ...error.details, taken: 1 }, error);
}

/** For who has taken back what could not be stored. */
export function withdrawn(error: unknown): unknown {
  if (!(error instanceof LogError)) return error;
  const cause = error.cause instanceof LogError ? error.cause : error;
  const message = `${cause.message} Nothing of this was kept: try it again then.`;
  return new LogError(error.code, message, { ...cause.details, taken: 0 }, error);
}

/** True for a disk that failed, as against a statement that is wrong. */
export function isIoError(error: unknown): boolean {
  const { code, errcode } = facts(error);
  return code === "EIO" || (errcode !== undefined && (errcode & 0xff) === SQLITE_IOERR);
}

/** While the log is open it tries again by itself; at the start somebody has to do something. Other errors stay as they are. */
export function atStart(error: unknown, dataDir: string): unknown {
  const { code } = facts(error);
  if (code === "write_failed" || code === "EIO") {
    const cause = error instanceof LogError && error.cause instanceof Error ? error.cause : error;
    const message = `dragoman cannot start in ${dataDir}: ${facts(cause).message}. Check the disk and start again, or pass another --data-dir.`;
    return new LogError("write_failed", message, { path: dataDir }, error);
  }
  if (code !== "disk_full" && code !== "ENOSPC" && code !== "EDQUOT") return error;
  const message = `The disk of ${dataDir} is full: dragoman cannot start there. Free some space on it and start again, or pass another --data-dir.`;
  return new LogError("disk_full", message, { path: dataDir }, error);
}

/** @photostructure/sqlite 1.2: errors of `all()` come without `errcode`, only with SQLite's own words. */
const BY_MESSAGE: readonly (readonly [string, number])[] = [
  ["database disk image is malformed", SQLITE_CORRUPT],
  ["file is not a database", SQLITE_NOTADB],
  ["database or disk is full", SQLITE_FULL],
];

function facts(error: unknown): { code?: string; errcode?: number; message: string } {
  if (!(error instanceof Error)) return { message: String(error) };
  const found: { code?: string; errcode?: number; message: string } = { message: error.message };
  if ("code" in error && typeof error.code === "string") found.code = error.code;
  const byMessage = BY_MESSAGE.find(([words]) => error.message.includes(words))?.[1];
  // node:sqlite has the extended code in `errcode`; @photostructure/sqlite has it in a property of its own.
  if ("sqliteExtendedCode" in error && typeof error.sqliteExtendedCode === "number") found.errcode = error.sqliteExtendedCode;
  else if ("errcode" in error && typeof error.errcode === "number") found.errcode = error.errcode;
  else if (byMessage !== undefined) found.errcode = byMessage;
  return found;
}
