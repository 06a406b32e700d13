/**
 * Reads ranges of a stream's events in bounded pages. A row that does not match its checksums, and a row that is missing, are refused: what is returned is what
 * was written, without a gap.
 */
import type { ReadOptions, ReadPage } from "../contract.ts";
import { deleted } from "../entry-errors.ts";
import type { LogError } from "../log-error.ts";
import { EventBatch } from "../packing/batch.ts";
import { unsealed } from "../packing/checksum.ts";
import type { Damage, StreamName } from "../packing/damage.ts";
import { CHUNK_CHARS, CHUNK_EVENTS, type CheckedRow, checkedRow, ENVELOPE, merge } from "../packing/event-chunk.ts";
import { emptyPage, isWhole, missing, mustFollow, nextOf, type Range, takeRow } from "../packing/page.ts";
import { int, type SqlRow, text } from "../packing/row-readers.ts";
import { someWord } from "../packing/run-length.ts";
import { textArray } from "./attempt.ts";
import type { Database } from "./connection.ts";
import { toLogError } from "./errors.ts";
import { chunkOf } from "./place.ts";

/** Rows of one question, and how many questions a read with `types` asks before it returns what it has. */
const ROWS = 1000;
const SCANS = 20;

const COLUMNS = "stream, first, last, types, natives, body, checksum";
/** Up to here a stream was packed: see `sealing.ts`. */
const SEALED = "(SELECT coalesce(max(z.last), 0) FROM dragoman.sealed_chunks z WHERE z.stream = $1)";

export class EventStore {
  readonly #database: Database;
  readonly #damage: Damage;

  constructor(database: Database, damage: Damage) {
    this.#database = database;
    this.#damage = damage;
  }

  /** The next run of whole chunks behind `after`, merged into one batch of about a chunk's size. Call it only when there is more. */
  async nextBatch(stream: StreamName, after: number, last: number): Promise<EventBatch> {
    const range = { after, before: last + 1, limit: CHUNK_EVENTS, maxBytes: CHUNK_CHARS };
    const rows = (await this.#rows(stream, range, false, null)).map((row) => checkedRow(row, stream, this.#damage));
    let end = after;
    const taken: CheckedRow[] = [];
    for (const row of rows) {
      if (row.first > end + 1) throw await this.#missing(stream, end + 1);
      // All of a batch is one object for who gets it: not much more than a chunk's worth.
      if (taken.length > 0 && row.last - after > CHUNK_EVENTS) break;
      taken.push(row);
      end = row.last;
    }
    const [one] = taken;
    if (one === undefined) throw await this.#missing(stream, after + 1);
    return new EventBatch(stream, one.first, end, merge(taken)).tail(after);
  }

  /** Of the chunk that holds this event, in the order of all commits. */
  async chunkOf(stream: StreamName, sequence: number): Promise<bigint> {
    const { rows } = await this.#query(
      "SELECT xid::text AS xid, ordinal FROM dragoman.event_chunks WHERE stream = $1 AND last >= $2 ORDER BY last LIMIT 1",
      [stream.no, sequence],
    );
    if (rows[0] === undefined) throw await this.#missing(stream, sequence);
    return chunkOf({ xid: BigInt(text(rows[0], "xid")), ordinal: BigInt(int(rows[0], "ordinal")) });
  }

  /** Another process removes the stream while it is read here; if none does, the history is damaged. */
  async #missing(stream: StreamName, sequence: number): Promise<LogError> {
    const { rows } = await this.#query("SELECT 1 FROM dragoman.streams WHERE no = $1 AND NOT deleted", [stream.no]);
    return rows.length === 0 ? deleted(stream) : missing(this.#damage, stream, sequence);
  }

  async read(stream: StreamName, last: number, options: ReadOptions): Promise<ReadPage> {
    const { page, range, reverse } = emptyPage(last, options);
    if (range.after + 1 >= range.before) return page;
    if (options.types === undefined) await this.#readAll(stream, range, reverse, page);
    else await this.#readTypes(stream, range, reverse, options.types, page);
    page.has_more = !isWhole(page, range, reverse);
    return page;
  }

