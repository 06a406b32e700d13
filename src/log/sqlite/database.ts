/**
 * Opens the database of a data directory: in WAL mode, at the newest version, with its small tables checked. A damaged one is refused until a person
 * decides what to do with it; it is never repaired in place and never deleted.
 */
import { chmodSync, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { LogError, toLogError } from "../log-error.ts";
import type { Damage } from "../packing/damage.ts";
import { type Database, openDatabase } from "./driver.ts";
import { migrate, migrations, type Step } from "./migrations.ts";
import { DATABASE_FILE, endRefusal, mustNotBeRefused, readRefusal, refuse, setAside } from "./refusal.ts";
import { verifyTables } from "./verify-tables.ts";

export type OpenDatabaseOptions = { damage: Damage; acceptEmpty?: boolean; migrations?: readonly Step[] };

export async function openLogDatabase(dataDir: string, options: OpenDatabaseOptions): Promise<Database> {
  const { acceptEmpty = false } = options;
  if (acceptEmpty && readRefusal(dataDir) !== undefined) setAside(dataDir);
  mustNotBeRefused(dataDir);
  try {
    const db = await openChecked(dataDir, options);
    endRefusal(dataDir);
    return db;
  } catch (error) {
    const known = toLogError(error, `Opening ${join(dataDir, DATABASE_FILE)}`);
    if (known.code !== "database_corrupt") throw known;
    if (!acceptEmpty) throw refuse(dataDir, known);
    setAside(dataDir);
    return openChecked(dataDir, options);
  }
}

async function openChecked(dataDir: string, options: OpenDatabaseOptions): Promise<Database> {
  const path = join(dataDir, DATABASE_FILE);
  const steps = options.migrations ?? migrations;
  let db: Database | undefined;
  try {
    db = await openDatabase(path);
    setUp(db, dataDir);
    migrate(db, dataDir, steps);
    await verifyTables(db, options.damage, steps);
    for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) chmodSync(file, 0o600);
    return db;
  } catch (error) {
    close(db);
    throw error;
  }
}

/** True when the last stop left something to recover: a process that was killed, or a disk that was full. */
export function wasUnclean(dataDir: string): boolean {
  return (statSync(join(dataDir, `${DATABASE_FILE}-wal`), { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** What was deleted is overwritten in the database (`secure_delete`), but the WAL still has pages from before: they are written back and the file is cut. */
export function eraseFreed(db: Database): void {
  const busy = db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()?.busy;
  if (busy !== 0)
    throw new LogError("write_failed", "Another process reads the database: what was deleted is erased when that has ended.");
}

/**
 * Leaves an empty WAL behind, which is how the next start knows that this stop was clean. @photostructure/sqlite 1.2: `close()` leaves the connection, and
 * so the WAL, until all its statements are garbage; SQLite alone would have removed the file.
 */
export function closeLogDatabase(db: Database): void {
  try {
    db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // A full disk: the WAL stays, and the next start checks.
  }
  db.close();
}

function setUp(db: Database, dataDir: string): void {
  // A commit of one event touches eight pages: small ones, or it writes 130 kB. Only a new database takes it.
  db.exec("PRAGMA busy_timeout = 5000; PRAGMA page_size = 4096");
  const mode = db.prepare("PRAGMA journal_mode = WAL").get()?.journal_mode;
  if (mode !== "wal") {
    const message = `The file system of ${dataDir} does not support SQLite's WAL (journal mode is ${String(mode)}). Pass a --data-dir on a local disk.`;
    throw new LogError("network_file_system", message, { path: dataDir });
  }
  // What is deleted is overwritten with zeros; pages that make no sense are noticed when they are read.
  db.exec("PRAGMA secure_delete = ON; PRAGMA cell_size_check = ON");
  db.exec("PRAGMA cache_size = -8000; PRAGMA temp_store = MEMORY");
}

function close(db: Database | undefined): void {
  try {
    db?.close();
  } catch {
    // It never opened.
  }
}
