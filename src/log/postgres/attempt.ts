/**
 * One commit against the database: sends it, and finds out what became of it when the answer was lost or it was refused. Streams that are another writer's
 * are left out and reported; the others of the same commit are not held up by them.
 */
import type { StreamKind } from "../contract.ts";
import { int, text } from "../packing/row-readers.ts";
import { CREATION_FENCED, type Database, LOG_FENCED, PostgresError, type SqlParameter } from "./connection.ts";
import { deleted, exists, fenced, toLogError, UNIQUE_VIOLATION } from "./errors.ts";
import { COMMIT, encode, type StreamPart, type WriteSet } from "./write-set.ts";

export type Names = { tenant: string; owner: string | null; node: string | null };

/** A set on its way, over all attempts. */
export class Outcome {
  readonly set: WriteSet;
  /** It was sent, and the answer never came. */
  unsure = false;
  /** As it was sent last; undefined when the set has changed since. */
  parameters: SqlParameter[] | undefined;

  constructor(set: WriteSet) {
    this.set = set;
  }
}

type Found = { epoch: number; last: number; deleted: boolean };

export class Attempt {
  /** Commits whose answer never came. */
  lost = 0;
  readonly #database: Database;
  readonly #names: Names;

  constructor(database: Database, names: Names) {
    this.#database = database;
    this.#names = names;
  }

  /** The number of the transaction. Rejects with a `LogError`: `fenced` is final, anything else may be tried again with the same outcome. */
  async run(outcome: Outcome): Promise<bigint> {
    try {
      for (;;) {
        if (outcome.unsure) {
          const done = await this.#resolve(outcome);
          if (done !== undefined) return done;
        }
        if (outcome.set.isEmpty) return 0n;
        const xid = await this.#send(outcome);
        if (xid !== undefined) return xid;
      }
    } catch (error) {
      throw toLogError(error, "Writing to the log");
    }
  }

  /** Undefined: something of it was refused, and left out. */
  async #send(outcome: Outcome): Promise<bigint | undefined> {
    const { set } = outcome;
    outcome.parameters ??= encode(set, this.#names);
    try {
      const { rows } = await this.#database.query(COMMIT, outcome.parameters);
      return BigInt(rows[0] === undefined ? "0" : text(rows[0], "xid"));
    } catch (error) {
      if (!(error instanceof PostgresError) || error.code === LOG_FENCED) throw error;
      if (error.reason === "lost") {
        outcome.unsure = true;
        this.lost++;
      }
      if (error.code === CREATION_FENCED) return this.#refuseForeign(outcome);
      if (error.reason === "fenced") return this.#resolve(outcome);
      if (error.code !== UNIQUE_VIOLATION) throw error;
      const done = await this.#resolve(outcome);
      if (done !== undefined || (await this.#refuseTaken(outcome))) return done;
      throw error;
    }
  }

  /**
   * Asks for the epoch and the last sequence of every stream in the set. One that stands where the commit would have brought it, under this epoch, proves that
   * it was committed, and all others with it. Streams that belong to another are left out. Undefined: it was not committed.
   */
  async #resolve(outcome: Outcome): Promise<bigint | undefined> {
    const { set } = outcome;
    const found = await this.#find(set.streams);
    const own = (part: StreamPart, row: Found | undefined): boolean => row?.epoch === part.epoch && !row.deleted;
    const isThere = (part: StreamPart): boolean => own(part, found.get(part.no)) && found.get(part.no)?.last === part.last;
    const moved =
      set.streams.find((part) => part.last > part.expected && isThere(part)) ??
      set.streams.find((part) => part.created !== null && isThere(part));
    outcome.unsure = false;
    if (moved !== undefined) return this.#xidOf(moved);
    const lost = set.streams.filter((part) => {
      const row = found.get(part.no);
      if (row === undefined) return part.created === null;
      return !own(part, row) || row.last !== part.expected;
    });
    if (lost.length === 0) return undefined;
    this.#drop(outcome, lost);
    for (const part of lost) part.refuse(found.get(part.no)?.deleted ? deleted(part) : fenced(part));
    return undefined;
  }

  async #find(parts: readonly StreamPart[]): Promise<Map<number, Found>> {
    const { rows } = await this.#database.query(
      "SELECT no, epoch, last_sequence, deleted FROM dragoman.streams WHERE no = ANY($1)",
      [`{${parts.map(({ no }) => no).join(",")}}`],
    );
    return new Map(
      rows.map((row) => [
        int(row, "no"),
        { epoch: int(row, "epoch"), last: int(row, "last_sequence"), deleted: row.deleted === 1 },
      ]),
    );
  }

  /** Of the transaction that wrote the last event of this stream. */
  async #xidOf({ no, last }: StreamPart): Promise<bigint> {
    const { rows } = await this.#database.query(
      "SELECT xid::text AS xid FROM dragoman.event_chunks WHERE stream = $1 AND last = $2",
      [no, last],
    );
    return BigInt(rows[0] === undefined ? "0" : text(rows[0], "xid"));
  }

  /** New streams that another node owns already. */
  async #refuseForeign(outcome: Outcome): Promise<undefined> {
    const created = outcome.set.streams.filter((part) => part.created !== null);
    const { rows } = await this.#database.query(
      `SELECT u.no FROM unnest($2::bigint[], $3::text[], $4::text[]) AS u(no, kind, id) WHERE NOT dragoman.may_create($1, u.kind, u.id)`,
      [
        this.#names.node,
        `{${created.map(({ no }) => no).join(",")}}`,
        textArray(created.map(({ kind }) => kind)),
        textArray(created.map(({ id }) => id)),
      ],
    );
    const foreign = new Set(rows.map((row) => int(row, "no")));
    const refused = created.filter(({ no }) => foreign.has(no));
    this.#drop(outcome, refused);
    for (const part of refused) part.refuse(fenced(part));
  }

  #drop(outcome: Outcome, parts: readonly StreamPart[]): void {
    outcome.set.drop(new Set(parts.map(({ no }) => no)));
    outcome.parameters = undefined;
  }

  /** Streams whose names others have taken meanwhile. False: there is none, the refusal had another reason. */
  async #refuseTaken(outcome: Outcome): Promise<boolean> {
    const created = outcome.set.streams.filter((part) => part.created !== null);
    const { rows } = await this.#database.query(
      `SELECT s.kind, s.id, s.no FROM dragoman.streams s JOIN unnest($2::text[], $3::text[]) AS u(kind, id) ON s.kind = u.kind AND s.id = u.id
       WHERE s.tenant = $1`,
      [this.#names.tenant, textArray(created.map(({ kind }) => kind)), textArray(created.map(({ id }) => id))],
    );
    const taken = new Set(rows.map((row) => `${text(row, "kind")}/${text(row, "id")}`));
    const refused = created.filter((part) => taken.has(keyOf(part)));
    if (refused.length === 0) return false;
    this.#drop(outcome, refused);
    for (const part of refused) part.refuse(exists(part));
    return true;
  }
}

const keyOf = ({ kind, id }: { kind: StreamKind; id: string }): string => `${kind}/${id}`;

/** As a literal of an array: every element quoted. */
export const textArray = (values: readonly string[]): string =>
  `{${values.map((value) => `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`).join(",")}}`;