  /** Rows of few events come in several questions; each goes on where the page stands. */
  async #readAll(stream: StreamName, range: Range, reverse: boolean, page: ReadPage): Promise<void> {
    let bytes = 0;
    for (;;) {
      const left = { ...range, limit: range.limit - page.events.length, maxBytes: range.maxBytes - bytes };
      const rows = await this.#rows(
        stream,
        reverse ? { ...left, before: page.next } : { ...left, after: page.next },
        reverse,
        null,
      );
      if (rows.length === 0) throw missing(this.#damage, stream, nextOf(page, reverse));
      for (const row of rows) {
        bytes += sizeOf(row);
        if (!takeRow(page, row, { stream, range, reverse, types: undefined }, this.#damage)) return;
      }
      if (isWhole(page, range, reverse) || rows.length < ROWS) return;
    }
  }

  async #readTypes(stream: StreamName, range: Range, reverse: boolean, types: readonly string[], page: ReadPage): Promise<void> {
    const words = new Set(types);
    let bytes = 0;
    for (let scans = 0; scans < SCANS; scans++) {
      const left = { ...range, limit: Number.MAX_SAFE_INTEGER, maxBytes: range.maxBytes - bytes };
      const rows = await this.#rows(
        stream,
        reverse ? { ...left, before: page.next } : { ...left, after: page.next },
        reverse,
        types,
      );
      if (rows.length === 0) throw missing(this.#damage, stream, nextOf(page, reverse));
      for (const row of rows) {
        mustFollow(page, { first: int(row, "first"), last: int(row, "last") }, { stream, reverse }, this.#damage);
        if (row.body === null || !someWord(unsealed(text(row, "types")).text, words)) {
          page.next = reverse ? Math.max(int(row, "first"), range.after + 1) : Math.min(int(row, "last"), range.before - 1);
          continue;
        }
        bytes += sizeOf(row);
        if (!takeRow(page, row, { stream, range, reverse, types: words }, this.#damage)) return;
      }
      if (isWhole(page, range, reverse) || rows.length < ROWS) return;
    }
  }

  /**
   * Rows of a range, as many as its limits allow and at least one, in the order that is asked for. With `types`, rows that have none of them come without
   * their bodies: they are only passed over.
   */
  async #rows(stream: StreamName, range: Range, reverse: boolean, types: readonly string[] | null): Promise<SqlRow[]> {
    const { after, before, limit, maxBytes } = range;
    // A chunk holds at most so many events: one that reaches beyond the range ends soon behind it.
    const [low, high] = reverse ? [Math.max(after, before - 1 - limit), before + CHUNK_EVENTS] : [after, before + CHUNK_EVENTS];
    const most = reverse ? before : Math.min(before, after + 1 + limit);
    const hit = types === null ? "true" : "EXISTS (SELECT 1 FROM unnest($6::text[]) w WHERE position(w IN types) > 0)";
    const order = reverse ? "last DESC" : "last";
    const { rows } = await this.#query(
      `SELECT stream, first, last, types, natives, CASE WHEN hit THEN body END AS body, checksum FROM (
         SELECT *, sum(size) OVER (ORDER BY ${order}) - size AS so_far FROM (
           SELECT *, CASE WHEN hit THEN octet_length(body) + ${ENVELOPE} * (last - first + 1) ELSE 0 END AS size FROM (
             SELECT *, ${hit} AS hit FROM (
               (SELECT ${COLUMNS} FROM dragoman.sealed_chunks WHERE stream = $1 AND last > $2 AND last < $3 AND first < $4 ORDER BY ${order} LIMIT ${ROWS})
               UNION ALL
               (SELECT ${COLUMNS} FROM dragoman.event_chunks WHERE stream = $1 AND last > greatest($2, ${SEALED}) AND last < $3 AND first < $4
                ORDER BY ${order} LIMIT ${ROWS})) both_tables ORDER BY ${order} LIMIT ${ROWS}) chosen) sized) summed
       WHERE so_far = 0 OR so_far + size <= $5 ORDER BY ${order}`,
      [stream.no, low, high, most, maxBytes, ...(types === null ? [] : [textArray(types)])],
    );
    return rows;
  }

  async #query(sql: string, values: readonly (string | number)[]): Promise<{ rows: SqlRow[] }> {
    try {
      return await this.#database.query(sql, values);
    } catch (error) {
      throw toLogError(error, "Reading the log");
    }
  }
}

const sizeOf = (row: SqlRow): number =>
  (row.body instanceof Uint8Array ? row.body.length : 0) + ENVELOPE * (int(row, "last") - int(row, "first") + 1);
