/**
 * The connection to a Postgres: a small pool, transactions, and errors that say what to do. It keeps no state in a session of the database and gives no
 * statement a name, so that a pooler in transaction mode may stand between. `pg` is loaded when the first pool is opened, never before.
 */
import type { Pool, PoolClient, QueryResult } from "pg";
import type { SqlRow } from "../packing/row-readers.ts";
import { withoutNul } from "../without-nul.ts";

/** A Buffer travels as bytes; everything else as text. */
export type SqlParameter = string | number | bigint | boolean | null | Buffer;

/** Rows as they come (`bigint` columns as numbers, `bytea` as Buffers), and how many rows were touched. */
export type SqlResult = { rows: SqlRow[]; count: number };

/** What a pool and a transaction have in common: something that runs a statement. */
export interface Sql {
  query(text: string, values?: readonly SqlParameter[]): Promise<SqlResult>;
}

/** A database as the log and the registry have it. The simulation brings its own. */
export interface Database extends Sql {
  /** Where it is, without user and password: for messages. */
  readonly place: string;
  /** All of it or nothing. `work` must use the `Sql` it is given, and nothing that needs a session. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Opens a database; the first statement connects. */
export type Connect = (options: Omit<PostgresOptions, "url">) => Promise<Database>;

/** Codes that our own statements raise. */
export const STREAM_FENCED = "DR001";
export const LOG_FENCED = "DR003";
export const CREATION_FENCED = "DR004";
export const NOT_NEXT = "DR005";
const FENCED = new Set([STREAM_FENCED, LOG_FENCED, CREATION_FENCED, NOT_NEXT]);

/** A table, column, function or key that a statement names is not there: every statement was right for the tables that this program made. */
export const OTHER_TABLES: ReadonlySet<string> = new Set(["42P01", "42703", "42883", "42P10"]);

/**
 * - `lost`: the connection broke, could not be made, or the database is starting or stopping. Whether the statement was done is not known.
 * - `fenced`: somebody else has taken over what the statement writes.
 * - `refused`: the database answered, and did not do it.
 */
export type PostgresReason = "lost" | "fenced" | "refused";

export class PostgresError extends Error {
  override readonly name = "PostgresError";
  readonly reason: PostgresReason;
  /** SQLSTATE, or the code of the operating system; empty when there is none. */
  readonly code: string;

  constructor(reason: PostgresReason, code: string, message: string, cause: unknown) {
    super(message, { cause });
    this.reason = reason;
    this.code = code;
  }
}

export type PostgresOptions = {
  /** `postgres://user:password@host:port/database`, with the parameters that `pg` knows, such as `sslmode`. */
  url: string;
  /** Connections at most. Default 8. */
  connections?: number;
  /** A statement without an answer for so long counts as a lost connection. Default 30 seconds. */
  timeoutMs?: number;
  applicationName?: string;
};

const CONNECT_MS = 5_000;
const IDLE_MS = 60_000;

export class Postgres implements Database {
  readonly place: string;
  readonly #pool: Pool;

  private constructor(pool: Pool, place: string) {
    this.#pool = pool;
    this.place = place;
  }

  /** Opens nothing yet: the first statement connects. */
  static async open(options: PostgresOptions): Promise<Postgres> {
    const { url, connections = 8, timeoutMs = 30_000, applicationName = "dragoman" } = options;
    const place = placeOf(url);
    const PgPool = await loadPool();
    const pool = new PgPool({
      connectionString: url,
      max: connections,
      query_timeout: timeoutMs,
      connectionTimeoutMillis: CONNECT_MS,
      idleTimeoutMillis: IDLE_MS,
      keepAlive: true,
      application_name: applicationName,
      types: { getTypeParser: (oid: number) => READERS.get(oid) ?? String },
    });
    // A connection that breaks while nobody uses it: the pool opens another one.
    pool.on("error", () => undefined);
    return new Postgres(pool, place);
  }

  async query(text: string, values: readonly SqlParameter[] = []): Promise<SqlResult> {
    return run(this.#pool, text, values, this.place);
  }

  async transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    let broken = true;
    // Without a listener an error of the connection between two statements would end the process.
    const onError = (): void => undefined;
    client.on("error", onError);
    try {
      const sql: Sql = { query: (text, values = []) => run(client, text, values, this.place) };
      await sql.query("BEGIN");
      try {
        const result = await work(sql);
        await sql.query("COMMIT");
        broken = false;
        return result;
      } catch (error) {
        broken = !(await client.query("ROLLBACK").then(
          () => true,
          () => false,
        ));
        throw error;
      }
    } finally {
      client.off("error", onError);
      client.release(broken);
    }
  }

  async close(): Promise<void> {
    await this.#pool.end().catch(() => undefined);
  }

  async #connect(): Promise<PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (error) {
      throw asPostgresError(error, this.place);
    }
  }
}

async function run(on: Pool | PoolClient, text: string, values: readonly SqlParameter[], place: string): Promise<SqlResult> {
  try {
    // A question with a NUL is refused whole, as if the database could not be read. What was stored has U+FFFD in its place.
    const result: QueryResult<SqlRow> = await on.query<SqlRow>(text, values.map(withoutNul));
    return { rows: result.rows, count: result.rowCount ?? 0 };
  } catch (error) {
    throw asPostgresError(error, place);
  }
}

/** A large `bigint` would lose digits: none of ours is. */
const READERS = new Map<number, (text: string) => unknown>([
  [16, (text) => (text === "t" ? 1 : 0)], // boolean
  [17, (text) => Buffer.from(text.slice(2), "hex")], // bytea
  [20, Number], // bigint
  [21, Number], // smallint
  [23, Number], // integer
]);

async function loadPool(): Promise<typeof Pool> {
  try {
    return (await import("pg")).Pool;
  } catch (error) {
    throw new PostgresError(
      "refused",
      "no_driver",
      "A log on Postgres needs the package pg, which is not installed. Run npm install pg beside dragoman.",
      error,
    );
  }
}

const SYSTEM_CODES = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
]);
/** Starting, stopping, crashed, too many connections, a standby that cannot write: another try may find it well. */
const LOST_STATES = new Set(["57P01", "57P02", "57P03", "57P05", "53300", "25006"]);
const LOST_WORDS =
  /connection (terminated|ended|error)|timeout|client (was closed|has encountered a connection error)|not queryable/i;

/** Gives an error of the driver its reason. */
export function asPostgresError(error: unknown, place: string): PostgresError {
  if (error instanceof PostgresError) return error;
  // Where a name has several addresses, each has failed by itself.
  const first = error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error;
  const message = first instanceof Error ? first.message : String(first);
  const code = first instanceof Error && "code" in first && typeof first.code === "string" ? first.code : "";
  if (FENCED.has(code)) return new PostgresError("fenced", code, message, error);
  const lost =
    SYSTEM_CODES.has(code) || LOST_STATES.has(code) || code.startsWith("08") || (code === "" && LOST_WORDS.test(message));
  if (lost) return new PostgresError("lost", code, `The database ${place} cannot be reached (${message}).`, error);
  const advice = OTHER_TABLES.has(code) ? " A newer dragoman has changed the tables: update this one and start it again." : "";
  return new PostgresError("refused", code, `The database ${place} refused (${message}).${advice}`, error);
}

function placeOf(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url);
    if (!/^postgres(ql)?:$/.test(protocol)) throw new Error(`${protocol} is another protocol`);
    return `${host || "localhost"}${pathname}`;
  } catch (error) {
    throw new PostgresError(
      "refused",
      "bad_url",
      "This is no address of a Postgres: write postgres://user@host:5432/name.",
      error,
    );
  }
}
