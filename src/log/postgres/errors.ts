/** Errors of the database as errors of the log. */
import { LogError } from "../log-error.ts";
import { LOG_FENCED, OTHER_TABLES, PostgresError } from "./connection.ts";

const DISK_FULL = "53100";
export const UNIQUE_VIOLATION = "23505";

export function toLogError(error: unknown, doing: string): LogError {
  if (error instanceof LogError) return error;
  if (!(error instanceof PostgresError)) {
    const message = error instanceof Error ? error.message : String(error);
    return new LogError("write_failed", `${doing}: ${message}. See the cause; it is tried again.`, {}, error);
  }
  if (error.code === LOG_FENCED) return takenOver(error);
  if (OTHER_TABLES.has(error.code)) return new LogError("database_newer", `${doing}: ${error.message}`, {}, error);
  if (error.reason === "fenced") return new LogError("fenced", `${doing}: ${error.message}.`, {}, error);
  if (error.code === DISK_FULL)
    return new LogError(
      "disk_full",
      `${doing}: ${error.message} Free some space on its disk; writing goes on by itself.`,
      {},
      error,
    );
  const next = error.reason === "lost" ? "It goes on by itself when the database is back." : "See the cause; it is tried again.";
  return new LogError("write_failed", `${doing}: ${error.message} ${next}`, {}, error);
}

export const takenOver = (cause?: unknown): LogError =>
  new LogError(
    "fenced",
    "Another dragoman has taken over this log in Postgres. This one writes nothing any more: stop it, and use the other.",
    {},
    cause,
  );

/** While the log is opened nothing is tried again: who asked for it is refused. */
export function toOpeningError(error: unknown, place: string): LogError {
  if (!(error instanceof PostgresError) || error.reason !== "lost") return toLogError(error, `Opening the log in ${place}`);
  return new LogError("write_failed", `${error.message} Start dragoman again when the database is there.`, {}, error);
}

/** Texts in Postgres have no NUL: one that came in would be refused for ever, and everything behind it. */
export function mustBeText(text: string, what: string): void {
  if (text.includes("\0"))
    throw new LogError("invalid_entry", `${what} contains a NUL character. Serialize it with JSON.stringify.`);
}
