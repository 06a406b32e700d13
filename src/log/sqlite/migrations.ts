/**
 * The tables, as numbered steps. A step that was released is never edited: add the next one. `PRAGMA user_version` says how many have run.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { isIoError, LogError, toLogError } from "../log-error.ts";
import { checksumOf } from "../packing/checksum.ts";
import { blob, int } from "../packing/row-readers.ts";
import type { Database } from "./driver.ts";
import { LIST_INDEXES } from "./stream-list.ts";

/**
 * Events and native messages are stored as chunks: all that one stream got in one tick is one row, so a tick costs a few rows whatever its size.
 * `position` is the order of commits over all streams (AUTOINCREMENT: a deleted position never comes back, cursors stay valid).
 */
const version1 = `
  CREATE TABLE streams (
    no INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    id TEXT,                      -- NULL once deleted: the name is free again while rows are still being removed
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    last_sequence INTEGER NOT NULL,
    last_native INTEGER NOT NULL,
    open_since INTEGER,           -- from which sequence something is open, NULL when nothing is
    state TEXT NOT NULL,
    deleted INTEGER NOT NULL DEFAULT 0
  );
  CREATE UNIQUE INDEX streams_id ON streams (kind, id);
  CREATE INDEX streams_created ON streams (kind, created_at, no) WHERE deleted = 0;
  CREATE INDEX streams_open ON streams (kind) WHERE open_since IS NOT NULL AND deleted = 0;
  CREATE INDEX streams_deleted ON streams (no) WHERE deleted = 1;

  CREATE TABLE event_chunks (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    stream INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    types TEXT NOT NULL,          -- per event, see runs.ts
    natives TEXT NOT NULL,        -- per event, see runs.ts
    body BLOB NOT NULL            -- the events, see packed-events.ts
  );
  CREATE UNIQUE INDEX event_chunks_last ON event_chunks (stream, last);

  CREATE TABLE native_chunks (
    id INTEGER PRIMARY KEY,
    stream INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    head TEXT NOT NULL,           -- JSON, see native-chunk.ts
    body BLOB NOT NULL            -- the bytes, see native-chunk.ts
  );
  CREATE UNIQUE INDEX native_chunks_last ON native_chunks (stream, last);

  CREATE TABLE coverage (
    stream INTEGER NOT NULL,
    type TEXT NOT NULL,
    disposition TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (stream, type, disposition)
  ) WITHOUT ROWID;

  CREATE TABLE documents (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    body TEXT NOT NULL,
    expires_at INTEGER,
    PRIMARY KEY (kind, id)
  ) WITHOUT ROWID;
  CREATE INDEX documents_expiry ON documents (expires_at) WHERE expires_at IS NOT NULL;

  CREATE TABLE artifacts (
    artifact_id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    mime TEXT NOT NULL,
    name TEXT,
    bytes INTEGER NOT NULL,
    created_at INTEGER NOT NULL
  ) WITHOUT ROWID;
`;

/**
 * Checksums (NULL: written before they existed, and not checked), the log's identity and owner, and which stream an artifact belongs to. The checksum of a
 * chunk's columns stands before its `types`: to read a column behind the body SQLite would have to walk through the body. `owner` is the epoch that may write.
 */
const version2Tables = `
  ALTER TABLE streams ADD COLUMN key_checksum INTEGER;    -- of no, kind, id, deleted
  ALTER TABLE streams ADD COLUMN row_checksum INTEGER;    -- of no and the other numbers
  ALTER TABLE streams ADD COLUMN state_checksum INTEGER;  -- of no and state
  ALTER TABLE event_chunks ADD COLUMN checksum INTEGER;   -- of the whole row
  ALTER TABLE native_chunks ADD COLUMN checksum INTEGER;  -- of the whole row
  ALTER TABLE coverage ADD COLUMN key_checksum INTEGER;
  ALTER TABLE coverage ADD COLUMN row_checksum INTEGER;
  ALTER TABLE documents ADD COLUMN key_checksum INTEGER;
  ALTER TABLE documents ADD COLUMN row_checksum INTEGER;
  ALTER TABLE artifacts ADD COLUMN key_checksum INTEGER;
  ALTER TABLE artifacts ADD COLUMN row_checksum INTEGER;

  CREATE TABLE artifact_streams (
    artifact_id TEXT NOT NULL,
    stream INTEGER NOT NULL,
    key_checksum INTEGER NOT NULL,
    PRIMARY KEY (artifact_id, stream)
  ) WITHOUT ROWID;
  CREATE INDEX artifact_streams_stream ON artifact_streams (stream);
  CREATE TABLE artifact_removals (artifact_id TEXT PRIMARY KEY) WITHOUT ROWID; -- files that are to be unlinked

  CREATE TABLE log (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    log_id TEXT NOT NULL,
    owner TEXT NOT NULL,
    checksum INTEGER                 -- of log_id and owner
  );
  INSERT INTO log (one, log_id, owner) VALUES (1, lower(hex(randomblob(16))), '');
  CREATE TABLE epochs (
    ordinal INTEGER PRIMARY KEY,
    epoch TEXT NOT NULL UNIQUE,
    first_position INTEGER NOT NULL, -- of event_chunks
    opened_at INTEGER NOT NULL,
    checksum INTEGER NOT NULL        -- of the other columns
  );
`;

