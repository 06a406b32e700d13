/**
 * The native ledger: every message of an agent, verbatim, both ways, with its disposition; and the counts that make coverage cheap.
 */
import { blob, int, text, word } from "./columns.ts";
import type { CoverageRow, Disposition, NativeDirection, NativeEntry, NativePage, NativeRow } from "./contract.ts";
import type { Database, SqlRow, Statement } from "./driver.ts";

const CHUNK_MESSAGES = 1000;
const CHUNK_BYTES = 512 * 1024;
const PAGE_BYTES = 8 * 1024 * 1024;
/** An agent that invents types must not grow the table without bound. */
const MAX_TYPES = 2000;
export const OTHER_TYPES = "(other)";

type HeadEntry = [dir: NativeDirection, t_ms: number, type: string, disposition: Disposition, length: number];
type Counts = Map<string, Map<Disposition, number>>;

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

  /** Writes messages `first`, `first` + 1, … as a few rows. */
  insert(stream: number, first: number, entries: readonly NativeEntry[]): void {
    let head: HeadEntry[] = [];
    let parts: Buffer[] = [];
    let bytes = 0;
    const write = (next: number) => {
      this.#insert.run(stream, next - head.length, next - 1, JSON.stringify(head), Buffer.concat(parts, bytes));
      [head, parts, bytes] = [[], [], 0];
    };
    entries.forEach((entry, index) => {
      const raw = typeof entry.raw === "string" ? Buffer.from(entry.raw, "utf8") : entry.raw;
      if (head.length > 0 && (head.length >= CHUNK_MESSAGES || bytes + raw.length > CHUNK_BYTES)) write(first + index);
      head.push([entry.dir, entry.t_ms, entry.type, entry.disposition, raw.length]);
      parts.push(raw);
      bytes += raw.length;
    });
    if (head.length > 0) write(first + entries.length);
  }

  /** `known`: the types counted so far, loaded on first use, owned by the stream. */
  count(stream: number, known: Set<string>, entries: readonly NativeEntry[]): void {
    const counts: Counts = new Map();
    for (const entry of entries) {
      const type = known.has(entry.type) || known.size < MAX_TYPES ? entry.type : OTHER_TYPES;
      known.add(type);
      const byDisposition = counts.get(type) ?? new Map<Disposition, number>();
      counts.set(type, byDisposition);
      byDisposition.set(entry.disposition, (byDisposition.get(entry.disposition) ?? 0) + 1);
    }
    for (const [type, byDisposition] of counts) {
      for (const [disposition, count] of byDisposition) this.#count.run(stream, type, disposition, count);
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

function decode(row: SqlRow): NativeRow[] {
  const body = blob(row, "body");
  const head: HeadEntry[] = JSON.parse(text(row, "head"));
  const first = int(row, "first");
  let offset = 0;
  return head.map(([dir, t_ms, type, disposition, length], index) => {
    const part = body.subarray(offset, offset + length);
    offset += length;
    return { native_seq: first + index, dir, t_ms, type, disposition, body: part };
  });
}
