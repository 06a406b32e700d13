/**
 * Opens the database of a data directory: checked after an unclean stop, in WAL mode, at the newest version. A damaged file is moved aside, never repaired
 * in place and never deleted.
 */
import { chmodSync, existsSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Database, openDatabase } from "./driver.ts";
import { LogError, toLogError } from "./log-error.ts";
import { migrate, migrations } from "./migrations.ts";

export const DATABASE_FILE = "dragoman.db";

/** Above this size only the small tables are checked after an unclean stop: reading everything would hold up the start for minutes. */
const FULL_CHECK_BYTES = 512 * 1024 * 1024;
const SMALL_TABLES = ["streams", "documents", "artifacts", "coverage"];
/** 64 MB of WAL between checkpoints: a checkpoint fsyncs, and under load it should not come every few ticks. */
const CHECKPOINT_PAGES = 4000;

export async function openLogDatabase(dataDir: string, options: { migrations?: readonly string[] } = {}): Promise<Database> {
  const path = join(dataDir, DATABASE_FILE);
  const unclean = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  let db: Database | undefined;
  try {
    db = await openDatabase(path);
    setUp(db, dataDir);
    if (unclean) check(db, path);
    migrate(db, dataDir, options.migrations ?? migrations);
    for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) chmodSync(file, 0o600);
    return db;
  } catch (error) {
    close(db);
    const known = toLogError(error, `Opening ${path}`);
    throw known.code === "database_corrupt" ? moveAside(path, known) : known;
  }
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
  // Chunks are hundreds of kilobytes: larger pages mean fewer frames in the WAL. Only a new database takes it.
  db.exec("PRAGMA busy_timeout = 5000; PRAGMA page_size = 16384");
  const mode = db.prepare("PRAGMA journal_mode = WAL").get()?.journal_mode;
  if (mode !== "wal") {
    const message = `The file system of ${dataDir} does not support SQLite's WAL (journal mode is ${String(mode)}). Pass a --data-dir on a local disk.`;
    throw new LogError("network_file_system", message, { path: dataDir });
  }
  db.exec(
    `PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -8000; PRAGMA temp_store = MEMORY`,
  );
}

function check(db: Database, path: string): void {
  const small = statSync(path).size <= FULL_CHECK_BYTES;
  const existing = new Set(
    db
      .prepare("SELECT name FROM sqlite_master WHERE type = 'table'")
      .all()
      .map((row) => row.name),
  );
  const checks = small
    ? ["PRAGMA quick_check(1)"]
    : SMALL_TABLES.filter((table) => existing.has(table)).map((table) => `PRAGMA quick_check('${table}')`);
  for (const sql of checks) {
    const found = db.prepare(sql).get()?.quick_check;
    if (found !== "ok") throw new LogError("database_corrupt", String(found));
  }
}

function moveAside(path: string, found: LogError): LogError {
  const aside = `${path}.corrupt-${new Date().toISOString().replaceAll(":", "-")}`;
  for (const suffix of ["", "-wal", "-shm"]) if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  const message = `The database was damaged and has been moved to ${aside} (${found.message}). Start again to begin with an empty log; "sqlite3 ${aside} .recover" may save what is in the old one.`;
  return new LogError("database_corrupt", message, { path: aside }, found);
}

function close(db: Database | undefined): void {
  try {
    db?.close();
  } catch {
    // It never opened.
  }
}
