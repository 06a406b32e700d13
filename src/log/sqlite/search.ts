/**
 * The search index: a database of its own beside the log's, with FTS5. It can be thrown away: one that is damaged, of another version or of another log is
 * emptied, and built anew by who fills it. What was removed leaves nothing on the disk here either.
 */
import { chmodSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate, setTimeout } from "node:timers/promises";
import type { RemovedItem, SearchEntry, SearchIndex, SearchOptions, SearchPage, SearchStream, StreamKind } from "../contract.ts";
import { LogError } from "../log-error.ts";
import { int, text, textOrNull, word } from "../packing/row-readers.ts";
import { hitOf } from "../packing/search-hit.ts";
import { fold, phrasesOf } from "../search-words.ts";
import { type Database, openDatabase, type SqlValue } from "./driver.ts";

/** Raise it when the tables or what is put in them change: the index is then built anew. */
const VERSION = 1;
const FILES = ["search.db", "search.db-wal", "search.db-shm"];
/** Rows removed in one transaction. */
const PORTION = 500;
const RETRY_MS = 1_000;

const TABLES = `
  CREATE TABLE state (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL, log_id TEXT NOT NULL, cursor TEXT);
  CREATE TABLE streams (
    no INTEGER PRIMARY KEY, kind TEXT NOT NULL, id TEXT NOT NULL, agent TEXT NOT NULL, directory TEXT NOT NULL, title TEXT,
    folded TEXT NOT NULL          -- what findStreams looks in
  );
  CREATE UNIQUE INDEX streams_id ON streams (kind, id);
  CREATE TABLE entries (
    no INTEGER PRIMARY KEY, stream INTEGER NOT NULL, sequence INTEGER NOT NULL, item_id TEXT, sort TEXT NOT NULL, at INTEGER NOT NULL,
    text TEXT NOT NULL
  );
  CREATE INDEX entries_stream ON entries (stream, item_id);
  CREATE VIRTUAL TABLE words USING fts5 (text, content = 'entries', content_rowid = 'no', tokenize = "unicode61 remove_diacritics 2");
  CREATE VIRTUAL TABLE names USING fts5 (folded, content = 'streams', content_rowid = 'no', tokenize = 'trigram');
  INSERT INTO words (words, rank) VALUES ('secure-delete', 1);
  INSERT INTO names (names, rank) VALUES ('secure-delete', 1);
`;

export class SqliteSearch implements SearchIndex {
  readonly #dataDir: string;
  readonly #logId: string;
  #opening: Promise<Database> | undefined;
  #closed = false;

  constructor(dataDir: string, logId: string) {
    this.#dataDir = dataDir;
    this.#logId = logId;
  }

