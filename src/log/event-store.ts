/**
 * The table of event chunks: writes the chunks of a tick, reads ranges of a stream in bounded pages. It knows rows, not who waits for them.
 */
import { EventBatch, type StoredEvents } from "./batch.ts";
import { blob, int, text } from "./columns.ts";
import type { ReadOptions, ReadPage } from "./contract.ts";
import type { Database, SqlRow, Statement } from "./driver.ts";
import { eventsOf } from "./frames.ts";
import { PackedEvents } from "./packed-events.ts";
import { NumberRuns, numbersOf, someWord, WordRuns, wordsOf } from "./runs.ts";

export const CHUNK_EVENTS = 1000;
export const CHUNK_CHARS = 512 * 1024;
const PAGE_BYTES = 8 * 1024 * 1024;
/** Rows that one read with `types` looks at before it returns what it has. */
const SCAN_ROWS = 20_000;
const HEADS = 1000;
const FEW_HEADS = 24;
const MAX_HEADS = 10_000;
/** Bytes of an event that its row may not hold, about. */
const ENVELOPE = 320;

/** Events of one stream that wait for their commit. Becomes one row, then one batch. */
export type PendingChunk = {
  first: number;
  events: PackedEvents;
  types: WordRuns;
  natives: NumberRuns;
  /** As it was written last. */
  position: number;
  body: Buffer;
};

export function pendingChunk(first: number): PendingChunk {
  return {
    first,
    events: new PackedEvents(first),
    types: new WordRuns(),
    natives: new NumberRuns(),
    position: 0,
    body: Buffer.alloc(0),
  };
}

/** What was written of it, for those who follow. */
export const writtenOf = ({ types, natives, events, body, first }: PendingChunk): StoredEvents => ({
  types: types.toString(),
  natives: natives.toString(),
  size: events.chars,
  frames: () => events.frames(),
  framesLater: framesFrom(body, first),
});

/** A function of its own: closures of one scope keep alive what any of them uses. */
const framesFrom = (body: Buffer, first: number) => (): Buffer => PackedEvents.read(body, first).frames();

export type Head = { position: number; first: number; last: number; types: string; bytes: number };
export type GlobalRow = { position: number; streamId: string; batch: EventBatch };

type Range = { after: number; before: number; limit: number; maxBytes: number };

export class EventStore {
  readonly #insert: Statement;
  readonly #headsUp: Statement;
  readonly #headsDown: Statement;
  readonly #chunkOf: Statement;
  readonly #rowsUp: Statement;
  readonly #rowsDown: Statement;
  readonly #row: Statement;
  readonly #global: Statement;
  readonly #lastPosition: Statement;
  readonly #purge: Statement;

