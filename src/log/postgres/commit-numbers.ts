/**
 * Every commit of an open log has a number, one more than the one before, and is done only once: a statement that a slow network delivers behind newer ones is refused, and when an answer was
 * lost the number says whether the commit was done. Epochs and sequences fence others; this fences one's own past, also where no sequence moves.
 */
import { int, text } from "../packing/row-readers.ts";
import type { Database } from "./connection.ts";
import { takenOver } from "./errors.ts";

/** As the commit is sent: the row of this open log, and the number of the commit. */
export type CommitNumber = { committer: number; number: number };

/** Rows of processes that died are removed after so long. One that lives and wrote nothing meanwhile takes a new row. */
const KEPT_DAYS = 7;

export class CommitNumbers {
  readonly #database: Database;
  readonly #tenant: string;
  readonly #owner: string | null;
  #committer: number | undefined;
  #last = 0;

  /** `owner`: see the table of logs. */
  constructor(database: Database, { tenant, owner }: { tenant: string; owner: string | null }) {
    this.#database = database;
    this.#tenant = tenant;
    this.#owner = owner;
  }

  /** Of the commit that is to be done now: the same until `done`. */
  async next(): Promise<CommitNumber> {
    this.#committer ??= await this.#register();
    return { committer: this.#committer, number: this.#last + 1 };
  }

  done(): void {
    this.#last++;
  }

  /** The transaction in which the next commit was done. Undefined: it was not, and what `next` says counts. */
  async find(): Promise<bigint | undefined> {
    const { rows } = await this.#database.query("SELECT commits, xid::text AS xid FROM dragoman.committers WHERE no = $1", [
      this.#committer ?? 0,
    ]);
    const commits = rows[0] && int(rows[0], "commits");
    if (rows[0] !== undefined && commits === this.#last + 1) return BigInt(text(rows[0], "xid"));
    // The row is gone, or the database is older than what it has answered: it was restored. Whether streams are still ours is for their epochs to say.
    if (commits !== this.#last) [this.#committer, this.#last] = [undefined, 0];
    return undefined;
  }

  async close(): Promise<void> {
    if (this.#committer !== undefined)
      await this.#database.query("DELETE FROM dragoman.committers WHERE no = $1", [this.#committer]);
  }

  async #register(): Promise<number> {
    // Locked: whoever takes the log over at this moment is waited for.
    const { rows } = await this.#database.query(
      `INSERT INTO dragoman.committers (tenant, commits)
       SELECT tenant, 0 FROM dragoman.logs WHERE tenant = $1 AND ($2::text IS NULL OR owner = $2) FOR KEY SHARE RETURNING no`,
      [this.#tenant, this.#owner],
    );
    const [row] = rows;
    if (row === undefined) throw takenOver();
    this.#last = 0;
    return int(row, "no");
  }
}

export async function sweepCommitters(database: Database, tenant: string): Promise<void> {
  await database.query(
    `DELETE FROM dragoman.committers WHERE tenant = $1 AND done_at < now() - make_interval(days => ${KEPT_DAYS})`,
    [tenant],
  );
}
