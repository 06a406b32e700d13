/**
 * A chunk of events on its way into its row, and back: what is pending, what was written, and what is still what was written. It runs no statement.
 */
import type { Batch } from "../contract.ts";
import type { StoredEvents } from "./batch.ts";
import { checksumBehind, checksumOf, unsealed } from "./checksum.ts";
import type { Damage, StreamName } from "./damage.ts";
import { PackedEvents } from "./packed-events.ts";
import { blob, int, type SqlRow, text } from "./row-readers.ts";
import { NumberRuns, numbersOf, WordRuns, wordsOf } from "./run-length.ts";

export const CHUNK_EVENTS = 1000;
export const CHUNK_CHARS = 512 * 1024;
/** Bytes of an event that its row may not hold, about. */
export const ENVELOPE = 320;

/** Events of one stream that wait for their commit. Becomes one row, then one batch. */
export type PendingChunk = {
  first: number;
  events: PackedEvents;
  types: WordRuns;
  natives: NumberRuns;
  /** As it was written last. */
  position: number;
  body: Buffer;
};

export function pendingChunk(first: number): PendingChunk {
  return {
    first,
    events: new PackedEvents(first),
    types: new WordRuns(),
    natives: new NumberRuns(),
    position: 0,
    body: Buffer.alloc(0),
  };
}

/** A chunk of events that are known one by one. */
export function packedFrom(first: number, { events, types, natives }: Pick<Batch, "events" | "types" | "natives">): PendingChunk {
  const chunk = pendingChunk(first);
  for (const [index, event] of events.entries()) {
    chunk.events.add(event);
    chunk.types.add(types[index] ?? "");
    chunk.natives.add(natives[index] ?? null);
  }
  return chunk;
}

/** What was written of it, for those who follow. */
export const writtenOf = ({ types, natives, events, body, first }: PendingChunk): StoredEvents => ({
  types: types.toString(),
  natives: natives.toString(),
  size: events.chars,
  events: [() => events],
  eventsLater: [readLater(body, first)],
});

/** A function of its own: closures of one scope keep alive what any of them uses. */
const readLater = (body: Buffer, first: number) => (): PackedEvents => PackedEvents.read(body, first);

/** A row whose checksums match. */
export type CheckedRow = { first: number; last: number; types: string; natives: string; body: Buffer };

/** The row, when it is what was written. Throws `corrupt_chunk` otherwise. */
export function checkedRow(row: SqlRow, stream: StreamName, damage: Damage, place?: string): CheckedRow {
  const [first, last] = [int(row, "first"), int(row, "last")];
  const { text: types, checksum } = unsealed(text(row, "types"));
  const [natives, body] = [text(row, "natives"), blob(row, "body")];
  const head = checksumOf(int(row, "stream"), first, last, types, natives);
  const intact =
    int(row, "stream") === stream.no &&
    (checksum === null
      ? isComplete(body, first, last, types, natives)
      : checksum === head && row.checksum === checksumBehind(head, body));
  if (!intact) throw damage.found(place ?? `Events ${first} to ${last}`, stream);
  return { first, last, types, natives, body };
}

/** For rows without a checksum: as many events, types and natives as the row says. */
function isComplete(body: Buffer, first: number, last: number, types: string, natives: string): boolean {
  const count = last - first + 1;
  try {
    const events = PackedEvents.read(body, first).events();
    const whole = events.every((json) => json.startsWith("{") && json.endsWith("}"));
    return whole && events.length === count && wordsOf(types).length === count && numbersOf(natives).length === count;
  } catch {
    return false;
  }
}

export const merge = (rows: readonly CheckedRow[]): StoredEvents => ({
  types: rows.map((row) => row.types).join(" "),
  natives: rows.map((row) => row.natives).join(","),
  size: rows.reduce((sum, { first, last, body }) => sum + body.length + ENVELOPE * (last - first + 1), 0),
  events: rows.map(({ body, first }) => readLater(body, first)),
});
