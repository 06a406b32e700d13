/**
 * One commit against the database: sends it, and finds out what became of it when the answer was lost or it was refused. Streams that are another writer's
 * are left out and reported; the others of the same commit are not held up by them.
 */
import type { StreamKind } from "../contract.ts";
import { deleted, exists, fenced } from "../entry-errors.ts";
import { int, text } from "../packing/row-readers.ts";
import type { CommitNumbers } from "./commit-numbers.ts";
import { CREATION_FENCED, type Database, LOG_FENCED, NOT_NEXT, PostgresError, type SqlParameter } from "./connection.ts";
import { toLogError, UNIQUE_VIOLATION } from "./errors.ts";
import { COMMIT, encode, type Names, type StreamPart, type WriteSet } from "./write-set.ts";

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

export class Attempt {
  /** Commits whose answer never came. */
  lost = 0;
  readonly #database: Database;
  readonly #names: Names;
  readonly #numbers: CommitNumbers;

  constructor(database: Database, names: Names, numbers: CommitNumbers) {
    this.#database = database;
    this.#names = names;
    this.#numbers = numbers;
  }

  /** The number of the transaction. Rejects with a `LogError`: `fenced` is final, anything else may be tried again with the same outcome. */
  async run(outcome: Outcome): Promise<bigint> {
    try {
      for (;;) {
        const done = outcome.unsure ? await this.#find(outcome) : undefined;
        if (done === undefined && outcome.set.isEmpty) return 0n;
        const xid = done ?? (await this.#send(outcome));
        if (xid === undefined) continue;
        this.#numbers.done();
        return xid;
      }
    } catch (error) {
      throw toLogError(error, "Writing to the log");
    }
  }

  /** Undefined: something of it was refused and left out, or it was not the next commit: to be tried again. */
  async #send(outcome: Outcome): Promise<bigint | undefined> {
    outcome.parameters ??= encode(outcome.set, this.#names, await this.#numbers.next());
    try {
      const { rows } = await this.#database.query(COMMIT, outcome.parameters);
      return BigInt(rows[0] === undefined ? "0" : text(rows[0], "xid"));
    } catch (error) {
      if (!(error instanceof PostgresError) || error.code === LOG_FENCED) throw error;
      if (error.reason === "lost") {
        outcome.unsure = true;
        this.lost++;
      }
      if (error.code === NOT_NEXT) return this.#find(outcome);
      if (error.code === CREATION_FENCED) return this.#refuseForeign(outcome);
      if (error.reason === "fenced") return this.#refuseLost(outcome);
      if (error.code === UNIQUE_VIOLATION && (await this.#refuseTaken(outcome))) return undefined;
      throw error;
    }
  }

  /** Asks whether it was done, and when. Undefined: it was not. */
  async #find(outcome: Outcome): Promise<bigint | undefined> {
    const xid = await this.#numbers.find();
    outcome.unsure = false;
    outcome.parameters = undefined;
    return xid;
  }

  /** Streams that belong to another, or are gone. */
  async #refuseLost(outcome: Outcome): Promise<undefined> {
    const { streams } = outcome.set;
    const { rows } = await this.#database.query(
      "SELECT no, epoch, last_sequence, deleted FROM dragoman.streams WHERE no = ANY($1)",
      [`{${streams.map(({ no }) => no).join(",")}}`],
    );
    const found = new Map(
      rows.map((row) => [
        int(row, "no"),
        { epoch: int(row, "epoch"), last: int(row, "last_sequence"), deleted: row.deleted === 1 },
      ]),
    );
    const lost = streams.filter((part) => {
      const row = found.get(part.no);
      if (row === undefined) return part.created === null;
      return row.epoch !== part.epoch || row.deleted || row.last !== part.expected;
    });
    this.#drop(outcome, lost);
    for (const part of lost) part.refuse(found.get(part.no)?.deleted ? deleted(part) : fenced(part));
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