  async cursor(): Promise<string | null> {
    const row = (await this.#db()).prepare("SELECT cursor FROM state").get();
    return row === undefined ? null : textOrNull(row, "cursor");
  }

  async put(
    {
      streams,
      entries,
      removed,
    }: { streams: readonly SearchStream[]; entries: readonly SearchEntry[]; removed: readonly RemovedItem[] },
    cursor: string,
  ): Promise<void> {
    const db = await this.#db();
    const numbers = new Map<string, number | undefined>();
    const find = db.prepare("SELECT no FROM streams WHERE kind = ? AND id = ?");
    const numberOf = ({ kind, stream_id }: { kind: StreamKind; stream_id: string }): number | undefined => {
      const key = `${kind}/${stream_id}`;
      if (!numbers.has(key)) numbers.set(key, find.get(kind, stream_id)?.no as number | undefined);
      return numbers.get(key);
    };
    this.#transaction(db, () => {
      for (const stream of streams) numbers.set(`${stream.kind}/${stream.stream_id}`, putStream(db, stream, numberOf(stream)));
      const insert = db.prepare("INSERT INTO entries (stream, sequence, item_id, sort, at, text) VALUES (?, ?, ?, ?, ?, ?)");
      const index = db.prepare("INSERT INTO words (rowid, text) VALUES (?, ?)");
      for (const entry of entries) {
        const no = numberOf(entry);
        // Its stream is gone: what is left of it in the log is on its way out.
        if (no === undefined) continue;
        const done = insert.run(no, entry.sequence, entry.item_id, entry.sort, entry.at, entry.text);
        index.run(Number(done.lastInsertRowid), entry.text);
      }
      for (const item of removed) {
        const no = numberOf(item);
        if (no !== undefined) removeEntries(db, "stream = ? AND item_id = ?", [no, item.item_id]);
      }
      db.prepare("UPDATE state SET cursor = ?").run(cursor);
    });
  }

  async find(options: SearchOptions): Promise<SearchPage> {
    const match = matchOf(options.query);
    if (match === null) return { hits: [], next: null };
    const limit = options.limit ?? 20;
    const filters: [string, SqlValue][] = [];
    if (options.before !== undefined) filters.push(["words.rowid < ?", Number(options.before) || 0]);
    if (options.agent !== undefined) filters.push(["s.agent = ?", options.agent]);
    if (options.directory !== undefined) filters.push(["s.directory = ?", options.directory]);
    if (options.stream_id !== undefined) filters.push(["s.id = ?", options.stream_id]);
    const { sorts } = options;
    const sorted = sorts === undefined ? "" : ` AND e.sort IN (${sorts.map(() => "?").join(", ")})`;
    const rows = (await this.#db())
      .prepare(
        `SELECT e.no, e.sequence, e.item_id, e.sort, e.at, e.text, s.kind, s.id, s.agent, s.directory, s.title
         FROM words JOIN entries e ON e.no = words.rowid JOIN streams s ON s.no = e.stream
         WHERE words MATCH ?${filters.map(([sql]) => ` AND ${sql}`).join("")}${sorted} ORDER BY words.rowid DESC LIMIT ?`,
      )
      .all(match, ...filters.map(([, value]) => value), ...(sorts ?? []), limit + 1);
    const shown = rows.slice(0, limit);
    const last = shown.at(-1);
    return { hits: shown.map(hitOf), next: rows.length > limit && last ? String(int(last, "no")) : null };
  }

  async findStreams(
    wanted: string,
    options: { limit?: number; before?: string } = {},
  ): Promise<{ ids: string[]; next: string | null }> {
    const limit = options.limit ?? 50;
    const folded = fold(wanted);
    const before = Number(options.before ?? Number.MAX_SAFE_INTEGER) || 0;
    const db = await this.#db();
    // Three letters are the least that the index of trigrams can find.
    const rows =
      [...folded].length >= 3
        ? db
            .prepare(
              "SELECT s.no, s.id FROM names JOIN streams s ON s.no = names.rowid WHERE names MATCH ? AND names.rowid < ? ORDER BY names.rowid DESC LIMIT ?",
            )
            .all(`"${folded.replaceAll('"', '""')}"`, before, limit + 1)
        : db
            .prepare("SELECT no, id FROM streams WHERE instr(folded, ?) > 0 AND no < ? ORDER BY no DESC LIMIT ?")
            .all(folded, before, limit + 1);
    const shown = rows.slice(0, limit);
    const last = shown.at(-1);
    return { ids: shown.map((row) => text(row, "id")), next: rows.length > limit && last ? String(int(last, "no")) : null };
  }

  async reset(): Promise<void> {
    const db = await this.#db();
    db.close();
    this.#opening = this.#open(true);
    await this.#opening;
  }

  /** Resolves when the texts of the stream are gone; while the disk does not take that, it is tried again. */
  async forget(stream: { kind: StreamKind; id: string }): Promise<void> {
    while (!this.#closed) {
      try {
        return await this.#forget(stream);
      } catch {
        await setTimeout(RETRY_MS, undefined, { ref: false });
      }
    }
  }

  /** Streams that it has texts of, with greater numbers, some of them. */
  async streamsBehind(no: number): Promise<{ no: number; kind: StreamKind; id: string }[]> {
    if (!this.#isThere) return [];
    return (await this.#db())
      .prepare(`SELECT no, kind, id FROM streams WHERE no > ? ORDER BY no LIMIT ${PORTION}`)
      .all(no)
      .map((row) => ({ no: int(row, "no"), kind: word<StreamKind>(row, "kind"), id: text(row, "id") }));
  }

  get #isThere(): boolean {
    return this.#opening !== undefined || existsSync(join(this.#dataDir, "search.db"));
  }

  /** In portions, so that a large session does not hold up the others. */
  async #forget({ kind, id }: { kind: StreamKind; id: string }): Promise<void> {
    if (!this.#isThere) return;
    const db = await this.#db();
    const row = db.prepare("SELECT no FROM streams WHERE kind = ? AND id = ?").get(kind, id);
    if (row === undefined) return;
    const no = int(row, "no");
    for (let left = true; left && !this.#closed; ) {
      this.#transaction(db, () => {
        left = removeEntries(db, "stream = ?", [no]) > 0;
        if (!left) removeStream(db, no);
      });
      await setImmediate();
    }
    if (!this.#closed) db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  async close(): Promise<void> {
    this.#closed = true;
    const db = await this.#opening?.catch(() => undefined);
    db?.close();
  }

  #db(): Promise<Database> {
    if (this.#closed) throw new LogError("log_closed", "The log is closed: dragoman is stopping.");
    const opening = this.#opening ?? this.#open(false);
    this.#opening = opening;
    opening.catch(() => {
      // The next who asks tries again.
      if (this.#opening === opening) this.#opening = undefined;
    });
    return opening;
  }

  async #open(anew: boolean): Promise<Database> {
    if (!anew) {
      try {
        const db = await this.#openFile();
        const row = db.prepare("SELECT version, log_id FROM state").get();
        if (row?.version === VERSION && row.log_id === this.#logId) return db;
        db.close();
      } catch {
        // Not there yet, damaged, or of a version without this table.
      }
    }
    for (const name of FILES) rmSync(join(this.#dataDir, name), { force: true });
    const db = await this.#openFile();
    this.#transaction(db, () => {
      db.exec(TABLES);
      db.prepare("INSERT INTO state (one, version, log_id) VALUES (1, ?, ?)").run(VERSION, this.#logId);
    });
    return db;
  }

  async #openFile(): Promise<Database> {
    const db = await openDatabase(join(this.#dataDir, FILES[0] ?? ""));
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON; PRAGMA cache_size = -4000");
    for (const name of FILES) if (existsSync(join(this.#dataDir, name))) chmodSync(join(this.#dataDir, name), 0o600);
    return db;
  }

  #transaction(db: Database, work: () => void): void {
    db.exec("BEGIN IMMEDIATE");
    try {
      work();
      db.exec("COMMIT");
    } catch (error) {
      db.exec("ROLLBACK");
      throw error;
    }
  }
}

function putStream(db: Database, stream: SearchStream, known: number | undefined): number {
  const { kind, stream_id, agent, directory, title } = stream;
  if (known !== undefined) removeStream(db, known);
  const folded = fold([stream_id, title ?? "", directory, agent].join("\n"));
  const done = db
    .prepare("INSERT INTO streams (no, kind, id, agent, directory, title, folded) VALUES (?, ?, ?, ?, ?, ?, ?)")
    .run(known ?? null, kind, stream_id, agent, directory, title, folded);
  const no = Number(done.lastInsertRowid);
  db.prepare("INSERT INTO names (rowid, folded) VALUES (?, ?)").run(no, folded);
  return no;
}

function removeStream(db: Database, no: number): void {
  db.prepare("INSERT INTO names (names, rowid, folded) SELECT 'delete', no, folded FROM streams WHERE no = ?").run(no);
  db.prepare("DELETE FROM streams WHERE no = ?").run(no);
}

/** A portion of them; how many there were. */
function removeEntries(db: Database, where: string, values: SqlValue[]): number {
  const rows = db.prepare(`SELECT no, text FROM entries WHERE ${where} LIMIT ${PORTION}`).all(...values);
  const unindex = db.prepare("INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)");
  const remove = db.prepare("DELETE FROM entries WHERE no = ?");
  for (const row of rows) {
    unindex.run(int(row, "no"), text(row, "text"));
    remove.run(int(row, "no"));
  }
  return rows.length;
}

/** Null: there is no word in it. Every word is quoted, so nothing in it is an operator. */
function matchOf(query: string): string | null {
  const phrases = phrasesOf(query);
  if (phrases.length === 0) return null;
  return phrases.map(({ words, prefix }) => `"${words.join(" ")}"${prefix ? "*" : ""}`).join(" ");
}
