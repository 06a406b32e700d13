/**
 * Lists of streams without a scan: by time, and by fields of their state, which is JSON. Each field has an index in order of creation. With several filters the
 * rarest value leads; sorted by the last change, few are sorted and many are met on the way.
 */
import { LIST_FIELDS, type ListField, type ListOptions, type StreamKind } from "../contract.ts";
import { int } from "../packing/row-readers.ts";
import type { Database, SqlRow, SqlValue, Statement } from "./driver.ts";

/** A value that fewer streams have is rare: they are looked at one by one. */
const FEW = 2_000;

/** A state that is no JSON has no fields. The same text as in the index, so that it is used. */
const fieldSql = (name: string): string => `CASE WHEN json_valid(state) THEN json_extract(state, '$.${name}') END`;
const TAGGED = "CASE WHEN json_valid(state) THEN json_array_length(state, '$.tags') END > 0";

/** For the migration that made them. Never change what was released: add a step. */
export const LIST_INDEXES = `
  CREATE INDEX streams_updated ON streams (kind, updated_at, no) WHERE deleted = 0;
  ${LIST_FIELDS.map((name) => `CREATE INDEX streams_${name} ON streams (kind, ${fieldSql(name)}, no) WHERE deleted = 0;`).join("\n  ")}
  CREATE INDEX streams_tagged ON streams (kind, no) WHERE deleted = 0 AND ${TAGGED};
`;

type Place = { at: number; no: number };
const NEWEST: Place = { at: Number.MAX_SAFE_INTEGER, no: Number.MAX_SAFE_INTEGER };

export class StreamList {
  readonly #db: Database;
  readonly #columns: string;
  readonly #statements = new Map<string, Statement>();

  constructor(db: Database, columns: string) {
    this.#db = db;
    this.#columns = columns;
  }

  /** One row more than `limit` when there is more. */
  rows(kind: StreamKind, options: ListOptions, limit: number): SqlRow[] {
    const place = placeOf(options.before);
    const lead = this.#lead(kind, options);
    const filters = filtersOf(options);
    const updated = options.order === "updated";
    const time = updated ? "updated_at" : "created_at";
    // Numbers grow with the time of creation.
    const byNumber = !updated && lead !== null;
    const behind = byNumber ? "no < ?" : `(${time} < ? OR (${time} = ? AND no < ?))`;
    const bounds = byNumber ? [place.no] : [place.at, place.at, place.no];
    // Where many fit, the index of times meets them soon; where few do, they are found by their value and sorted.
    const index = `INDEXED BY ${lead ?? (updated ? "streams_updated" : "streams_created")}`;
    const statement = this.#prepare(
      `SELECT ${this.#columns} FROM streams ${index} WHERE kind = ? AND deleted = 0 AND ${behind}${filters.map(([sql]) => ` AND ${sql}`).join("")}
       ORDER BY ${byNumber ? "no DESC" : `${time} DESC, no DESC`} LIMIT ?`,
    );
    return statement.all(kind, ...bounds, ...filters.flatMap(([, values]) => values), limit + 1);
  }

  next(row: SqlRow, order: ListOptions["order"]): string {
    return `${int(row, order === "updated" ? "updated_at" : "created_at")}.${int(row, "no")}`;
  }

  /** The index to begin with; null: that of the order. */
  #lead(kind: StreamKind, { where = {}, tag, order, onlyOpen }: ListOptions): string | null {
    if (onlyOpen) return "streams_open";
    if (tag !== undefined) return "streams_tagged";
    let [best, fewest]: [string | null, number] = [null, order === "updated" ? FEW : Number.MAX_SAFE_INTEGER];
    for (const [name, value] of Object.entries(where) as [ListField, string][]) {
      const count = this.#count(kind, name, value);
      if (count < fewest) [best, fewest] = [`streams_${name}`, count];
    }
    return best;
  }

  #count(kind: StreamKind, name: ListField, value: string): number {
    const sql = `SELECT count(*) AS count FROM (SELECT 1 FROM streams INDEXED BY streams_${name} WHERE kind = ? AND ${fieldSql(name)} = ? AND deleted = 0 LIMIT ${FEW})`;
    const row = this.#prepare(sql).get(kind, value);
    return row === undefined ? 0 : int(row, "count");
  }

  #prepare(sql: string): Statement {
    const known = this.#statements.get(sql) ?? this.#db.prepare(sql);
    this.#statements.set(sql, known);
    return known;
  }
}

function filtersOf({ ids, where = {}, tag, archived, pinned, onlyOpen }: ListOptions): [string, SqlValue[]][] {
  const filters: [string, SqlValue[]][] = Object.entries(where).map(([name, value]) => [`${fieldSql(name)} = ?`, [value ?? ""]]);
  if (ids) filters.push(["id IN (SELECT value FROM json_each(?))", [JSON.stringify(ids)]]);
  if (onlyOpen) filters.push(["open_since IS NOT NULL", []]);
  if (tag !== undefined) filters.push([`${TAGGED} AND EXISTS (SELECT 1 FROM json_each(state, '$.tags') WHERE value = ?)`, [tag]]);
  if (archived !== undefined) filters.push([`(${fieldSql("archived")} IS 1) = ?`, [archived ? 1 : 0]]);
  if (pinned !== undefined) filters.push([`(${fieldSql("pinned")} IS 1) = ?`, [pinned ? 1 : 0]]);
  return filters;
}

function placeOf(before: string | undefined): Place {
  if (before === undefined) return NEWEST;
  const [at = 0, no = 0] = before.split(".").map(Number);
  return { at: at || 0, no: no || 0 };
}
