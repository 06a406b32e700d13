/**
 * The search index in Postgres: words as this program folds and cuts them, in a `tsvector`; whether words follow each other is looked at in the text. It can be
 * emptied and built anew.
 */
import type {
  RemovedItem,
  SearchEntry,
  SearchHit,
  SearchIndex,
  SearchOptions,
  SearchPage,
  SearchStream,
  StreamKind,
} from "../contract.ts";
import { int, type SqlRow, text, textOrNull } from "../packing/row-readers.ts";
import { hitOf } from "../packing/search-hit.ts";
import { fold, holds, phrasesOf, wordsIn } from "../search-words.ts";
import { textArray } from "./attempt.ts";
import type { Database, Sql, SqlParameter } from "./connection.ts";
import { toLogError } from "./errors.ts";
import { plain } from "./write-set.ts";

/** A word of the index has at most 2 kB. Longer ones are found by their beginning. */
const WORD_CHARS = 256;
const MOST_WORDS = 10_000;
/** How often a page is filled up when words did not follow each other. */
const LOOKS = 20;

export class PostgresSearch implements SearchIndex {
  readonly #database: Database;
  readonly #tenant: string;

  constructor(database: Database, tenant: string) {
    this.#database = database;
    this.#tenant = tenant;
  }

  async cursor(): Promise<string | null> {
    const rows = await this.#query("SELECT cursor FROM dragoman.search_state WHERE tenant = $1", [this.#tenant]);
    return rows[0] === undefined ? null : textOrNull(rows[0], "cursor");
  }

