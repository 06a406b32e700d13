/**
 * What is checked each time a log is opened: that the schema is ours, that the small tables are whole, and that every row of them is the one that was
 * written. After this, what is not found does not exist. Chunks are not read here; they are checked when they are read.
 */

import { LogError } from "../log-error.ts";
import { checksumOf, matches } from "../packing/checksum.ts";
import type { Damage } from "../packing/damage.ts";
import { int, text } from "../packing/row-readers.ts";
import { type Database, openDatabase, type SqlRow } from "./driver.ts";
import { runSteps, type Step } from "./migrations.ts";
import { isIntact as isStreamIntact, keyChecksum as streamKey } from "./stream-store.ts";

type SmallTable = {
  name: string;
  key(row: SqlRow): number;
  /** The row as errors name it, when its content does not match. */
  content?: { intact(row: SqlRow): boolean; place(row: SqlRow): string };
  /** Checks the keys of a table that may have very many rows. */
  keys?(db: Database, count: number): void;
};

const SMALL_TABLES: readonly SmallTable[] = [
  {
    name: "streams",
    key: (row) => streamKey(int(row, "no"), text(row, "kind"), row.id === null ? null : text(row, "id"), int(row, "deleted")),
    content: { intact: isStreamIntact, place: (row) => `The row of ${String(row.kind)} ${String(row.id)}` },
    keys: verifyStreamKeys,
  },
  {
    name: "documents",
    key: (row) => checksumOf(text(row, "kind"), text(row, "id")),
    content: { intact: isDocumentIntact, place: (row) => `The document ${String(row.kind)}/${String(row.id)}` },
    keys: verifyDocumentKeys,
  },
  { name: "coverage", key: (row) => checksumOf(int(row, "stream"), text(row, "type"), text(row, "disposition")) },
  { name: "artifacts", key: (row) => checksumOf(text(row, "artifact_id")) },
  { name: "artifact_streams", key: (row) => checksumOf(text(row, "artifact_id"), int(row, "stream")) },
  { name: "log", key: () => 0 },
  { name: "epochs", key: () => 0 },
];

/** Throws `database_corrupt` when it is not certain which rows there are. Content that does not match is reported, and refused when it is read. */
export async function verifyTables(db: Database, damage: Damage, steps: readonly Step[]): Promise<void> {
  await verifySchema(db, steps);
  for (const { name, key, content, keys } of SMALL_TABLES) {
    if (keys !== undefined && verifyMany(db, name, keys)) continue;
    // Compares indexes with their table, which quick_check does not.
    const found = db.prepare(`PRAGMA integrity_check('${name}')`).get()?.integrity_check;
    if (found !== "ok") throw corrupt(`${name}: ${String(found)}`);
    for (const row of db.prepare(`SELECT * FROM ${name}`).iterate()) {
      if ("key_checksum" in row && !matches(row, "key_checksum", key(row))) throw corrupt(`a key of ${name} does not match`);
      if (content !== undefined && !content.intact(row)) damage.found(content.place(row));
    }
  }
}

/** More rows than this are not read one by one while a start waits: their contents are checked when they are read, and all of them after a stop that was not clean. */
const MANY = 5_000;

/** Very many rows: the order of the table, and its keys. False: they are few. */
function verifyMany(db: Database, name: string, verifyKeys: (db: Database, count: number) => void): boolean {
  const count = Number(db.prepare(`SELECT count(*) AS count FROM ${name}`).get()?.count);
  if (count <= MANY) return false;
  const found = db.prepare(`PRAGMA quick_check('${name}')`).get()?.quick_check;
  if (found !== "ok") throw corrupt(`${name}: ${String(found)}`);
  verifyKeys(db, count);
  return true;
}

/**
 * Every part of a key is there twice, the names in an index: where both say the same, no accident has changed one of them. A checksum for each row would take
 * several times as long.
 */
function verifyStreamKeys(db: Database, count: number): void {
  const counted = (from: string): number => Number(db.prepare(`SELECT count(*) AS count FROM streams ${from}`).get()?.count);
  // Without NOT INDEXED the index would be compared with itself.
  const odd = counted(`a NOT INDEXED WHERE deleted <> (id IS NULL) OR (id IS NOT NULL AND NOT EXISTS
    (SELECT 1 FROM streams b INDEXED BY streams_id WHERE b.kind = a.kind AND b.id = a.id AND b.no = a.no))`);
  if (odd !== 0 || counted("INDEXED BY streams_id WHERE kind >= ''") !== count)
    throw corrupt("streams cannot be found by their ids");
}

const PAGE = 2_000;
const [FIELD, ROW] = ["\u001f", "\u001e"];

/** One text a page: a row object for each would take several times as long. */
function verifyDocumentKeys(db: Database): void {
  const rows = `(SELECT kind, id, key_checksum FROM documents WHERE (kind, id) > (?, ?) ORDER BY kind, id LIMIT ${PAGE})`;
  const page = db.prepare(`
    SELECT group_concat(kind || char(31) || id || char(31) || ifnull(key_checksum, ''), char(30)) AS keys FROM ${rows}`);
  for (let [kind, id] = ["", ""]; ; ) {
    const keys = page.get(kind, id)?.keys;
    if (typeof keys !== "string") return;
    for (const line of keys.split(ROW)) {
      let checksum = "";
      [kind = "", id = "", checksum = ""] = line.split(FIELD);
      if (checksum !== "" && Number(checksum) !== checksumOf(kind, id)) throw corrupt("a key of documents does not match");
    }
  }
}

export function isDocumentIntact(row: SqlRow): boolean {
  const { expires_at } = row;
  if (typeof row.body !== "string" || (typeof expires_at !== "number" && expires_at !== null)) return false;
  return matches(row, "row_checksum", documentChecksum(text(row, "kind"), text(row, "id"), row.body, expires_at));
}

export const documentChecksum = (kind: string, id: string, body: string, expiresAt: number | null): number =>
  checksumOf(kind, id, body, expiresAt);

/** A table whose definition changed by accident would be read, or written, in another way. */
async function verifySchema(db: Database, steps: readonly Step[]): Promise<void> {
  const expected = await openDatabase(":memory:");
  runSteps(expected, steps);
  const [own, other] = [schemaOf(db), schemaOf(expected)];
  expected.close();
  const odd = other.find((text, index) => text !== own[index]);
  if (odd !== undefined || own.length !== other.length)
    throw corrupt(`its schema is not that of this version (${odd ?? own.at(-1)})`);
}

const schemaOf = (db: Database): string[] =>
  db
    .prepare("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name")
    .all()
    .map((row) => [row.type, row.name, row.tbl_name, row.sql].join(" "));

const corrupt = (what: string): LogError => new LogError("database_corrupt", `The database is damaged: ${what}.`);
