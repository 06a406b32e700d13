/**
 * The native ledger: every message of an agent, verbatim, both ways, with its disposition; and the counts that make coverage cheap.
 */
import { blob, int, text, word } from "./columns.ts";
import type { CoverageRow, Disposition, NativePage, NativeRow } from "./contract.ts";
import type { Database, SqlRow, Statement } from "./driver.ts";
import { type NativeChunk, readNativeChunk } from "./native-chunk.ts";

const PAGE_BYTES = 8 * 1024 * 1024;
/** An agent that invents types must not grow the table without bound. */
const MAX_TYPES = 2000;
export const OTHER_TYPES = "(other)";

export class NativeStore {
  readonly #insert: Statement;
  readonly #count: Statement;
  readonly #coverage: Statement;
  readonly #types: Statement;
  readonly #rows: Statement;
  readonly #rowOf: Statement;
  readonly #purge: Statement;
  readonly #purgeCoverage: Statement;

  constructor(db: Database) {
    this.#insert = db.prepare("INSERT INTO native_chunks (stream, first, last, head, body) VALUES (?, ?, ?, ?, ?)");
    this.#count = db.prepare(
      "INSERT INTO coverage (stream, type, disposition, count) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count",
    );
    this.#coverage = db.prepare("SELECT type, disposition, count FROM coverage WHERE stream = ? ORDER BY type, disposition");
    this.#types = db.prepare("SELECT DISTINCT type FROM coverage WHERE stream = ?");
    this.#rows = db.prepare(
      "SELECT first, last, head, body FROM native_chunks WHERE stream = ? AND last > ? ORDER BY last LIMIT ?",
    );
    this.#rowOf = db.prepare(
      "SELECT first, last, head, body FROM native_chunks WHERE stream = ? AND last >= ? ORDER BY last LIMIT 1",
    );
    this.#purge = db.prepare("DELETE FROM native_chunks WHERE id IN (SELECT id FROM native_chunks WHERE stream = ? LIMIT ?)");
    this.#purgeCoverage = db.prepare("DELETE FROM coverage WHERE stream = ?");
  }

  insert(stream: number, chunk: NativeChunk): void {
    this.#insert.run(stream, chunk.first, chunk.last, chunk.head(), chunk.body());
  }

  /** `known`: the types counted so far, loaded on first use, owned by the stream. */
  count(stream: number, known: Set<string>, chunk: NativeChunk): void {
    for (const [type, byDisposition] of chunk.counts()) {
      const counted = known.has(type) || known.size < MAX_TYPES ? type : OTHER_TYPES;
      known.add(counted);
      for (const [disposition, count] of byDisposition) this.#count.run(stream, counted, disposition, count);
    }
  }

  knownTypes(stream: number): Set<string> {
    return new Set(this.#types.all(stream).map((row) => text(row, "type")));
  }

  coverage(stream: number): CoverageRow[] {
    return this.#coverage.all(stream).map((row) => ({
      type: text(row, "type"),
      disposition: word<Disposition>(row, "disposition"),
      count: int(row, "count"),
    }));
  }

  read(stream: number, after: number, limit: number, maxBytes: number = PAGE_BYTES): NativePage {
    const page: NativePage = { messages: [], next: after, has_more: false };
    let bytes = 0;
    for (;;) {
      const rows = this.#rows.all(stream, page.next, 8);
      for (const message of rows.flatMap(decode)) {
        if (message.native_seq <= page.next) continue;
        const full = page.messages.length >= limit || (page.messages.length > 0 && bytes + message.body.length > maxBytes);
        if (full) return { ...page, has_more: true };
        bytes += message.body.length;
        page.messages.push(message);
        page.next = message.native_seq;
      }
      if (rows.length < 8) return page;
    }
  }

  /** The messages with these numbers; a chunk is read once however many of its messages are asked for. */
  pick(stream: number, seqs: Iterable<number>): Map<number, NativeRow> {
    const found = new Map<number, NativeRow>();
    let chunk: Map<number, NativeRow> = new Map();
    let last = 0;
    for (const seq of [...new Set(seqs)].sort((a, b) => a - b)) {
      if (seq > last) {
        const row = this.#rowOf.get(stream, seq);
        if (row === undefined) break;
        last = int(row, "last");
        chunk = new Map(decode(row).map((message) => [message.native_seq, message]));
      }
      const message = chunk.get(seq);
      if (message !== undefined) found.set(seq, message);
    }
    return found;
  }

  purge(stream: number, limit: number): number {
    this.#purgeCoverage.run(stream);
    return Number(this.#purge.run(stream, limit).changes);
  }
}

const decode = (row: SqlRow): NativeRow[] => readNativeChunk(int(row, "first"), text(row, "head"), blob(row, "body"));
