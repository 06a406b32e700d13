/**
 * The tables in Postgres, as numbered steps of rooms: the log has its own, and others that keep tables beside it bring theirs. A step that was released is
 * never edited: add the next one. A database with more steps than this program knows was written by a newer one, and is refused.
 */
import { LogError } from "../log-error.ts";
import { int, text } from "../packing/row-readers.ts";
import { asPostgresError, type Database, PostgresError, type Sql } from "./connection.ts";

/** `steps`: SQL, several statements each if need be. All tables lie in the schema `dragoman`, and every name says so. */
export type MigrationRoom = { room: string; steps: readonly string[] };

const TABLE = `
  CREATE SCHEMA IF NOT EXISTS dragoman;
  CREATE TABLE IF NOT EXISTS dragoman.migrations (
    room text NOT NULL, version integer NOT NULL, applied_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (room, version)
  )`;

/** Two who begin at once may both find nothing: one of them is refused, and then finds it. */
const MADE_MEANWHILE = new Set(["23505", "42P06", "42P07"]);

/** Brings all rooms to their newest version, all or nothing. Many may call it at once: they wait for one another. */
export async function migrate(database: Database, rooms: readonly MigrationRoom[]): Promise<void> {
  if (await isCurrent(database, rooms)) return;
  await database.query(TABLE).catch(async (error: unknown) => {
    if (!(error instanceof PostgresError && MADE_MEANWHILE.has(error.code))) throw error;
    await database.query(TABLE);
  });
  await database.transaction(async (sql) => {
    await sql.query("LOCK TABLE dragoman.migrations IN EXCLUSIVE MODE");
    const versions = await versionsOf(sql);
    for (const { room, steps } of rooms) {
      const from = versions.get(room) ?? 0;
      if (from > steps.length) throw newer(database, room, from, steps.length);
      for (const [index, step] of steps.entries()) {
        if (index < from) continue;
        await sql.query(step).catch((error: unknown) => {
          throw failed(error, database, room, index + 1);
        });
        await sql.query("INSERT INTO dragoman.migrations (room, version) VALUES ($1, $2)", [room, index + 1]);
      }
    }
  });
}

/** Without a lock and without writing: most starts find everything in its place. Throws `database_newer`. */
async function isCurrent(database: Database, rooms: readonly MigrationRoom[]): Promise<boolean> {
  const { rows } = await database.query("SELECT to_regclass('dragoman.migrations') IS NOT NULL AS there");
  if (rows[0]?.there !== 1) return false;
  const versions = await versionsOf(database);
  for (const { room, steps } of rooms) {
    const version = versions.get(room) ?? 0;
    if (version > steps.length) throw newer(database, room, version, steps.length);
  }
  return rooms.every(({ room, steps }) => versions.get(room) === steps.length);
}

async function versionsOf(sql: Sql): Promise<Map<string, number>> {
  const { rows } = await sql.query("SELECT room, max(version) AS version FROM dragoman.migrations GROUP BY room");
  return new Map(rows.map((row) => [text(row, "room"), int(row, "version")]));
}

function newer({ place }: Database, room: string, version: number, known: number): LogError {
  const message = `The database ${place} was written by a newer dragoman (${room} version ${version}, this one knows ${known}). Update dragoman, or use another database.`;
  return new LogError("database_newer", message, { room, version, known });
}

function failed(error: unknown, { place }: Database, room: string, version: number): LogError {
  const cause = asPostgresError(error, place);
  const message = `The tables in ${place} could not be brought to ${room} version ${version}: ${cause.message} Nothing was changed.`;
  return new LogError("migration_failed", message, { room, version }, cause);
}
