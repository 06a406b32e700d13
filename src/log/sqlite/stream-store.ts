/**
 * The table of streams: one row each, with what must be known without reading events. Lists are pages; deleted streams are not there for anybody. A row has
 * three checksums, because its parts change at different times: of its key, of its numbers, of its state.
 */

import type { ListOptions, StreamKind, StreamPage, StreamRow } from "../contract.ts";
import { checksumOf, matches } from "../packing/checksum.ts";
import type { Damage } from "../packing/damage.ts";
import { int, text, word } from "../packing/row-readers.ts";
import { type NumberedRow, numberedRow, withoutNumber } from "../packing/stream-row.ts";
import type { Database, SqlRow, Statement } from "./driver.ts";
import { StreamList } from "./stream-list.ts";

const COLUMNS = "no, kind, id, created_at, updated_at, last_sequence, last_native, open_since, state";
const CHECKSUMS = "key_checksum, row_checksum, state_checksum";

const ALL_PAGE = 500;

export class StreamStore {
  readonly #db: Database;
  readonly #damage: Damage;
  readonly #insert: Statement;
  readonly #update: Statement;
  readonly #setState: Statement;
  readonly #state: Statement;
  readonly #find: Statement;
  readonly #page: Statement;
  readonly #markDeleted: Statement;
  readonly #remove: Statement;
  readonly #deleted: Statement;
  readonly #list: StreamList;

