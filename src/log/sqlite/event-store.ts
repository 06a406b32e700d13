/**
 * The table of event chunks: writes the chunks of a tick, reads ranges of a stream in bounded pages. It knows rows, not who waits for them. A row that does
 * not match its checksums, and a row that is missing, are refused: what is returned is what was written, without a gap.
 */

import type { ReadOptions, ReadPage, StreamKind } from "../contract.ts";
import { LogError } from "../log-error.ts";
import { EventBatch } from "../packing/batch.ts";
import { checksumBehind, checksumOf, sealed, unsealed } from "../packing/checksum.ts";
import type { Damage, StreamName } from "../packing/damage.ts";
import { CHUNK_CHARS, CHUNK_EVENTS, checkedRow, ENVELOPE, merge, type PendingChunk } from "../packing/event-chunk.ts";
import { emptyPage, isWhole, missing, mustFollow, nextOf, type Range, takeRow } from "../packing/page.ts";
import { int, text, word } from "../packing/row-readers.ts";
import { someWord } from "../packing/run-length.ts";
import type { Database, Statement } from "./driver.ts";

/** Rows that one read with `types` looks at before it returns what it has. */
const SCAN_ROWS = 20_000;
const HEADS = 1000;
const FEW_HEADS = 24;
const MAX_HEADS = 10_000;

export type Head = { position: number; first: number; last: number; types: string; bytes: number };
export type GlobalRow = { position: number; batch: EventBatch };

export class EventStore {
  readonly #damage: Damage;
  readonly #insert: Statement;
  readonly #headsUp: Statement;
  readonly #headsDown: Statement;
  readonly #chunkOf: Statement;
  readonly #rowsUp: Statement;
  readonly #rowsDown: Statement;
  readonly #row: Statement;
  readonly #withoutLast: Statement;
  readonly #global: Statement;
  readonly #positionOf: Statement;
  readonly #lastPosition: Statement;
  readonly #purge: Statement;

