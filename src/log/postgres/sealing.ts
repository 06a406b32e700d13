/**
 * Packs the history of streams that rest: an agent that talks slowly leaves thousands of rows of a few events, which cost four times the bytes of large ones. Events go into rows of up to
 * a thousand in `sealed_chunks`; what is left of their rows in `event_chunks` is their place in the order of all commits, without texts. Native messages are packed in their own table.
 * Readers get the same bytes before and after. One transaction packs one row, behind a lock of the stream: a writer, a claim and a removal are before it or after it.
 */
import { isDeepStrictEqual } from "node:util";
import type { NativeRow, StreamKind } from "../contract.ts";
import { LogError } from "../log-error.ts";
import { checksumBehind, checksumOf, sealed } from "../packing/checksum.ts";
import type { Damage, StreamName } from "../packing/damage.ts";
import { CHUNK_CHARS, CHUNK_EVENTS, type PendingChunk, packedFrom } from "../packing/event-chunk.ts";
import { NativeChunk, readNativeChunk } from "../packing/native-chunk.ts";
import { int, type SqlRow, text, word } from "../packing/row-readers.ts";
import type { Database, Sql } from "./connection.ts";
import { toLogError } from "./errors.ts";
import { decodedNative } from "./native-store.ts";
import { whole } from "./packed-parts.ts";
import { nativeChecksum } from "./write-set.ts";

/** `before`: nothing was written since, in milliseconds. `limit`: how many streams at most. */
export type SealOptions = { before: number; limit: number };

const DAY_MS = 24 * 60 * 60_000;

/** What nobody has written to for a day, in portions. */
export const resting = (): SealOptions => ({ before: Date.now() - DAY_MS, limit: 100 });

/** Rows that are read for one packed row. */
const ROWS = 1000;

export const SEALED_TABLES = `
  CREATE TABLE dragoman.sealed_chunks (
    stream bigint NOT NULL, first bigint NOT NULL, last bigint NOT NULL,
    types text NOT NULL, natives text NOT NULL, body bytea NOT NULL, checksum bigint NOT NULL,
    PRIMARY KEY (stream, last)
  );
  CREATE TABLE dragoman.sealed_streams (
    stream bigint PRIMARY KEY,
    events bigint NOT NULL,       -- looked through up to this event
    natives bigint NOT NULL,      -- and this native message
    sealed_at timestamptz NOT NULL DEFAULT now()
  );`;

export class Sealing {
  readonly #database: Database;
  readonly #tenant: string;
  readonly #damage: Damage;
  /** Damaged ones: they stay as they are. */
  readonly #refused = new Set<number>();

  constructor(database: Database, tenant: string, damage: Damage) {
    this.#database = database;
    this.#tenant = tenant;
    this.#damage = damage;
  }

