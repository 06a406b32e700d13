/** Events of one commit out of the large row that they were packed into: see `sealing.ts`. For who reads the order of all commits. */
import { EventBatch } from "../packing/batch.ts";
import type { Damage, StreamName } from "../packing/damage.ts";
import { checkedRow, merge, packedFrom, writtenOf } from "../packing/event-chunk.ts";
import { int, type SqlRow } from "../packing/row-readers.ts";
import type { Database } from "./connection.ts";

/** Packed rows of one page. */
const MOST = 8;

export function whole(row: SqlRow, stream: StreamName, damage: Damage): EventBatch {
  const checked = checkedRow(row, stream, damage);
  return new EventBatch(stream, checked.first, checked.last, merge([checked]));
}

export class PackedParts {
  readonly #database: Database;
  readonly #damage: Damage;
  readonly #read = new Map<string, EventBatch>();

  constructor(database: Database, damage: Damage) {
    this.#database = database;
    this.#damage = damage;
  }

  /** `row`: its place, with `packed`, the end of the row that holds it. `later`: enough was read for now. `gone`: the stream was deleted meanwhile. */
  async part(row: SqlRow, stream: StreamName): Promise<EventBatch | "later" | "gone"> {
    const [first, last, end] = [int(row, "first"), int(row, "last"), int(row, "packed")];
    const name = `${stream.no}/${end}`;
    if (!this.#read.has(name) && this.#read.size === MOST) return "later";
    const batch = this.#read.get(name) ?? (await this.#find(stream, end));
    if (batch === undefined) return "gone";
    this.#read.set(name, batch);
    if (first < batch.first) throw this.#damage.found(`Events ${first} to ${last}`, stream);
    const [from, to] = [first - batch.first, last - batch.first + 1];
    const [events, types, natives] = [batch.events.slice(from, to), batch.types.slice(from, to), batch.natives.slice(from, to)];
    return new EventBatch(stream, first, last, writtenOf(packedFrom(first, { events, types, natives })));
  }

  async #find(stream: StreamName, end: number): Promise<EventBatch | undefined> {
    const { rows } = await this.#database.query(
      "SELECT stream, first, last, types, natives, body, checksum FROM dragoman.sealed_chunks WHERE stream = $1 AND last = $2",
      [stream.no, end],
    );
    if (rows[0] !== undefined) return whole(rows[0], stream, this.#damage);
    const there = await this.#database.query("SELECT 1 FROM dragoman.streams WHERE no = $1 AND NOT deleted", [stream.no]);
    if (there.rows.length > 0) throw this.#damage.found(`Event ${end}`, stream);
    return undefined;
  }
}