  constructor(db: Database, damage: Damage) {
    this.#damage = damage;
    const heads = `SELECT position, first, last, iif(?, types, '') AS types, iif(?, natives, '') AS natives, length(body) AS bytes
      FROM event_chunks WHERE stream = ?`;
    const rows = "SELECT stream, first, last, types, natives, body, checksum FROM event_chunks";
    this.#insert = db.prepare(
      "INSERT INTO event_chunks (stream, first, last, types, natives, body, checksum) VALUES (?, ?, ?, ?, ?, ?, ?)",
    );
    this.#headsUp = db.prepare(`${heads} AND last > ? ORDER BY last LIMIT ?`);
    this.#headsDown = db.prepare(`${heads} AND last <= ? ORDER BY last DESC LIMIT ?`);
    this.#chunkOf = db.prepare("SELECT min(last) AS last FROM event_chunks WHERE stream = ? AND last >= ?");
    this.#rowsUp = db.prepare(`${rows} WHERE stream = ? AND last BETWEEN ? AND ? ORDER BY last`);
    this.#rowsDown = db.prepare(`${rows} WHERE stream = ? AND last BETWEEN ? AND ? ORDER BY last DESC`);
    this.#row = db.prepare(`${rows} WHERE position = ?`);
    // `first` is not in the index: the row itself must be there.
    this.#withoutLast = db.prepare(`
      SELECT s.no, s.kind, s.id, s.last_sequence FROM streams s LEFT JOIN event_chunks e ON e.stream = s.no AND e.last = s.last_sequence
      WHERE s.no > ? AND s.no <= ? AND s.deleted = 0 AND s.last_sequence > 0 AND e.first IS NULL LIMIT 1`);
    this.#global = db.prepare(`
      SELECT e.position, s.kind, s.id, e.stream, e.first, e.last, e.types, e.natives, e.body, e.checksum
      FROM event_chunks e JOIN streams s ON s.no = e.stream
      WHERE e.position >= ? AND s.deleted = 0 ORDER BY e.position LIMIT ?`);
    this.#positionOf = db.prepare("SELECT position FROM event_chunks WHERE stream = ? AND last >= ? ORDER BY last LIMIT 1");
    this.#lastPosition = db.prepare(`
      SELECT e.position, iif(s.deleted = 0, e.last - e.first + 1, 0) AS events
      FROM event_chunks e LEFT JOIN streams s ON s.no = e.stream ORDER BY e.position DESC LIMIT 1`);
    this.#purge = db.prepare(
      "DELETE FROM event_chunks WHERE position IN (SELECT position FROM event_chunks WHERE stream = ? LIMIT ?)",
    );
  }

  insert(stream: number, chunk: PendingChunk): void {
    const { first, events } = chunk;
    const [last, types, natives] = [first + events.count - 1, chunk.types.toString(), chunk.natives.toString()];
    const checksum = checksumOf(stream, first, last, types, natives);
    chunk.body = events.body();
    const whole = checksumBehind(checksum, chunk.body);
    const done = this.#insert.run(stream, first, last, sealed(types, checksum), natives, chunk.body, whole);
    chunk.position = Number(done.lastInsertRowid);
  }

  /** The next run of whole chunks behind `after`, merged into one batch of about a chunk's size. Call it only when there is more. */
  nextBatch(stream: StreamName, after: number): EventBatch {
    return this.#damage.guard(`What follows event ${after}`, stream, () => {
      const range = { after, before: Number.POSITIVE_INFINITY, limit: CHUNK_EVENTS, maxBytes: CHUNK_CHARS };
      const taken = this.#fitting(stream.no, range, false);
      const [firstHead, lastHead] = [taken[0], taken.at(-1)];
      if (firstHead === undefined || lastHead === undefined) throw missing(this.#damage, stream, after + 1);
      const rows = this.#rowsUp.all(stream.no, firstHead.last, lastHead.last).map((row) => checkedRow(row, stream, this.#damage));
      let end = after;
      for (const { first, last } of rows) {
        if (first > end + 1) throw missing(this.#damage, stream, end + 1);
        end = last;
      }
      const [one] = rows;
      if (one === undefined) throw missing(this.#damage, stream, after + 1);
      return new EventBatch(stream, one.first, end, merge(rows)).tail(after);
    });
  }

  /**
   * Chunks of all streams from this position on. A chunk that is missing between two of its stream is found by the one that follows it; whether the last of
   * each stream is there, `hasLast` says.
   */
  globalRows(position: number, limit: number): GlobalRow[] {
    return this.#damage.guard(`What follows cursor ${position}.0`, undefined, () => {
      const seen = new Set<number>();
      return this.#global.all(position, limit).map((row) => {
        const stream = { no: int(row, "stream"), kind: word<StreamKind>(row, "kind"), id: text(row, "id") };
        const at = int(row, "position");
        const checked = checkedRow(row, stream, this.#damage, `Chunk ${at} (go on behind it with the cursor ${at + 1}.0)`);
        const before = checked.first > 1 ? this.positionOf(stream, checked.first - 1) : undefined;
        if (before !== undefined && before >= position && !seen.has(before))
          throw missing(this.#damage, stream, checked.first - 1);
        seen.add(at);
        return { position: at, batch: new EventBatch(stream, checked.first, checked.last, merge([checked])) };
      });
    });
  }

  /** Of the chunk that holds this event. */
  positionOf(stream: StreamName, sequence: number): number {
    const row = this.#positionOf.get(stream.no, sequence);
    if (row === undefined) throw missing(this.#damage, stream, sequence);
    return int(row, "position");
  }

  /** Throws when the chunk with the last event of one of these streams is not in its place. They are named by their numbers: behind `after`, up to `to`. */
  mustHaveLasts(after: number, to: number): void {
    this.#damage.guard("The last event of a stream", undefined, () => {
      const row = this.#withoutLast.get(after, to);
      if (row === undefined) return;
      const stream = { no: int(row, "no"), kind: word<StreamKind>(row, "kind"), id: text(row, "id") };
      throw missing(this.#damage, stream, int(row, "last_sequence"));
    });
  }

  /** The highest position in use, and how many events of a stream that is still there its chunk holds. */
  lastPosition(): { position: number; events: number } {
    const row = this.#lastPosition.get();
    return row === undefined ? { position: 0, events: 0 } : { position: int(row, "position"), events: int(row, "events") };
  }

  /** Removes up to `limit` chunks; how many there were. */
  purge(stream: number, limit: number): number {
    return Number(this.#purge.run(stream, limit).changes);
  }

  /** Checks the chunks behind `after`, as many as fit. Returns how far it came, null at the end. A stream that is gone is no damage. */
  check(stream: StreamName, last: number, after: number, maxBytes: number): number | null {
    if (after >= last || this.#positionOf.get(stream.no, 1) === undefined) return null;
    return this.#damage.guard(`What follows event ${after}`, stream, () => {
      const range = { after, before: last + 1, limit: Number.MAX_SAFE_INTEGER, maxBytes };
      const heads = this.#fitting(stream.no, range, false);
      let end = after;
      for (const row of this.#rowsUp.all(stream.no, heads[0]?.last ?? 0, heads.at(-1)?.last ?? -1)) {
        const checked = checkedRow(row, stream, this.#damage);
        if (checked.first > end + 1) throw missing(this.#damage, stream, end + 1);
        end = checked.last;
      }
      if (end === after) throw missing(this.#damage, stream, after + 1);
      return end;
    });
  }

  read(stream: StreamName, last: number, options: ReadOptions): ReadPage {
    const { page, range, reverse } = emptyPage(last, options);
    if (range.after + 1 >= range.before) return page;
    const types = options.types === undefined ? undefined : new Set(options.types);
    this.#damage.guard(`What ${reverse ? "precedes" : "follows"} event ${page.next}`, stream, () =>
      types === undefined ? this.#readAll(stream, range, reverse, page) : this.#readTypes(stream, range, reverse, types, page),
    );
    page.has_more = !isWhole(page, range, reverse);
    return page;
  }

  #readAll(stream: StreamName, range: Range, reverse: boolean, page: ReadPage): void {
    const heads = this.#fitting(stream.no, range, reverse);
    const [one, other] = [heads[0], heads.at(-1)];
    if (one === undefined || other === undefined) throw missing(this.#damage, stream, nextOf(page, reverse));
    const rows = reverse
      ? this.#rowsDown.all(stream.no, other.last, one.last)
      : this.#rowsUp.all(stream.no, one.last, other.last);
    for (const row of rows) takeRow(page, row, { stream, range, reverse, types: undefined }, this.#damage);
  }

  #readTypes(stream: StreamName, range: Range, reverse: boolean, types: ReadonlySet<string>, page: ReadPage): void {
    let bytes = 0;
    for (let scanned = 0; scanned < SCAN_ROWS; scanned += HEADS) {
      const from: Range = reverse ? { ...range, before: page.next } : { ...range, after: page.next };
      const heads = this.#headsFrom(stream.no, from, reverse, HEADS, true);
      for (const head of heads) {
        if (reverse ? head.last <= range.after : head.first >= range.before) return;
        mustFollow(page, head, { stream, reverse }, this.#damage);
        if (!someWord(head.types, types)) {
          page.next = reverse ? Math.max(head.first, range.after + 1) : Math.min(head.last, range.before - 1);
          continue;
        }
        bytes += head.bytes;
        if (page.events.length > 0 && bytes > range.maxBytes) return;
        const row = this.#row.get(head.position);
        if (row === undefined) throw missing(this.#damage, stream, head.last);
        if (!takeRow(page, row, { stream, range, reverse, types: types }, this.#damage)) return;
      }
      if (isWhole(page, range, reverse)) return;
      if (heads.length < HEADS) throw missing(this.#damage, stream, nextOf(page, reverse));
    }
  }

  /** The rows of one page. Most often a few are enough; many small ones are looked for only then. */
  #fitting(stream: number, range: Range, reverse: boolean): Head[] {
    const few = within(this.#headsFrom(stream, range, reverse, FEW_HEADS, false), range);
    if (few.length < FEW_HEADS) return few;
    return within(this.#headsFrom(stream, range, reverse, Math.min(range.limit, MAX_HEADS), false), range);
  }

  #headsFrom(stream: number, range: Range, reverse: boolean, limit: number, types: boolean): Head[] {
    if (!reverse) return this.#heads(this.#headsUp, stream, range.after, limit, types);
    const row = this.#chunkOf.get(stream, range.before - 1);
    if (row === undefined || row.last === null) return [];
    return this.#heads(this.#headsDown, stream, int(row, "last"), limit, types);
  }

  /** With `types`, the head is checked, because the events of a row that is passed over are not. */
  #heads(statement: Statement, stream: number, bound: number, limit: number, types: boolean): Head[] {
    return statement.all(types ? 1 : 0, types ? 1 : 0, stream, bound, limit).map((row) => {
      const [first, last] = [int(row, "first"), int(row, "last")];
      const head = unsealed(text(row, "types"));
      if (head.checksum !== null && head.checksum !== checksumOf(stream, first, last, head.text, text(row, "natives")))
        throw new LogError("database_corrupt", `The head of events ${first} to ${last} does not match its checksum.`);
      const bytes = int(row, "bytes") + ENVELOPE * (last - first + 1);
      return { position: int(row, "position"), first, last, types: head.text, bytes };
    });
  }
}

/** As many rows as the limits allow, but at least one. A row counts with its events inside the range. */
function within(heads: Head[], range: Range): Head[] {
  let events = 0;
  let bytes = 0;
  let count = 0;
  for (const head of heads) {
    if (head.last <= range.after || head.first >= range.before) break;
    if (count > 0 && (events >= range.limit || bytes + head.bytes > range.maxBytes)) break;
    events += Math.min(head.last, range.before - 1) - Math.max(head.first, range.after + 1) + 1;
    bytes += head.bytes;
    count++;
  }
  return heads.slice(0, count);
}
