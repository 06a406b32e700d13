/**
 * The one place that knows which SQLite binding runs: `node:sqlite` where the runtime has it without a flag (Node 22.13 and later), else
 * `@photostructure/sqlite`, which has the same API. Only the calls this room uses are typed.
 */
import type { SqlRow, SqlValue } from "../packing/row-readers.ts";
import { withoutNul } from "../without-nul.ts";

export type { SqlRow, SqlValue } from "../packing/row-readers.ts";

export interface Statement {
  run(...values: SqlValue[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  get(...values: SqlValue[]): SqlRow | undefined;
  all(...values: SqlValue[]): SqlRow[];
  iterate(...values: SqlValue[]): IterableIterator<SqlRow>;
}

export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

type Binding = { DatabaseSync: new (path: string) => Database };

let binding: Binding | undefined;

export async function openDatabase(path: string): Promise<Database> {
  binding ??= builtin() ?? (await import("@photostructure/sqlite"));
  const database = new binding.DatabaseSync(path);
  return {
    exec: (sql) => database.exec(sql),
    prepare: (sql) => withoutNuls(database.prepare(sql)),
    close: () => database.close(),
  };
}

/**
 * One of the bindings ends a text at its first NUL, so that a name with one behind it would be another's. Both get U+FFFD in its place, as Postgres does,
 * which cannot store it.
 */
function withoutNuls(statement: Statement): Statement {
  return {
    run: (...values) => statement.run(...values.map(withoutNul)),
    get: (...values) => statement.get(...values.map(withoutNul)),
    all: (...values) => statement.all(...values.map(withoutNul)),
    iterate: (...values) => statement.iterate(...values.map(withoutNul)),
  };
}

/** Node 22.13 to 23 print an ExperimentalWarning on first load: it would stand in the middle of the command line's output. */
function builtin(): Binding | undefined {
  const load: unknown = Reflect.get(process, "getBuiltinModule");
  if (typeof load !== "function") return undefined;
  const emitWarning = process.emitWarning;
  process.emitWarning = () => undefined;
  try {
    return load.call(process, "node:sqlite");
  } finally {
    process.emitWarning = emitWarning;
  }
}
