/**
 * Reads values of a row with their types checked: a row that is not what the schema says is a damaged database, not a type error further on.
 */

import { LogError } from "../log-error.ts";

/** A row as a binding of a database gives it. */
export type SqlValue = null | number | bigint | string | Uint8Array;
export type SqlRow = Record<string, SqlValue>;

export function int(row: SqlRow, column: string): number {
  const value = row[column];
  if (typeof value === "number") return value;
  throw wrong(column, value);
}

export function intOrNull(row: SqlRow, column: string): number | null {
  return row[column] === null ? null : int(row, column);
}

export function text(row: SqlRow, column: string): string {
  const value = row[column];
  if (typeof value === "string") return value;
  throw wrong(column, value);
}

/** A word of a closed set that only this room writes. */
export function word<T extends string>(row: SqlRow, column: string): T {
  return text(row, column) as T;
}

export function textOrNull(row: SqlRow, column: string): string | null {
  return row[column] === null ? null : text(row, column);
}

/** No copy: a view on what the binding returned. */
export function blob(row: SqlRow, column: string): Buffer {
  const value = row[column];
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  throw wrong(column, value);
}

function wrong(column: string, value: unknown): LogError {
  return new LogError(
    "database_corrupt",
    `Column ${column} holds ${value === null ? "null" : typeof value}: the database is damaged. Restore the data directory from a backup.`,
  );
}
