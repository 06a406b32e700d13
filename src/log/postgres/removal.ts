/**
 * Removes streams: hidden in one transaction, with their documents and the writers of others; their rows then go in portions, in the background. A removal that
 * a stop interrupted goes on at the next start. The space is free when the database has vacuumed, which it does by itself.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { StreamKind } from "../contract.ts";
import { documentPrefix } from "../document-prefix.ts";
import { LogError } from "../log-error.ts";
import { int } from "../packing/row-readers.ts";
import { releaseArtifacts } from "./artifacts.ts";
import type { Database, Sql } from "./connection.ts";
import { forgetDocuments } from "./documents.ts";
import { toLogError } from "./errors.ts";
import { forgetTexts } from "./search.ts";
import { plain } from "./write-set.ts";

const PORTION = 500;
const RETRY_MS = 1_000;

export class Removals {
  readonly #database: Database;
  readonly #tenant: string;
  readonly #onError: (error: LogError) => void;
  #running: Promise<void> = Promise.resolve();
  #left = 0;
  #closed = false;

  constructor(database: Database, tenant: string, onError: (error: LogError) => void) {
    this.#database = database;
    this.#tenant = tenant;
    this.#onError = onError;
  }

  /** Its number, undefined when there is no such stream. From the commit of this on nobody reads it, and its writer is refused. */
  async hide(stream: { kind: StreamKind; id: string }, kinds: readonly string[]): Promise<number | undefined> {
    try {
      return await this.#database.transaction(async (sql) => {
        const { rows } = await sql.query(
          `UPDATE dragoman.streams SET deleted = true, id = NULL, epoch = epoch + 1, open_since = NULL
           WHERE tenant = $1 AND kind = $2 AND id = $3 RETURNING no`,
          [this.#tenant, stream.kind, plain(stream.id)],
        );
        if (rows[0] === undefined) return undefined;
        const no = int(rows[0], "no");
        await sql.query("DELETE FROM dragoman.stream_states WHERE no = $1", [no]);
        await forgetDocuments(sql, this.#tenant, { id: stream.id, prefix: documentPrefix(stream) }, kinds);
        await forgetTexts(sql, this.#tenant, stream);
        return no;
      });
    } catch (error) {
      throw toLogError(error, `Deleting ${stream.kind} ${stream.id}`);
    }
  }

  /** Those that an earlier stop left behind. */
  async resume(): Promise<void> {
    const { rows } = await this.#database.query("SELECT no FROM dragoman.streams WHERE tenant = $1 AND deleted", [this.#tenant]);
    for (const row of rows) this.remove(int(row, "no"));
  }

  remove(no: number): void {
    this.#left++;
    this.#running = this.#running.then(async () => {
      await this.#remove(no);
      this.#left--;
    });
  }

  /** Resolves when everything that was hidden so far is gone. Rejects when the log is closed before. */
  async done(): Promise<void> {
    await this.#running;
    if (this.#left > 0 && this.#closed)
      throw new LogError("log_closed", "The log was closed. What was deleted is erased at the next start.");
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #remove(no: number): Promise<void> {
    while (!this.#closed) {
      try {
        if (await this.#purge(no)) return;
      } catch (error) {
        this.#onError(toLogError(error, "Removing a deleted stream"));
        await delay(RETRY_MS, undefined, { ref: false });
      }
    }
  }

  /** A portion; true when nothing is left. */
  async #purge(no: number): Promise<boolean> {
    let left = 0;
    for (const table of ["event_chunks", "sealed_chunks", "native_chunks"]) left += await portion(this.#database, table, no);
    if (left > 0) return false;
    await this.#database.transaction(async (sql) => {
      for (const table of ["coverage", "sealed_streams"])
        await sql.query(`DELETE FROM dragoman.${table} WHERE stream = $1`, [no]);
      await releaseArtifacts(sql, this.#tenant, no);
      await sql.query("DELETE FROM dragoman.streams WHERE no = $1 AND deleted", [no]);
    });
    return true;
  }
}

async function portion(sql: Sql, table: string, no: number): Promise<number> {
  const { count } = await sql.query(
    `DELETE FROM dragoman.${table} WHERE stream = $1 AND last IN (SELECT last FROM dragoman.${table} WHERE stream = $1 ORDER BY last LIMIT ${PORTION})`,
    [no],
  );
  return count;
}
