/**
 * The table of streams: one row each, with what must be known without reading events. Lists are pages; deleted streams are not there for anybody.
 */
import { int, intOrNull, text, word } from "./columns.ts";
import type { ListOptions, StreamKind, StreamPage, StreamRow } from "./contract.ts";
import type { Database, SqlRow, Statement } from "./driver.ts";

export type NumberedRow = StreamRow & { no: number };

const COLUMNS = "no, kind, id, created_at, updated_at, last_sequence, last_native, open_since, state";
const NEWEST = `${Number.MAX_SAFE_INTEGER}.${Number.MAX_SAFE_INTEGER}`;

export class StreamStore {
  readonly #db: Database;
  readonly #insert: Statement;
  readonly #update: Statement;
  readonly #setState: Statement;
  readonly #state: Statement;
  readonly #find: Statement;
  readonly #markDeleted: Statement;
  readonly #remove: Statement;
  readonly #deleted: Statement;
  readonly #lists = new Map<string, Statement>();

  constructor(db: Database) {
    this.#db = db;
    this.#insert = db.prepare(`INSERT INTO streams (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#update = db.prepare(
      "UPDATE streams SET updated_at = ?, last_sequence = ?, last_native = ?, open_since = ? WHERE no = ?",
    );
    this.#setState = db.prepare("UPDATE streams SET state = ? WHERE no = ?");
    this.#state = db.prepare("SELECT state FROM streams WHERE no = ?");
    this.#find = db.prepare(`SELECT ${COLUMNS} FROM streams WHERE kind = ? AND id = ?`);
    this.#markDeleted = db.prepare("UPDATE streams SET deleted = 1, id = NULL, state = '', open_since = NULL WHERE no = ?");
    this.#remove = db.prepare("DELETE FROM streams WHERE no = ?");
    this.#deleted = db.prepare("SELECT no FROM streams WHERE deleted = 1");
  }

  insert(row: NumberedRow): void {
    const { no, kind, id, created_at, updated_at, last_sequence, last_native, open_since, state } = row;
    this.#insert.run(no, kind, id, created_at, updated_at, last_sequence, last_native, open_since, state);
  }

  update(no: number, updatedAt: number, lastSequence: number, lastNative: number, openSince: number | null): void {
    this.#update.run(updatedAt, lastSequence, lastNative, openSince, no);
  }

  setState(no: number, state: string): void {
    this.#setState.run(state, no);
  }

  state(no: number): string {
    const row = this.#state.get(no);
    return row === undefined ? "" : text(row, "state");
  }

  find(kind: StreamKind, id: string): NumberedRow | undefined {
    const row = this.#find.get(kind, id);
    return row === undefined ? undefined : numberedRow(row);
  }

  /** The highest number ever given: numbers do not come back, so rows of a deleted stream are never taken for a new one's. */
  lastNo(): number {
    const row = this.#db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'streams'").get();
    return row === undefined ? 0 : int(row, "seq");
  }

  markDeleted(no: number): void {
    this.#markDeleted.run(no);
  }

  remove(no: number): void {
    this.#remove.run(no);
  }

  deleted(): number[] {
    return this.#deleted.all().map((row) => int(row, "no"));
  }

  list(kind: StreamKind, options: ListOptions): StreamPage {
    const limit = Math.max(1, options.limit ?? 50);
    const time = options.order === "updated" ? "updated_at" : "created_at";
    const [at, no] = (options.before ?? NEWEST).split(".").map(Number);
    const rows = this.#list(time, options.onlyOpen === true).all(kind, at || 0, at || 0, no || 0, limit + 1);
    const streams = rows.slice(0, limit);
    const last = streams.at(-1);
    const next = rows.length > limit && last !== undefined ? `${int(last, time)}.${int(last, "no")}` : null;
    return { streams: streams.map(streamRow), next };
  }

  #list(time: "created_at" | "updated_at", onlyOpen: boolean): Statement {
    const sql = `SELECT ${COLUMNS} FROM streams WHERE kind = ? AND deleted = 0 ${onlyOpen ? "AND open_since IS NOT NULL" : ""}
      AND (${time} < ? OR (${time} = ? AND no < ?)) ORDER BY ${time} DESC, no DESC LIMIT ?`;
    const statement = this.#lists.get(sql) ?? this.#db.prepare(sql);
    this.#lists.set(sql, statement);
    return statement;
  }
}

function streamRow(row: SqlRow): StreamRow {
  const { no: _, ...rest } = numberedRow(row);
  return rest;
}

function numberedRow(row: SqlRow): NumberedRow {
  return {
    no: int(row, "no"),
    kind: word<StreamKind>(row, "kind"),
    id: text(row, "id"),
    created_at: int(row, "created_at"),
    updated_at: int(row, "updated_at"),
    last_sequence: int(row, "last_sequence"),
    last_native: int(row, "last_native"),
    open_since: intOrNull(row, "open_since"),
    state: text(row, "state"),
  };
}
