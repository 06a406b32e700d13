/**
 * Reads the native ledger, and adds up its coverage. Counts are kept up to some message; what came behind it is counted from the heads of the chunks, so that
 * a commit writes no counts.
 */
import type { CoverageRow, Disposition, NativePage, NativeRow } from "../contract.ts";
import type { LogError } from "../log-error.ts";
import type { Damage, StreamName } from "../packing/damage.ts";
import { countsOfHead, readNativeChunk } from "../packing/native-chunk.ts";
import { blob, int, type SqlRow, text } from "../packing/row-readers.ts";
import type { Database, SqlParameter } from "./connection.ts";
import { toLogError } from "./errors.ts";
import { nativeChecksum, plain } from "./write-set.ts";

const PAGE_BYTES = 8 * 1024 * 1024;
const PAGE_ROWS = 64;
/** An agent that invents types must not grow the counts without bound. */
const MAX_TYPES = 2000;
const OTHER_TYPES = "(other)";
/** Chunks that are counted when coverage is asked for, before the counts are kept. */
const MANY_CHUNKS = 256;
const COUNT_ROWS = 1000;

export class NativeStore {
  readonly #database: Database;
  readonly #damage: Damage;

  constructor(database: Database, damage: Damage) {
    this.#database = database;
    this.#damage = damage;
  }

  /** `end`: number of the last message there is. */
  async read(stream: StreamName, end: number, after: number, limit: number, maxBytes: number = PAGE_BYTES): Promise<NativePage> {
    const page: NativePage = { messages: [], next: after, has_more: false };
    let bytes = 0;
    while (page.next < end) {
      const rows = await this.#query(
        `SELECT first, last, head, body, checksum FROM (
           SELECT *, sum(octet_length(body)) OVER (ORDER BY last) - octet_length(body) AS so_far FROM (
             SELECT * FROM dragoman.native_chunks WHERE stream = $1 AND last > $2 ORDER BY last LIMIT ${PAGE_ROWS}) chosen) summed
         WHERE so_far = 0 OR so_far < $3 ORDER BY last`,
        [stream.no, page.next, Math.max(0, maxBytes - bytes)],
      );
      if (rows.length === 0) throw this.#missing(stream, page.next + 1);
      for (const row of rows) {
        if (int(row, "first") > page.next + 1) throw this.#missing(stream, page.next + 1);
        for (const message of decodedNative(row, stream, this.#damage)) {
          if (message.native_seq <= page.next) continue;
          if (message.native_seq > end) return page;
          const full = page.messages.length >= limit || (page.messages.length > 0 && bytes + message.body.length > maxBytes);
          if (full) return { ...page, has_more: true };
          bytes += message.body.length;
          page.messages.push(message);
          page.next = message.native_seq;
        }
      }
    }
    return page;
  }

