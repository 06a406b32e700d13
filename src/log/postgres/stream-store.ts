/** The table of streams: what must be known of one without reading its events, and lists of them in pages. */

import { LIST_FIELDS, type ListOptions, type StreamKind, type StreamPage } from "../contract.ts";
import { fenced } from "../entry-errors.ts";
import { int, type SqlRow } from "../packing/row-readers.ts";
import { type NumberedRow, numberedRow, withoutNumber } from "../packing/stream-row.ts";
import { textArray } from "./attempt.ts";
import type { Database, SqlParameter } from "./connection.ts";
import { toLogError } from "./errors.ts";
import { plain } from "./write-set.ts";

const COLUMNS =
  "s.no, s.kind, s.id, s.created_at, s.updated_at, s.last_sequence, s.last_native, s.open_since, coalesce(t.state, '') AS state";
const FROM = "dragoman.streams s LEFT JOIN dragoman.stream_states t ON t.no = s.no";

export class StreamStore {
  readonly #database: Database;
  readonly #tenant: string;
  /** Who takes writers here; null where nobody owns streams. */
  readonly #node: string | null;

  constructor(database: Database, tenant: string, node: string | null) {
    this.#database = database;
    this.#tenant = tenant;
    this.#node = node;
  }

  async find(kind: StreamKind, id: string): Promise<NumberedRow | undefined> {
    const rows = await this.#query(`SELECT ${COLUMNS} FROM ${FROM} WHERE s.tenant = $1 AND s.kind = $2 AND s.id = $3`, [
      this.#tenant,
      kind,
      plain(id),
    ]);
    return rows[0] && numberedRow(rows[0]);
  }

  /** A number for a new stream; undefined when there is one of this name. */
  async reserve(kind: StreamKind, id: string): Promise<number | undefined> {
    const rows = await this.#query(
      `SELECT nextval('dragoman.stream_numbers') AS no
       WHERE NOT EXISTS (SELECT 1 FROM dragoman.streams WHERE tenant = $1 AND kind = $2 AND id = $3)`,
      [this.#tenant, kind, plain(id)],
    );
    return rows[0] && int(rows[0], "no");
  }

  /**
   * The next epoch, or that of the owner: from its commit on, whoever had the writer before is refused. Rejects with `fenced` when another node owns the
   * stream, or an owner was chosen after this one.
   */
  async takeWriter(kind: StreamKind, id: string, epoch: number | null): Promise<{ row: NumberedRow; epoch: number } | undefined> {
    const values = [this.#tenant, kind, plain(id), this.#node, epoch];
    const rows = await this.#query(
      `WITH taken AS (
         UPDATE dragoman.streams SET epoch = coalesce($5::bigint, epoch + 1)
         WHERE tenant = $1 AND kind = $2 AND id = $3 AND ($4::text IS NULL OR owner IS NULL OR owner = $4) AND ($5::bigint IS NULL OR epoch <= $5) RETURNING *)
       SELECT ${COLUMNS}, s.epoch FROM taken s LEFT JOIN dragoman.stream_states t ON t.no = s.no`,
      values,
    );
    if (rows[0] !== undefined) return { row: numberedRow(rows[0]), epoch: int(rows[0], "epoch") };
    if ((await this.find(kind, id)) === undefined) return undefined;
    throw fenced({ kind, id });
  }

  /** How far these streams have come. */
  async progress(
    numbers: readonly number[],
  ): Promise<Map<number, Pick<NumberedRow, "last_sequence" | "last_native" | "updated_at">>> {
    const rows = await this.#query(
      "SELECT no, last_sequence, last_native, updated_at FROM dragoman.streams WHERE no = ANY($1::bigint[]) AND NOT deleted",
      [`{${numbers.join(",")}}`],
    );
    return new Map(
      rows.map((row) => [
        int(row, "no"),
        { last_sequence: int(row, "last_sequence"), last_native: int(row, "last_native"), updated_at: int(row, "updated_at") },
      ]),
    );
  }

  /** Newest first. An order that changes with every commit has an index by the minute; the rest of it is sorted. */
  async list(kind: StreamKind, options: ListOptions): Promise<StreamPage> {
    const limit = Math.max(1, options.limit ?? 50);
    const values: SqlParameter[] = [this.#tenant, kind];
    const wheres = ["s.tenant = $1", "s.kind = $2", "NOT s.deleted"];
    const add = (sql: (name: string) => string, value: SqlParameter): void => {
      values.push(value);
      wheres.push(sql(`$${values.length}`));
    };
    for (const field of LIST_FIELDS) {
      const value = options.where?.[field];
      if (value !== undefined) add((name) => `t.${field} = ${name}`, plain(value));
    }
    if (options.ids) add((name) => `s.id = ANY(${name}::text[])`, textArray(options.ids.map(plain)));
    if (options.onlyOpen) wheres.push("s.open_since IS NOT NULL");
    if (options.tag !== undefined) add((name) => `t.tags <> '{}' AND t.tags @> ${name}::text[]`, textArray([plain(options.tag)]));
    if (options.archived !== undefined) add((name) => `t.archived = ${name}`, options.archived);
    if (options.pinned !== undefined) add((name) => `t.pinned = ${name}`, options.pinned);
    const updated = options.order === "updated";
    const time = updated ? "s.updated_at" : "s.created_at";
    const place = /^(\d+)\.(\d+)$/.exec(options.before ?? "");
    if (place) {
      if (updated) add((name) => `s.updated_minute <= ${name}`, Math.floor(Number(place[1]) / 60_000));
      values.push(Number(place[1]), Number(place[2]));
      wheres.push(`(${time}, s.no) < ($${values.length - 1}, $${values.length})`);
    }
    const order = updated ? "s.updated_minute DESC, s.updated_at DESC, s.no DESC" : "s.created_at DESC, s.no DESC";
    const rows = await this.#query(
      `SELECT ${COLUMNS} FROM ${FROM} WHERE ${wheres.join(" AND ")} ORDER BY ${order} LIMIT ${limit + 1}`,
      values,
    );
    const shown = rows.slice(0, limit).map(numberedRow);
    const last = shown.at(-1);
    const next = rows.length > limit && last ? `${updated ? last.updated_at : last.created_at}.${last.no}` : null;
    return { streams: shown.map(withoutNumber), damaged: [], next };
  }

  async #query(sql: string, values: readonly SqlParameter[]): Promise<SqlRow[]> {
    try {
      return (await this.#database.query(sql, values)).rows;
    } catch (error) {
      throw toLogError(error, "Reading the list of streams");
    }
  }
}