  async put(
    change: { streams: readonly SearchStream[]; entries: readonly SearchEntry[]; removed: readonly RemovedItem[] },
    cursor: string,
  ): Promise<void> {
    await this.#transaction(async (sql) => {
      await putStreams(sql, this.#tenant, change.streams);
      await putEntries(sql, this.#tenant, change.entries);
      for (const { kind, stream_id, item_id } of change.removed)
        await sql.query(
          `DELETE FROM dragoman.search_entries e USING dragoman.search_streams s
           WHERE s.tenant = $1 AND s.kind = $2 AND s.id = $3 AND e.stream = s.no AND e.item_id = $4`,
          [this.#tenant, kind, plain(stream_id), plain(item_id)],
        );
      await sql.query(
        "INSERT INTO dragoman.search_state (tenant, cursor) VALUES ($1, $2) ON CONFLICT (tenant) DO UPDATE SET cursor = excluded.cursor",
        [this.#tenant, cursor],
      );
    });
  }

  async find(options: SearchOptions): Promise<SearchPage> {
    const phrases = phrasesOf(options.query);
    if (phrases.length === 0) return { hits: [], next: null };
    const limit = options.limit ?? 20;
    const hits: SearchHit[] = [];
    let before = options.before === undefined ? Number.MAX_SAFE_INTEGER : Number(options.before) || 0;
    const ordered = phrases.some(({ words }) => words.length > 1);
    for (let look = 0; look < LOOKS; look++) {
      const rows = await this.#matches(options, tsquery(options.query), before, limit + 1);
      for (const row of rows) {
        if (hits.length === limit) return { hits, next: String(before) };
        before = int(row, "no");
        if (ordered && !phrases.every((phrase) => holds(wordsIn(fold(text(row, "text"))), phrase))) continue;
        hits.push(hitOf(row));
      }
      if (rows.length <= limit) return { hits, next: null };
    }
    return { hits, next: String(before) };
  }

  async #matches(options: SearchOptions, query: string, before: number, limit: number): Promise<SqlRow[]> {
    const values: SqlParameter[] = [this.#tenant, query, before];
    const wheres: string[] = [];
    const add = (sql: (name: string) => string, value: SqlParameter): void => {
      wheres.push(` AND ${sql(`$${values.push(value)}`)}`);
    };
    if (options.agent !== undefined) add((name) => `s.agent = ${name}`, plain(options.agent));
    if (options.directory !== undefined) add((name) => `s.directory = ${name}`, plain(options.directory));
    if (options.stream_id !== undefined) add((name) => `s.id = ${name}`, plain(options.stream_id));
    if (options.sorts !== undefined) add((name) => `e.sort = ANY(${name}::text[])`, textArray(options.sorts));
    return this.#query(
      `SELECT e.no, e.sequence, e.item_id, e.sort, e.at, e.text, s.kind, s.id, s.agent, s.directory, s.title
       FROM dragoman.search_entries e JOIN dragoman.search_streams s ON s.no = e.stream
       WHERE s.tenant = $1 AND e.words @@ $2::tsquery AND e.no < $3${wheres.join("")} ORDER BY e.no DESC LIMIT ${limit}`,
      values,
    );
  }

  async findStreams(
    wanted: string,
    options: { limit?: number; before?: string } = {},
  ): Promise<{ ids: string[]; next: string | null }> {
    const limit = options.limit ?? 50;
    const rows = await this.#query(
      `SELECT no, id FROM dragoman.search_streams WHERE tenant = $1 AND position($2 IN folded) > 0 AND no < $3 ORDER BY no DESC LIMIT ${limit + 1}`,
      [this.#tenant, plain(fold(wanted)), Number(options.before ?? Number.MAX_SAFE_INTEGER) || 0],
    );
    const shown = rows.slice(0, limit);
    const last = shown.at(-1);
    return { ids: shown.map((row) => text(row, "id")), next: rows.length > limit && last ? String(int(last, "no")) : null };
  }

  async reset(): Promise<void> {
    await this.#transaction(async (sql) => {
      await sql.query(
        "DELETE FROM dragoman.search_entries e USING dragoman.search_streams s WHERE s.tenant = $1 AND e.stream = s.no",
        [this.#tenant],
      );
      await sql.query("DELETE FROM dragoman.search_streams WHERE tenant = $1", [this.#tenant]);
      await sql.query("DELETE FROM dragoman.search_state WHERE tenant = $1", [this.#tenant]);
    });
  }

  async #query(sql: string, values: readonly SqlParameter[]): Promise<SqlRow[]> {
    try {
      return (await this.#database.query(sql, values)).rows;
    } catch (error) {
      throw toLogError(error, "Searching");
    }
  }

  async #transaction(work: (sql: Sql) => Promise<void>): Promise<void> {
    try {
      await this.#database.transaction(work);
    } catch (error) {
      throw toLogError(error, "Keeping the search index");
    }
  }
}

/** Inside a transaction: the texts of a stream. */
export async function forgetTexts(sql: Sql, tenant: string, stream: { kind: StreamKind; id: string }): Promise<void> {
  const values = [tenant, stream.kind, plain(stream.id)];
  const where = "s.tenant = $1 AND s.kind = $2 AND s.id = $3";
  await sql.query(
    `DELETE FROM dragoman.search_entries e USING dragoman.search_streams s WHERE ${where} AND e.stream = s.no`,
    values,
  );
  await sql.query(`DELETE FROM dragoman.search_streams s WHERE ${where}`, values);
}

async function putStreams(sql: Sql, tenant: string, streams: readonly SearchStream[]): Promise<void> {
  for (const { kind, stream_id, agent, directory, title } of streams)
    await sql.query(
      `INSERT INTO dragoman.search_streams (tenant, kind, id, agent, directory, title, folded) VALUES ($1, $2, $3, $4, $5, $6, $7)
       ON CONFLICT (tenant, kind, id) DO UPDATE SET agent = excluded.agent, directory = excluded.directory, title = excluded.title, folded = excluded.folded`,
      [tenant, kind, plain(stream_id), plain(agent), plain(directory), title === null ? null : plain(title)].concat(
        plain(fold([stream_id, title ?? "", directory, agent].join("\n"))),
      ),
    );
}

/** All in one statement, in their order. Those of a stream that is gone are on their way out of the log. */
async function putEntries(sql: Sql, tenant: string, entries: readonly SearchEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const rows = entries.map(({ kind, stream_id, sequence, item_id, sort, at, text: said }) => ({
    ...{ kind, id: plain(stream_id), sequence, item_id: item_id === null ? null : plain(item_id), sort: plain(sort), at },
    ...{ text: plain(said), words: indexed(said) },
  }));
  await sql.query(
    `INSERT INTO dragoman.search_entries (stream, sequence, item_id, sort, at, text, words)
     SELECT s.no, u.sequence, u.item_id, u.sort, u.at, u.text, array_to_tsvector(u.words)
     FROM ROWS FROM (jsonb_to_recordset($2::jsonb) AS (kind text, id text, sequence bigint, item_id text, sort text, at bigint, text text, words text[]))
       WITH ORDINALITY AS u(kind, id, sequence, item_id, sort, at, text, words, ordinal)
     JOIN dragoman.search_streams s ON s.tenant = $1 AND s.kind = u.kind AND s.id = u.id ORDER BY u.ordinal`,
    [tenant, JSON.stringify(rows)],
  );
}

const indexed = (said: string): string[] =>
  [...new Set(wordsIn(fold(plain(said))).map((each) => each.slice(0, WORD_CHARS)))].slice(0, MOST_WORDS);

/** All words; whether they follow each other is looked at later. Every word is quoted, so nothing in it is an operator. */
function tsquery(query: string): string {
  return phrasesOf(query)
    .flatMap(({ words, prefix }) =>
      words.flatMap((each, index) => {
        const folded = fold(plain(each)).slice(0, WORD_CHARS);
        if (folded === "") return [];
        const quoted = `'${folded.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
        return [prefix && index === words.length - 1 ? `${quoted}:*` : quoted];
      }),
    )
    .join(" & ");
}