  /** The messages with these numbers, of those up to `end`; a chunk is read once however many of its messages are asked for. */
  async pick(stream: StreamName, end: number, seqs: Iterable<number>): Promise<Map<number, NativeRow>> {
    const asked = [...new Set(seqs)].filter((seq) => seq <= end).sort((a, b) => a - b);
    if (asked.length === 0) return new Map();
    const rows = await this.#query(
      `SELECT first, last, head, body, checksum FROM dragoman.native_chunks WHERE stream = $1 AND last IN (
         SELECT (SELECT min(c.last) FROM dragoman.native_chunks c WHERE c.stream = $1 AND c.last >= u.seq) FROM unnest($2::bigint[]) AS u(seq))`,
      [stream.no, `{${asked.join(",")}}`],
    );
    const all = new Map(
      rows.flatMap((row) => decodedNative(row, stream, this.#damage).map((message) => [message.native_seq, message] as const)),
    );
    return new Map(
      asked.map((seq) => {
        const message = all.get(seq);
        if (message === undefined) throw this.#missing(stream, seq);
        return [seq, message];
      }),
    );
  }

  isManyUncounted(chunks: number): boolean {
    return chunks >= MANY_CHUNKS;
  }

  /** Counts what is not counted yet; when that is much, the counts are kept. Two who do so at once keep one of the two, which are the same. */
  async coverage(stream: StreamName, end: number): Promise<CoverageRow[]> {
    const stored = (await this.#query("SELECT upto, counts FROM dragoman.coverage WHERE stream = $1", [stream.no]))[0];
    const counts = new Counts(stored === undefined ? "[]" : text(stored, "counts"));
    const from = stored === undefined ? 0 : int(stored, "upto");
    let [upto, chunks] = [from, 0];
    while (upto < end) {
      const rows = await this.#query(
        `SELECT first, last, head FROM dragoman.native_chunks WHERE stream = $1 AND last > $2 AND last <= $3 ORDER BY last LIMIT ${COUNT_ROWS}`,
        [stream.no, upto, end],
      );
      if (rows.length === 0) throw this.#missing(stream, upto + 1);
      for (const row of rows) {
        // Packed since the last page was read: see `sealing.ts`.
        if (int(row, "first") <= upto) return this.coverage(stream, end);
        if (int(row, "first") !== upto + 1) throw this.#missing(stream, upto + 1);
        counts.add(countsOfHead(text(row, "head")));
        upto = int(row, "last");
        chunks++;
      }
    }
    if (this.isManyUncounted(chunks)) await this.#keep(stream.no, from, upto, counts);
    return counts.rows();
  }

  async #keep(stream: number, from: number, upto: number, counts: Counts): Promise<void> {
    await this.#query(
      `INSERT INTO dragoman.coverage AS c (stream, upto, counts) SELECT $1, $3, $4 WHERE EXISTS (SELECT 1 FROM dragoman.streams WHERE no = $1 AND NOT deleted)
       ON CONFLICT (stream) DO UPDATE SET upto = excluded.upto, counts = excluded.counts WHERE c.upto = $2`,
      [stream, from, upto, counts.json()],
    );
  }

  #missing(stream: StreamName, seq: number): LogError {
    return this.#damage.found(`Native message ${seq}`, stream);
  }

  async #query(sql: string, values: readonly SqlParameter[]): Promise<SqlRow[]> {
    try {
      return (await this.#database.query(sql, values)).rows;
    } catch (error) {
      throw toLogError(error, "Reading the log");
    }
  }
}

/** The messages of a row, when it is what was written. Throws `corrupt_chunk` otherwise. */
export function decodedNative(row: SqlRow, stream: StreamName, damage: Damage): NativeRow[] {
  const [first, last] = [int(row, "first"), int(row, "last")];
  const [head, body] = [text(row, "head"), blob(row, "body")];
  const intact = int(row, "checksum") === nativeChecksum(stream.no, first, last, head, body);
  const messages = intact ? readNativeChunk(first, head, body) : [];
  if (messages.length !== last - first + 1) throw damage.found(`Native messages ${first} to ${last}`, stream);
  return messages;
}

/** How many there are of each type and disposition. */
class Counts {
  readonly #byType = new Map<string, Map<Disposition, number>>();

  constructor(json: string) {
    const stored: [string, Disposition, number][] = JSON.parse(json);
    for (const [type, disposition, count] of stored) this.#count(type, disposition, count);
  }

  add(counts: ReadonlyMap<string, ReadonlyMap<Disposition, number>>): void {
    for (const [type, ofType] of counts) for (const [disposition, count] of ofType) this.#count(plain(type), disposition, count);
  }

  #count(type: string, disposition: Disposition, count: number): void {
    const name = this.#byType.has(type) || this.#byType.size < MAX_TYPES ? type : OTHER_TYPES;
    const ofType = this.#byType.get(name) ?? new Map<Disposition, number>();
    this.#byType.set(name, ofType.set(disposition, (ofType.get(disposition) ?? 0) + count));
  }

  rows(): CoverageRow[] {
    const rows = [...this.#byType].flatMap(([type, ofType]) =>
      [...ofType].map(([disposition, count]) => ({ type, disposition, count })),
    );
    return rows.sort((a, b) => compare(a.type, b.type) || compare(a.disposition, b.disposition));
  }

  json(): string {
    return JSON.stringify(this.rows().map(({ type, disposition, count }) => [type, disposition, count]));
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
