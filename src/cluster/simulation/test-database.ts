/** The database of the simulation behind a connection of one process: every statement travels over the virtual network, and a transaction runs at one moment, all of it or nothing. */
import type { SqlRow } from "../../log/packing/row-readers.ts";
import {
  type Connect,
  type Database,
  PostgresError,
  type Sql,
  type SqlParameter,
  type SqlResult,
} from "../../log/postgres/connection.ts";
import type { BrokenRule } from "./test-rules.ts";
import { answer } from "./test-statements.ts";
import { Tables } from "./test-tables.ts";
import { type Process, Unknown, type World } from "./test-world.ts";

const COMMIT = /^SELECT dragoman\.commit_/;
const OWNED = /^SELECT session_id, epoch, moved_from, moved_reason FROM dragoman\.owners/;

export class SimDatabase {
  readonly tables: Tables;
  readonly #world: World;
  readonly #broken: BrokenRule | null;

  constructor(world: World, broken: BrokenRule | null) {
    this.tables = new Tables(broken);
    this.#world = world;
    this.#broken = broken;
  }

  /** `by`: names the process. */
  connectOf(process: Process & { name: string }): Connect {
    return async () => this.#connection(process);
  }

  /** A connection without a network. */
  atOnce(): Database {
    return {
      place: "simulation",
      query: async (text, values = []) => this.now(text, values),
      transaction: (work) => this.#atOnce("history", work),
      close: async () => undefined,
    };
  }

  /** At this moment, without a network: for what the history itself wants to know. */
  now(text: string, values: readonly SqlParameter[] = [], by = "history"): SqlResult {
    try {
      return answer({ tables: this.tables, now: this.#world.now, by, broken: this.#broken }, text, values);
    } catch (error) {
      if (!(error instanceof PostgresError)) this.#world.fail(error);
      throw error;
    }
  }

  #connection(process: Process & { name: string }): Database {
    const by = process.name;
    const held = new Map<string, SqlRow>();
    const query = (text: string, values: readonly SqlParameter[] = []): Promise<SqlResult> => {
      const run = (): SqlResult => this.now(text, values, by);
      if (!COMMIT.test(text)) return this.#ask(process, run);
      if (this.#broken === "O3 durable") return this.#early(process, run);
      return this.#ask(process, run).catch((error: unknown) => {
        const lost = error instanceof PostgresError && error.reason === "lost";
        if (!lost || this.#broken !== "O4 ambiguous") throw error;
        return { rows: [{ xid: "1" }], count: 1 };
      });
    };
    /** What a node was told it owns, it is told again, whoever has it now. */
    const deaf = async (text: string, values?: readonly SqlParameter[]): Promise<SqlResult> => {
      const result = await query(text, values);
      if (this.#broken !== "O8 told" || !OWNED.test(text)) return result;
      for (const row of result.rows) held.set(String(row.session_id), row);
      return { count: held.size, rows: [...held.values()] };
    };
    return {
      place: "simulation",
      query: deaf,
      transaction: (work) => this.#ask(process, () => this.#atOnce(by, work)),
      close: async () => undefined,
    };
  }

  async #ask<T>(process: Process, run: () => T | Promise<T>): Promise<T> {
    let refusal: unknown;
    try {
      const result = await this.#world.ask(process, async () => {
        try {
          return await run();
        } catch (error) {
          refusal = error;
          return undefined;
        }
      });
      if (refusal !== undefined) throw refusal;
      return result as T;
    } catch (error) {
      if (error instanceof Unknown) throw new PostgresError("lost", "ECONNRESET", "the connection broke", error);
      throw error;
    }
  }

  /** Answered at once, done later, or never when the database crashes. */
  async #early(process: Process, run: () => SqlResult): Promise<SqlResult> {
    void this.#ask(process, run).catch(() => undefined);
    return { rows: [{ xid: "1" }], count: 1 };
  }

  async #atOnce<T>(by: string, work: (sql: Sql) => Promise<T>): Promise<T> {
    const { nodes, owners, epochs } = this.tables;
    const before = { nodes: copied(nodes), owners: copied(owners), epochs: [...epochs] };
    try {
      return await work({ query: async (text, values = []) => this.now(text, values, by) });
    } catch (error) {
      Object.assign(this.tables, before);
      throw error;
    }
  }
}

const copied = <V extends object>(map: Map<string, V>): Map<string, V> =>
  new Map([...map].map(([key, value]) => [key, { ...value }]));
