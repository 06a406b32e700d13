/**
 * A chunk of events on its way into its row, and back: what is pending, what was written, and what is still what was written. It runs no statement.
 */
import type { StoredEvents } from "./batch.ts";
import { checksumBehind, checksumOf, unsealed } from "./checksum.ts";
import { blob, int, text } from "./columns.ts";
import type { Damage, StreamName } from "./damage.ts";
import type { SqlRow } from "./driver.ts";
import { eventsOf } from "./frames.ts";
import { PackedEvents } from "./packed-events.ts";
import { NumberRuns, numbersOf, WordRuns, wordsOf } from "./runs.ts";

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

/** What was written of it, for those who follow. */
export const writtenOf = ({ types, natives, events, body, first }: PendingChunk): StoredEvents => ({
  types: types.toString(),
  natives: natives.toString(),
  size: events.chars,
  frames: () => events.frames(),
  framesLater: framesFrom(body, first),
});

/** A function of its own: closures of one scope keep alive what any of them uses. */
const framesFrom = (body: Buffer, first: number) => (): Buffer => PackedEvents.read(body, first).frames();

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
    const events = eventsOf(PackedEvents.read(body, first).frames());
    const whole = events.every((json) => json.startsWith("{") && json.endsWith("}"));
    return whole && events.length === count && wordsOf(types).length === count && numbersOf(natives).length === count;
  } catch {
    return false;
  }
}

export function merge(rows: readonly CheckedRow[]): StoredEvents {
  const parts = rows.map(storedOf);
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  return {
    types: parts.map((part) => part.types).join(" "),
    natives: parts.map((part) => part.natives).join(","),
    size: parts.reduce((sum, part) => sum + part.size, 0),
    frames: () => Buffer.concat(parts.map((part) => part.frames())),
  };
}

const storedOf = ({ first, last, types, natives, body }: CheckedRow): StoredEvents => ({
  types,
  natives,
  size: body.length + ENVELOPE * (last - first + 1),
  frames: framesFrom(body, first),
});