  /** How many streams were packed. */
  async seal({ before, limit }: SealOptions): Promise<number> {
    try {
      const { rows } = await this.#database.query(
        `SELECT s.no, s.kind, s.id, s.last_sequence, s.last_native, coalesce(z.events, 0) AS events, coalesce(z.natives, 0) AS natives
         FROM dragoman.streams s LEFT JOIN dragoman.sealed_streams z ON z.stream = s.no
         WHERE s.tenant = $1 AND NOT s.deleted AND s.updated_at < $2 AND s.open_since IS NULL
           AND (s.last_sequence > coalesce(z.events, 0) OR s.last_native > coalesce(z.natives, 0))
         ORDER BY s.updated_at LIMIT $3`,
        [this.#tenant, before, limit + this.#refused.size],
      );
      let packed = 0;
      for (const row of rows) if (!this.#refused.has(int(row, "no")) && (await this.#stream(row, before))) packed++;
      return packed;
    } catch (error) {
      throw toLogError(error, "Packing what rests");
    }
  }

  async #stream(row: SqlRow, before: number): Promise<boolean> {
    const stream = { no: int(row, "no"), kind: word<StreamKind>(row, "kind"), id: text(row, "id") };
    try {
      // Whoever was passed by once must not mark the stream as packed: what it left out would stay as it is.
      let more: boolean | undefined = true;
      while (more) more = await this.#locked(stream, before, (sql) => this.#events(sql, stream));
      if (more === undefined) return false;
      let at: number | null | undefined = int(row, "natives");
      while (typeof at === "number") {
        const from: number = at;
        at = await this.#locked(stream, before, (sql) => this.#natives(sql, stream, from));
      }
      if (at === undefined) return false;
      const seen = await this.#locked(stream, before, async (sql) => {
        const ends = [int(row, "last_sequence"), int(row, "last_native")];
        await sql.query(
          `INSERT INTO dragoman.sealed_streams AS z (stream, events, natives) VALUES ($1, $2, $3)
           ON CONFLICT (stream) DO UPDATE SET events = excluded.events, natives = excluded.natives, sealed_at = now()`,
          [stream.no, ...ends],
        );
        return true;
      });
      return seen === true;
    } catch (error) {
      if (!(error instanceof LogError)) throw error;
      this.#refused.add(stream.no);
      return false;
    }
  }

  /** Undefined: it does not rest any more, it is gone, or somebody is writing it. */
  #locked<T>({ no }: StreamName, before: number, work: (sql: Sql) => Promise<T>): Promise<T | undefined> {
    return this.#database.transaction(async (sql) => {
      const { rows } = await sql.query(
        "SELECT no FROM dragoman.streams WHERE no = $1 AND NOT deleted AND updated_at < $2 AND open_since IS NULL FOR UPDATE SKIP LOCKED",
        [no, before],
      );
      return rows[0] === undefined ? undefined : work(sql);
    });
  }

  /** One packed row. False: there is nothing left that is worth it. */
  async #events(sql: Sql, stream: StreamName): Promise<boolean> {
    const { rows } = await sql.query(
      `SELECT stream, first, last, types, natives, body, checksum FROM dragoman.event_chunks
       WHERE stream = $1 AND last > (SELECT coalesce(max(z.last), 0) FROM dragoman.sealed_chunks z WHERE z.stream = $1) ORDER BY last LIMIT ${ROWS}`,
      [stream.no],
    );
    const taken = [];
    let chars = 0;
    for (const row of rows) {
      const batch = whole(row, stream, this.#damage);
      const { first } = taken[0] ?? batch;
      chars += batch.events.reduce((sum, event) => sum + event.length, 0);
      if (taken.length > 0 && (batch.last - first >= CHUNK_EVENTS || chars > CHUNK_CHARS)) break;
      if (batch.first !== (taken.at(-1)?.last ?? batch.first - 1) + 1)
        throw this.#damage.found(`Event ${batch.first - 1}`, stream);
      taken.push(batch);
    }
    const [begin, end] = [taken[0], taken.at(-1)];
    if (begin === undefined || end === undefined || (taken.length === 1 && rows.length === 1)) return false;
    const texts = taken.flatMap(({ events }) => events);
    const types = taken.flatMap((batch) => batch.types);
    const natives = taken.flatMap((batch) => batch.natives);
    await this.#insert(sql, stream, packedFrom(begin.first, { events: texts, types, natives }), texts);
    await sql.query(
      "UPDATE dragoman.event_chunks SET types = '', natives = '', body = '', checksum = 0 WHERE stream = $1 AND last BETWEEN $2 AND $3",
      [stream.no, begin.last, end.last],
    );
    return true;
  }

  /** Only when it reads as what it was made of. */
  async #insert(sql: Sql, stream: StreamName, chunk: PendingChunk, texts: readonly string[]): Promise<void> {
    const { first, events } = chunk;
    const [last, types, natives, body] = [
      first + events.count - 1,
      chunk.types.toString(),
      chunk.natives.toString(),
      events.body(),
    ];
    const head = checksumOf(stream.no, first, last, types, natives);
    const row = {
      stream: stream.no,
      first,
      last,
      types: sealed(types, head),
      natives,
      body,
      checksum: checksumBehind(head, body),
    };
    if (!isDeepStrictEqual(whole(row, stream, this.#damage).events, texts))
      throw this.#damage.found(`Events ${first} to ${last}`, stream);
    await sql.query(
      "INSERT INTO dragoman.sealed_chunks (stream, first, last, types, natives, body, checksum) VALUES ($1, $2, $3, $4, $5, $6, $7)",
      [stream.no, first, last, row.types, natives, body, row.checksum],
    );
  }

  /** One packed row of native messages behind `from`: where it ends. Null: that was all. */
  async #natives(sql: Sql, stream: StreamName, from: number): Promise<number | null> {
    const { rows } = await sql.query(
      `SELECT first, last, head, body, checksum FROM dragoman.native_chunks WHERE stream = $1 AND last > $2 ORDER BY last LIMIT ${ROWS}`,
      [stream.no, from],
    );
    // Counts of what lies before this are kept: no row may reach over it.
    const counted = await sql.query("SELECT upto FROM dragoman.coverage WHERE stream = $1", [stream.no]);
    const upto = counted.rows[0] === undefined ? 0 : int(counted.rows[0], "upto");
    const messages: NativeRow[] = [];
    let [taken, end, chunk] = [0, from, undefined as NativeChunk | undefined];
    for (const row of rows) {
      if (chunk !== undefined && (chunk.full || end === upto || int(row, "last") - chunk.first >= ROWS)) break;
      chunk ??= new NativeChunk(int(row, "first"));
      for (const message of decodedNative(row, stream, this.#damage)) {
        chunk.add({ ...message, raw: textOf(message.body) });
        messages.push(message);
      }
      [taken, end] = [taken + 1, int(row, "last")];
    }
    if (chunk === undefined) return null;
    if (taken === 1) return end;
    const [first, head, body] = [chunk.first, chunk.head(), chunk.body()];
    if (!isDeepStrictEqual(readNativeChunk(first, head, body), messages))
      throw this.#damage.found(`Native message ${first}`, stream);
    await sql.query("DELETE FROM dragoman.native_chunks WHERE stream = $1 AND last > $2 AND last <= $3", [stream.no, from, end]);
    await sql.query(
      "INSERT INTO dragoman.native_chunks (stream, first, last, head, body, checksum) VALUES ($1, $2, $3, $4, $5, $6)",
      [...[stream.no, first, end, head, body, nativeChecksum(stream.no, first, end, head, body)]],
    );
    return end;
  }
}

/** Texts pack better than bytes; bytes that are none stay bytes. */
function textOf(bytes: Buffer): string | Buffer {
  const found = bytes.toString("utf8");
  return Buffer.from(found, "utf8").equals(bytes) ? found : bytes;
}