  constructor(db: Database) {
    const heads =
      "SELECT position, first, last, iif(?, types, '') AS types, length(body) AS bytes FROM event_chunks WHERE stream = ?";
    const rows = "SELECT first, last, types, natives, body FROM event_chunks";
    this.#insert = db.prepare("INSERT INTO event_chunks (stream, first, last, types, natives, body) VALUES (?, ?, ?, ?, ?, ?)");
    this.#headsUp = db.prepare(`${heads} AND last > ? ORDER BY last LIMIT ?`);
    this.#headsDown = db.prepare(`${heads} AND last <= ? ORDER BY last DESC LIMIT ?`);
    this.#chunkOf = db.prepare("SELECT min(last) AS last FROM event_chunks WHERE stream = ? AND last >= ?");
    this.#rowsUp = db.prepare(`${rows} WHERE stream = ? AND last BETWEEN ? AND ? ORDER BY last`);
    this.#rowsDown = db.prepare(`${rows} WHERE stream = ? AND last BETWEEN ? AND ? ORDER BY last DESC`);
    this.#row = db.prepare(`${rows} WHERE position = ?`);
    this.#global = db.prepare(`
      SELECT e.position, s.id, e.first, e.last, e.types, e.natives, e.body FROM event_chunks e JOIN streams s ON s.no = e.stream
      WHERE e.position >= ? AND s.kind = 'session' AND s.deleted = 0 ORDER BY e.position LIMIT ?`);
    this.#lastPosition = db.prepare("SELECT max(position) AS position FROM event_chunks");
    this.#purge = db.prepare(
      "DELETE FROM event_chunks WHERE position IN (SELECT position FROM event_chunks WHERE stream = ? LIMIT ?)",
    );
  }

  insert(stream: number, chunk: PendingChunk): void {
    const { first, types, natives, events } = chunk;
    chunk.body = events.body();
    const done = this.#insert.run(stream, first, first + events.count - 1, types.toString(), natives.toString(), chunk.body);
    chunk.position = Number(done.lastInsertRowid);
  }

  /** The next run of whole chunks behind `after`, merged into one batch of about a chunk's size. */
  nextBatch(stream: number, streamId: string, after: number): EventBatch | undefined {
    const taken = this.#fitting(
      stream,
      { after, before: Number.POSITIVE_INFINITY, limit: CHUNK_EVENTS, maxBytes: CHUNK_CHARS },
      false,
    );
    const [firstHead, lastHead] = [taken[0], taken.at(-1)];
    if (firstHead === undefined || lastHead === undefined) return undefined;
    const rows = this.#rowsUp.all(stream, firstHead.last, lastHead.last);
    return new EventBatch(streamId, firstHead.first, lastHead.last, merge(rows)).tail(after);
  }

  /** Chunks of sessions from this position on. */
  globalRows(position: number, limit: number): GlobalRow[] {
    return this.#global.all(position, limit).map((row) => {
      const streamId = text(row, "id");
      return {
        position: int(row, "position"),
        streamId,
        batch: new EventBatch(streamId, int(row, "first"), int(row, "last"), storedOf(row)),
      };
    });
  }

  lastPosition(): number {
    const row = this.#lastPosition.get();
    return row === undefined || row.position === null ? 0 : int(row, "position");
  }

  /** Removes up to `limit` chunks; how many there were. */
  purge(stream: number, limit: number): number {
    return Number(this.#purge.run(stream, limit).changes);
  }

  read(stream: number, last: number, options: ReadOptions): ReadPage {
    const range: Range = {
      after: Math.max(0, options.after ?? 0),
      before: Math.min(options.before ?? Number.POSITIVE_INFINITY, last + 1),
      limit: Math.max(1, options.limit ?? 1000),
      maxBytes: options.maxBytes ?? PAGE_BYTES,
    };
    const reverse = options.reverse === true;
    const page: ReadPage = {
      events: [],
      sequences: [],
      types: [],
      natives: [],
      next: reverse ? range.before : range.after,
      last,
      has_more: false,
    };
    if (range.after + 1 >= range.before) return page;
    if (options.types === undefined) this.#readAll(stream, range, reverse, page);
    else this.#readTypes(stream, range, reverse, new Set(options.types), page);
    page.has_more = reverse ? page.next > range.after + 1 : page.next < range.before - 1;
    return page;
  }

  #readAll(stream: number, range: Range, reverse: boolean, page: ReadPage): void {
    const heads = this.#fitting(stream, range, reverse);
    const [one, other] = [heads[0], heads.at(-1)];
    if (one === undefined || other === undefined) return;
    const rows = reverse ? this.#rowsDown.all(stream, other.last, one.last) : this.#rowsUp.all(stream, one.last, other.last);
    for (const row of rows) take(page, row, range, reverse, undefined);
  }

  #readTypes(stream: number, range: Range, reverse: boolean, types: ReadonlySet<string>, page: ReadPage): void {
    let bytes = 0;
    for (let scanned = 0; scanned < SCAN_ROWS; scanned += HEADS) {
      const from: Range = reverse ? { ...range, before: page.next } : { ...range, after: page.next };
      const heads = this.#headsFrom(stream, from, reverse, HEADS, true);
      for (const head of heads) {
        if (reverse ? head.last <= range.after : head.first >= range.before) return;
        if (!someWord(head.types, types)) {
          page.next = reverse ? Math.max(head.first, range.after + 1) : Math.min(head.last, range.before - 1);
          continue;
        }
        bytes += head.bytes;
        if (page.events.length > 0 && bytes > range.maxBytes) return;
        const row = this.#row.get(head.position);
        if (row === undefined || !take(page, row, range, reverse, types)) return;
      }
      if (heads.length < HEADS) return;
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

  #heads(statement: Statement, stream: number, bound: number, limit: number, types: boolean): Head[] {
    return statement.all(types ? 1 : 0, stream, bound, limit).map((row) => ({
      position: int(row, "position"),
      first: int(row, "first"),
      last: int(row, "last"),
      types: text(row, "types"),
      bytes: int(row, "bytes") + ENVELOPE * (int(row, "last") - int(row, "first") + 1),
    }));
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

/** Adds what is wanted of one row to the page; false when the page is full. */
function take(page: ReadPage, row: SqlRow, range: Range, reverse: boolean, types: ReadonlySet<string> | undefined): boolean {
  const first = int(row, "first");
  const from = Math.max(first, reverse ? range.after + 1 : page.next + 1);
  const to = Math.min(int(row, "last"), reverse ? page.next - 1 : range.before - 1);
  const stored = storedOf(row);
  const events = eventsOf(stored.frames());
  const kinds = wordsOf(stored.types);
  const natives = numbersOf(stored.natives);
  for (let sequence = reverse ? to : from; reverse ? sequence >= from : sequence <= to; sequence += reverse ? -1 : 1) {
    if (page.events.length >= range.limit) return false;
    const index = sequence - first;
    const [event, type] = [events[index], kinds[index]];
    page.next = sequence;
    if (event === undefined || type === undefined || types?.has(type) === false) continue;
    page.events.push(event);
    page.sequences.push(sequence);
    page.types.push(type);
    page.natives.push(natives[index] ?? null);
  }
  return page.events.length < range.limit;
}

function merge(rows: SqlRow[]): StoredEvents {
  const parts = rows.map(storedOf);
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  return {
    types: parts.map((part) => part.types).join(" "),
    natives: parts.map((part) => part.natives).join(","),
    size: parts.reduce((sum, part) => sum + part.size, 0),
    frames: () => Buffer.concat(parts.map((part) => part.frames())),
  };
}

function storedOf(row: SqlRow): StoredEvents {
  const [body, first] = [blob(row, "body"), int(row, "first")];
  return {
    types: text(row, "types"),
    natives: text(row, "natives"),
    size: body.length + ENVELOPE * (int(row, "last") - first + 1),
    frames: framesFrom(body, first),
  };
}