/** Artifacts that were stored before: their streams are those whose events name them. */
function adoptArtifacts(db: Database): void {
  const insert = db.prepare(
    "INSERT OR IGNORE INTO artifact_streams (artifact_id, stream, key_checksum) SELECT artifact_id, ?, ? FROM artifacts WHERE artifact_id = ?",
  );
  for (const row of db.prepare("SELECT stream, body FROM event_chunks WHERE types LIKE '%artifact.written%'").all()) {
    const stream = int(row, "stream");
    const ids = new Set(
      blob(row, "body")
        .toString("latin1")
        .match(/art_[0-9a-f]{64}/g),
    );
    for (const id of ids) insert.run(stream, checksumOf(id, stream), id);
  }
}

const version2 = (db: Database): void => {
  db.exec(version2Tables);
  adoptArtifacts(db);
};

export type Step = string | ((db: Database) => void);

/** Lists by fields of the state, and by the last change. */
const version3 = LIST_INDEXES;

export const migrations: readonly Step[] = [version1, version2, version3];

export function runSteps(db: Database, steps: readonly Step[]): void {
  for (const step of steps) {
    if (typeof step === "string") db.exec(step);
    else step(db);
  }
}

/**
 * Brings the database to the newest version, all or nothing. An existing database is copied to `<dataDir>/backups` first; when a step fails the
 * database is as it was.
 */
export function migrate(
  db: Database,
  dataDir: string,
  steps: readonly Step[] = migrations,
): { from: number; to: number; snapshot: string | null } {
  const row = db.prepare("PRAGMA user_version").get();
  const from = row === undefined ? 0 : int(row, "user_version");
  const to = steps.length;
  if (from > to) {
    const message = `The data directory was written by a newer dragoman (database version ${from}, this one knows ${to}). Update dragoman, or use another --data-dir.`;
    throw new LogError("database_newer", message, { found: from, known: to });
  }
  if (from === to) return { from, to, snapshot: null };
  const snapshot = from === 0 ? null : takeSnapshot(db, dataDir, from);
  try {
    db.exec("BEGIN IMMEDIATE");
    runSteps(db, steps.slice(from));
    db.exec(`PRAGMA user_version = ${to}`);
    db.exec("COMMIT");
  } catch (error) {
    rollback(db);
    throw failed(error, from, to);
  }
  return { from, to, snapshot };
}

export function rollback(db: Database): void {
  try {
    db.exec("ROLLBACK");
  } catch {
    // SQLite has already rolled back by itself (disk full, I/O error).
  }
}

function takeSnapshot(db: Database, dataDir: string, from: number): string {
  const folder = join(dataDir, "backups");
  const path = join(folder, `dragoman-v${from}-${new Date().toISOString().replaceAll(":", "-")}.db`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    db.prepare("VACUUM INTO ?").run(path);
  } catch (error) {
    throw toLogError(error, `Saving a copy of the database to ${path} before updating it`);
  }
  return path;
}

function failed(error: unknown, from: number, to: number): LogError {
  const known = toLogError(error, `Updating the database from version ${from} to ${to}`);
  if (known.code === "disk_full" || isIoError(error)) return known;
  const message = `Updating the database from version ${from} to ${to} failed and was undone: ${known.message} Go back to the former dragoman and report this.`;
  return new LogError("migration_failed", message, { from, to }, error);
}