  constructor(db: Database, damage: Damage) {
    this.#db = db;
    this.#damage = damage;
    this.#list = new StreamList(db, `${COLUMNS}, ${CHECKSUMS}`);
    this.#insert = db.prepare(`INSERT INTO streams (${COLUMNS}, ${CHECKSUMS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#update = db.prepare(
      "UPDATE streams SET updated_at = ?, last_sequence = ?, last_native = ?, open_since = ?, row_checksum = ? WHERE no = ?",
    );
    this.#setState = db.prepare("UPDATE streams SET state = ?, state_checksum = ? WHERE no = ?");
    this.#state = db.prepare("SELECT state, state_checksum FROM streams WHERE no = ?");
    this.#find = db.prepare(`SELECT ${COLUMNS}, ${CHECKSUMS} FROM streams WHERE kind = ? AND id = ?`);
    this.#page = db.prepare(`SELECT ${COLUMNS}, ${CHECKSUMS} FROM streams WHERE deleted = 0 AND no > ? ORDER BY no LIMIT ?`);
    this.#markDeleted = db.prepare(
      "UPDATE streams SET deleted = 1, id = NULL, state = '', open_since = NULL, key_checksum = ?, row_checksum = NULL, state_checksum = ? WHERE no = ?",
    );
    this.#remove = db.prepare("DELETE FROM streams WHERE no = ?");
    this.#deleted = db.prepare("SELECT no, kind FROM streams WHERE deleted = 1");
  }

  insert(row: NumberedRow): void {
    const { no, kind, id, created_at, updated_at, last_sequence, last_native, open_since, state } = row;
    const checksums = [keyChecksum(no, kind, id, 0), numbersChecksum(row), checksumOf(no, state)];
    this.#insert.run(no, kind, id, created_at, updated_at, last_sequence, last_native, open_since, state, ...checksums);
  }

  /** All but the state. */
  update(row: Omit<NumberedRow, "state">): void {
    const { no, updated_at, last_sequence, last_native, open_since } = row;
    this.#update.run(updated_at, last_sequence, last_native, open_since, numbersChecksum(row), no);
  }

  setState(no: number, state: string): void {
    this.#setState.run(state, checksumOf(no, state), no);
  }

  state(stream: { no: number; kind: StreamKind; id: string }): string {
    const row = this.#state.get(stream.no);
    if (row === undefined) return "";
    const state = text(row, "state");
    if (!matches(row, "state_checksum", checksumOf(stream.no, state))) throw this.#damage.found("The state", stream);
    return state;
  }

  /** Throws `corrupt_chunk` when its row is damaged. */
  find(kind: StreamKind, id: string): NumberedRow | undefined {
    const row = this.#damage.guard("The row", { no: 0, kind, id }, () => this.#find.get(kind, id));
    if (row === undefined) return undefined;
    if (!isIntact(row)) throw this.#damage.found("The row", { no: int(row, "no"), kind, id });
    return numberedRow(row);
  }

  /** Its number, whatever the state of its row: what is damaged can still be removed. */
  numberOf(kind: StreamKind, id: string): number | undefined {
    const row = this.#find.get(kind, id);
    return row === undefined ? undefined : int(row, "no");
  }

  /** All that are not deleted and whose rows are intact, in pages. */
  *all(): Generator<NumberedRow> {
    for (let after = 0; ; ) {
      const rows = this.#page.all(after, ALL_PAGE);
      for (const row of rows) {
        after = int(row, "no");
        if (isIntact(row)) yield numberedRow(row);
      }
      if (rows.length < ALL_PAGE) return;
    }
  }

  /** The highest number ever given: numbers do not come back, so rows of a deleted stream are never taken for a new one's. */
  lastNo(): number {
    const row = this.#db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'streams'").get();
    return row === undefined ? 0 : int(row, "seq");
  }

  markDeleted(no: number, kind: StreamKind): void {
    this.#markDeleted.run(keyChecksum(no, kind, null, 1), checksumOf(no, ""), no);
  }

  remove(no: number): void {
    this.#remove.run(no);
  }

  deleted(): { no: number; kind: StreamKind }[] {
    return this.#deleted.all().map((row) => ({ no: int(row, "no"), kind: word<StreamKind>(row, "kind") }));
  }

  /** `hidden`: numbers of streams that are deleted, but perhaps not yet here. */
  list(kind: StreamKind, options: ListOptions, hidden: ReadonlySet<number>): StreamPage {
    const limit = Math.max(1, options.limit ?? 50);
    const rows = this.#damage.guard(`The list of ${kind}s`, undefined, () => this.#list.rows(kind, options, limit));
    const last = rows.slice(0, limit).at(-1);
    const next = rows.length > limit && last !== undefined ? this.#list.next(last, options.order) : null;
    const shown = rows.slice(0, limit).filter((row) => !hidden.has(int(row, "no")));
    const damaged = shown.filter((row) => !isIntact(row)).map((row) => ({ no: int(row, "no"), kind, id: text(row, "id") }));
    for (const stream of damaged) this.#damage.found("The row", stream);
    return { streams: shown.filter(isIntact).map(streamRow), damaged: damaged.map(({ id }) => id), next };
  }
}

export const keyChecksum = (no: number, kind: string, id: string | null, deleted: number): number =>
  checksumOf(no, kind, id, deleted);

type Numbers = Pick<NumberedRow, "no" | "created_at" | "updated_at" | "last_sequence" | "last_native" | "open_since">;

const numbersChecksum = ({ no, created_at, updated_at, last_sequence, last_native, open_since }: Numbers): number =>
  checksumOf(no, created_at, updated_at, last_sequence, last_native, open_since);

/** Numbers and state; whether the key is right is checked when the log is opened. */
export function isIntact(row: SqlRow): boolean {
  const values = ["created_at", "updated_at", "last_sequence", "last_native", "open_since"].map((name) => row[name]);
  if (values.some((value) => typeof value !== "number" && value !== null) || typeof row.state !== "string") return false;
  const no = int(row, "no");
  const numbers = checksumOf(no, ...values.map((value) => (value === null ? null : Number(value))));
  return matches(row, "row_checksum", numbers) && matches(row, "state_checksum", checksumOf(no, row.state));
}

const streamRow = (row: SqlRow): StreamRow => withoutNumber(numberedRow(row));
