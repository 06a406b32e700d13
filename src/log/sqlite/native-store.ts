/**
 * The native ledger: every message of an agent, verbatim, both ways, with its disposition; and the counts that make coverage cheap. A row that does not
 * match its checksum, and one that is missing, are refused.
 */

import type { CoverageRow, Disposition, NativePage, NativeRow } from "../contract.ts";
import type { LogError } from "../log-error.ts";
import { checksumBehind, checksumOf, matches } from "../packing/checksum.ts";
import type { Damage, StreamName } from "../packing/damage.ts";
import { type NativeChunk, readNativeChunk } from "../packing/native-chunk.ts";
import { blob, int, text, word } from "../packing/row-readers.ts";
import type { Database, SqlRow, Statement } from "./driver.ts";
import { NativeCounts } from "./native-counts.ts";

const PAGE_BYTES = 8 * 1024 * 1024;
/** Stands for a count that was damaged: it never matches, so the count stays refused. */
const NO_CHECKSUM = -1;
const COUNT_COLUMNS = "type, disposition, count, key_checksum, row_checksum";

export class NativeStore {
  readonly #damage: Damage;
  readonly #insert: Statement;
  readonly #count: Statement;
  readonly #coverage: Statement;
  readonly #rows: Statement;
  readonly #rowOf: Statement;
  readonly #purge: Statement;
  readonly #purgeCoverage: Statement;

  constructor(db: Database, damage: Damage) {
    this.#damage = damage;
    const rows = "SELECT first, last, head, body, checksum FROM native_chunks WHERE stream = ?";
    this.#insert = db.prepare("INSERT INTO native_chunks (stream, first, last, head, body, checksum) VALUES (?, ?, ?, ?, ?, ?)");
    this.#count = db.prepare(`INSERT OR REPLACE INTO coverage (stream, ${COUNT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)`);
    this.#coverage = db.prepare(`SELECT ${COUNT_COLUMNS} FROM coverage WHERE stream = ? ORDER BY type, disposition`);
    this.#rows = db.prepare(`${rows} AND last > ? ORDER BY last LIMIT ?`);
    this.#rowOf = db.prepare(`${rows} AND last >= ? ORDER BY last LIMIT 1`);
    this.#purge = db.prepare("DELETE FROM native_chunks WHERE id IN (SELECT id FROM native_chunks WHERE stream = ? LIMIT ?)");
    this.#purgeCoverage = db.prepare("DELETE FROM coverage WHERE stream = ?");
  }

  insert(stream: number, chunk: NativeChunk): void {
    const { first, last } = chunk;
    const [head, body] = [chunk.head(), chunk.body()];
    this.#insert.run(stream, first, last, head, body, chunkChecksum(stream, first, last, head, body));
  }

  /** Writes what these chunks add to the counts. */
  count(stream: number, counts: NativeCounts, chunks: readonly NativeChunk[]): void {
    for (const { type, disposition, count, intact, key } of counts.with(chunks)) {
      const checksum = intact ? checksumOf(stream, type, disposition, count) : NO_CHECKSUM;
      this.#count.run(stream, type, disposition, count, key, checksum);
    }
  }

  /** What was counted so far. Only the stream's one writer has it. */
  counts(stream: number): NativeCounts {
    return new NativeCounts(
      stream,
      this.#coverage.all(stream).map((row) => ({
        // A damaged row must not keep anything from being written.
        type: String(row.type),
        disposition: String(row.disposition) as Disposition,
        count: Number(row.count) || 0,
        intact: isIntact(stream, row),
      })),
    );
  }

  coverage(stream: StreamName): CoverageRow[] {
    return this.#damage.guard("Coverage", stream, () =>
      this.#coverage.all(stream.no).map((row) => {
        if (!isIntact(stream.no, row)) throw this.#damage.found("Coverage", stream);
        return { type: text(row, "type"), disposition: word<Disposition>(row, "disposition"), count: int(row, "count") };
      }),
    );
  }

  /** `end`: number of the last message there is. */
  read(stream: StreamName, end: number, after: number, limit: number, maxBytes: number = PAGE_BYTES): NativePage {
    return this.#damage.guard(`What follows native message ${after}`, stream, () => {
      const page: NativePage = { messages: [], next: after, has_more: false };
      let bytes = 0;
      while (page.next < end) {
        const rows = this.#rows.all(stream.no, page.next, 8);
        if (rows.length === 0) throw this.#missing(stream, page.next + 1);
        for (const row of rows) {
          if (int(row, "first") > page.next + 1) throw this.#missing(stream, page.next + 1);
          for (const message of this.#decode(row, stream)) {
            if (message.native_seq <= page.next) continue;
            const full = page.messages.length >= limit || (page.messages.length > 0 && bytes + message.body.length > maxBytes);
            if (full) return { ...page, has_more: true };
            bytes += message.body.length;
            page.messages.push(message);
            page.next = message.native_seq;
          }
        }
      }
      return page;
    });
  }

  /** Checks the messages behind `after`, as many as fit. Returns how far it came, null at the end. A stream that is gone is no damage. */
  check(stream: StreamName, end: number, after: number, maxBytes: number): number | null {
    if (after >= end || this.#rowOf.get(stream.no, 1) === undefined) return null;
    return this.read(stream, end, after, Number.MAX_SAFE_INTEGER, maxBytes).next;
  }

  /** The messages with these numbers, of those up to `end`; a chunk is read once however many of its messages are asked for. */
  pick(stream: StreamName, end: number, seqs: Iterable<number>): Map<number, NativeRow> {
    return this.#damage.guard("Native messages", stream, () => {
      const found = new Map<number, NativeRow>();
      let chunk: Map<number, NativeRow> = new Map();
      let last = 0;
      for (const seq of [...new Set(seqs)].sort((a, b) => a - b)) {
        if (seq > end) break;
        if (seq > last) {
          const row = this.#rowOf.get(stream.no, seq);
          if (row === undefined) throw this.#missing(stream, seq);
          last = int(row, "last");
          chunk = new Map(this.#decode(row, stream).map((message) => [message.native_seq, message]));
        }
        const message = chunk.get(seq);
        if (message === undefined) throw this.#missing(stream, seq);
        found.set(seq, message);
      }
      return found;
    });
  }

  #decode(row: SqlRow, stream: StreamName): NativeRow[] {
    const [first, last] = [int(row, "first"), int(row, "last")];
    const [head, body] = [text(row, "head"), blob(row, "body")];
    const place = `Native messages ${first} to ${last}`;
    if (!matches(row, "checksum", chunkChecksum(stream.no, first, last, head, body))) throw this.#damage.found(place, stream);
    const messages = readOrNothing(first, head, body);
    if (messages.length !== last - first + 1) throw this.#damage.found(place, stream);
    return messages;
  }

  #missing(stream: StreamName, seq: number): LogError {
    return this.#damage.found(`Native message ${seq}`, stream);
  }

  purge(stream: number, limit: number): number {
    this.#purgeCoverage.run(stream);
    return Number(this.#purge.run(stream, limit).changes);
  }
}

const chunkChecksum = (stream: number, first: number, last: number, head: string, body: Buffer): number =>
  checksumBehind(checksumOf(stream, first, last, head), body);

const isIntact = (stream: number, row: SqlRow): boolean =>
  matches(row, "row_checksum", checksumOf(stream, String(row.type), String(row.disposition), Number(row.count)));

/** Nothing when the chunk cannot be understood: then its count is wrong. */
function readOrNothing(first: number, head: string, body: Buffer): NativeRow[] {
  try {
    return readNativeChunk(first, head, body);
  } catch {
    return [];
  }
}
