/**
 * Who may write, and which history this is. Every opening of a log for writing is an epoch: it has a random id, and remembers at which position it began. The
 * epoch in the owner row is the only one that may commit; an older one finds out in its next transaction. A cursor belongs to the epoch it was given out
 * in, so a cursor of a history that this log does not contain is recognized.
 */
import { randomBytes } from "node:crypto";
import { LogError } from "../log-error.ts";
import { checksumOf, matches } from "../packing/checksum.ts";
import { int, text } from "../packing/row-readers.ts";
import type { Database, Statement } from "./driver.ts";
import { rollback } from "./migrations.ts";

type Epoch = { epoch: string; first_position: number };

export class Epochs {
  readonly logId: string;
  readonly current: string;
  /** The last position that was given out before this epoch. */
  readonly lastGiven: number;
  /** How many times the log was opened. */
  readonly ordinal: number;
  readonly #epochs: readonly Epoch[];
  readonly #owner: Statement;

  private constructor(db: Database, logId: string, epochs: readonly Epoch[], current: string) {
    this.#owner = db.prepare("SELECT owner FROM log");
    this.logId = logId;
    this.#epochs = epochs;
    this.ordinal = epochs.length;
    this.current = current;
    this.lastGiven = (epochs.at(-1)?.first_position ?? 1) - 1;
  }

  /** Begins an epoch and makes it the owner. From here on nobody else can commit. */
  static begin(db: Database): Epochs {
    const epoch = randomBytes(6).toString("hex");
    db.exec("BEGIN IMMEDIATE");
    try {
      const logId = readLogId(db);
      const before = readEpochs(db);
      const first_position = lastPositionGiven(db) + 1;
      const [ordinal, now] = [before.length + 1, Date.now()];
      db.prepare("INSERT INTO epochs (ordinal, epoch, first_position, opened_at, checksum) VALUES (?, ?, ?, ?, ?)").run(
        ordinal,
        epoch,
        first_position,
        now,
        checksumOf(ordinal, epoch, first_position, now),
      );
      db.prepare("UPDATE log SET owner = ?, checksum = ?").run(epoch, checksumOf(logId, epoch));
      db.exec("COMMIT");
      return new Epochs(db, logId, [...before, { epoch, first_position }], epoch);
    } catch (error) {
      rollback(db);
      throw error;
    }
  }

  /** Call it inside a transaction that writes. */
  assertOwner(): void {
    if (this.#owner.get()?.owner === this.current) return;
    throw new LogError(
      "fenced",
      "Another dragoman has taken over this data directory (its lock file was removed). This one writes nothing any more: stop it, and use the other.",
    );
  }

  /** Throws `log_changed` unless what lies at this position was written in the epoch or before. */
  assertWritten(epoch: string, position: number): void {
    const index = this.#epochs.findIndex((each) => each.epoch === epoch);
    const next = this.#epochs[index + 1];
    if (index < 0) throw changed("comes from an epoch that this log does not know");
    if (next !== undefined && position >= next.first_position) throw changed("names an event that was lost and written anew");
  }
}

export function changed(reason: string): LogError {
  return new LogError(
    "log_changed",
    `The cursor ${reason}: the log was restored or replaced, or it lost its end. Read again from after=0.`,
  );
}

function readLogId(db: Database): string {
  const row = db.prepare("SELECT log_id, owner, checksum FROM log").get();
  if (row === undefined) throw damaged("its identity is missing");
  const logId = text(row, "log_id");
  if (!matches(row, "checksum", checksumOf(logId, text(row, "owner")))) throw damaged("its identity");
  return logId;
}

function readEpochs(db: Database): Epoch[] {
  const rows = db.prepare("SELECT ordinal, epoch, first_position, opened_at, checksum FROM epochs ORDER BY ordinal").all();
  return rows.map((row, index) => {
    const [ordinal, epoch, first] = [int(row, "ordinal"), text(row, "epoch"), int(row, "first_position")];
    if (ordinal !== index + 1 || row.checksum !== checksumOf(ordinal, epoch, first, int(row, "opened_at")))
      throw damaged("the list of its epochs");
    return { epoch, first_position: first };
  });
}

/** Positions never come back, also not those of removed chunks. */
function lastPositionGiven(db: Database): number {
  const row = db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'event_chunks'").get();
  return row === undefined ? 0 : int(row, "seq");
}

const damaged = (what: string): LogError => new LogError("database_corrupt", `The database is damaged: ${what}.`);
