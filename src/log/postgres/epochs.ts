/**
 * Which history this is, and who may write. A daemon that has the log to itself begins an epoch with each start and is its owner; where nodes share the
 * log they share the newest epoch, and each stream has its own owner. A cursor belongs to the epoch it was given out in.
 */
import { randomBytes } from "node:crypto";
import { LogError } from "../log-error.ts";
import { int, text } from "../packing/row-readers.ts";
import type { Database, Sql } from "./connection.ts";
import { takenOver } from "./errors.ts";
import { chunkOf } from "./place.ts";

/** `first`: all it wrote is behind this chunk. */
type Epoch = { epoch: string; first: bigint };

/** An owner that was not alive for so long is taken to be dead. */
export const OWNER_SECONDS = 15;

export type Opening = {
  tenant: string;
  /** Names the data directory of a daemon: the same one may begin again at once. Null where nodes share the log. */
  holder: string | null;
};

export class Epochs {
  readonly logId: string;
  readonly current: string;
  readonly ordinal: number;
  /** Behind every transaction that was done when the log was opened, and before every one that is to come. */
  readonly openXid: bigint;
  readonly #epochs: readonly Epoch[];

  private constructor(logId: string, epochs: readonly Epoch[], openXid: bigint) {
    this.logId = logId;
    this.#epochs = epochs;
    this.current = epochs.at(-1)?.epoch ?? "";
    this.ordinal = epochs.length;
    this.openXid = openXid;
  }

  static async begin(database: Database, { tenant, holder }: Opening): Promise<Epochs> {
    return database.transaction(async (sql) => {
      const [logId, epoch] = [randomBytes(16).toString("hex"), randomBytes(6).toString("hex")];
      await sql.query("INSERT INTO dragoman.logs (tenant, log_id) VALUES ($1, $2) ON CONFLICT DO NOTHING", [tenant, logId]);
      const { rows } = await sql.query(
        `SELECT log_id, owner, holder, coalesce(seen_at > now() - make_interval(secs => ${OWNER_SECONDS}), false) AS alive
         FROM dragoman.logs WHERE tenant = $1 FOR UPDATE`,
        [tenant],
      );
      const row = rows[0];
      if (row === undefined)
        throw new LogError("database_corrupt", `The database ${database.place} has lost the row of its log.`);
      const known = await epochsOf(sql, tenant);
      if (row.alive === 1 && row.holder !== holder) throw inUse(database, holder === null);
      if (holder !== null) await endOtherCommits(sql, tenant);
      const xid = await endOfNow(sql);
      if (holder !== null || known.length === 0) {
        await sql.query("INSERT INTO dragoman.epochs (tenant, ordinal, epoch, first_xid) VALUES ($1, $2, $3, $4::xid8)", [
          tenant,
          known.length + 1,
          epoch,
          xid,
        ]);
        known.push({ epoch, first: chunkOf({ xid: BigInt(xid), ordinal: 0n }) });
      }
      const owner = holder === null ? null : epoch;
      const seen = holder === null ? "NULL" : "now()";
      await sql.query(`UPDATE dragoman.logs SET owner = $2, holder = $3, seen_at = ${seen} WHERE tenant = $1`, [
        tenant,
        owner,
        holder,
      ]);
      return new Epochs(text(row, "log_id"), known, BigInt(xid));
    });
  }

  /** Throws `log_changed` unless this chunk was written in the epoch or before. */
  assertWritten(epoch: string, chunk: bigint): void {
    const index = this.#epochs.findIndex((each) => each.epoch === epoch);
    const next = this.#epochs[index + 1];
    if (index < 0) throw changed("comes from an epoch that this log does not know");
    if (next !== undefined && chunk >= next.first) throw changed("names an event that was lost and written anew");
  }

  assertKnown(isThere: boolean): void {
    if (!isThere) throw changed("names an event that this log does not have");
  }
}

/**
 * A commit of the owner before may still be on its way in the database, although its process is dead: it has asked who the owner is, and does the rest when it likes. One that has its row of
 * committers is waited for here, and is of the epoch before; one that comes later finds no row, and a new one is only for the owner (`commit-numbers.ts`).
 */
async function endOtherCommits(sql: Sql, tenant: string): Promise<void> {
  await sql.query("DELETE FROM dragoman.committers WHERE tenant = $1", [tenant]);
}

/** A statement of its own: it sees what the ones before it have waited for. */
async function endOfNow(sql: Sql): Promise<string> {
  const { rows } = await sql.query("SELECT greatest(pg_current_xact_id(), pg_snapshot_xmax(pg_current_snapshot()))::text AS xid");
  return rows[0] === undefined ? "0" : text(rows[0], "xid");
}

async function epochsOf(sql: Sql, tenant: string): Promise<Epoch[]> {
  const { rows } = await sql.query(
    "SELECT epoch, first_xid::text AS xid, first_ordinal FROM dragoman.epochs WHERE tenant = $1 ORDER BY ordinal",
    [tenant],
  );
  return rows.map((row) => {
    const [xid, ordinal] = [BigInt(text(row, "xid")), BigInt(int(row, "first_ordinal"))];
    return { epoch: text(row, "epoch"), first: chunkOf({ xid, ordinal }) };
  });
}

/** The owner is alive. Rejects with `fenced` when it is the owner no more. */
export async function stayOwner(database: Database, tenant: string, epoch: string): Promise<void> {
  const { count } = await database.query("UPDATE dragoman.logs SET seen_at = now() WHERE tenant = $1 AND owner = $2", [
    tenant,
    epoch,
  ]);
  if (count === 0) throw takenOver();
}

/** The next daemon need not wait. */
export async function giveUpOwner(database: Database, tenant: string, epoch: string): Promise<void> {
  await database.query("UPDATE dragoman.logs SET seen_at = NULL WHERE tenant = $1 AND owner = $2", [tenant, epoch]);
}

export function changed(reason: string): LogError {
  return new LogError(
    "log_changed",
    `The cursor ${reason}: the log was restored or replaced, or it lost its end. Read again from after=0.`,
  );
}

function inUse({ place }: Database, shared: boolean): LogError {
  const message = shared
    ? `A daemon has the log in ${place} to itself. Stop it before nodes share the log.`
    : `The log in ${place} is in use by another dragoman. Stop it, or wait ${OWNER_SECONDS} seconds if it has died; for several at once start them as a cluster.`;
  return new LogError("data_dir_locked", message, { place });
}
