/**
 * Entries of one stream that wait for their commit: checked, and packed into the chunks that become its rows. The same for every engine that stores packed
 * bytes. Not here: when they are committed, and how a row is written.
 */
import { charsOf } from "../../schema/envelope.ts";
import type { EventEntry, NativeEntry, Stream } from "../contract.ts";
import { gap, malformed, tooLarge } from "../entry-errors.ts";
import { CHUNK_CHARS, CHUNK_EVENTS, type PendingChunk, pendingChunk } from "./event-chunk.ts";
import { NativeChunk } from "./native-chunk.ts";

/** Memory that an entry takes beside its text, about. */
const ENTRY_OVERHEAD = 64;
/** What a database can never take must not get into a commit: it would be tried for ever. SQLite takes values up to 1 GB. */
const MAX_ENTRY = 128 * 1024 * 1024;

export class PendingEntries {
  /** What a type of an event must look like. */
  readonly #word: RegExp;
  #chunks: PendingChunk[] = [];
  #natives: NativeChunk[] = [];

  constructor(word: RegExp) {
    this.#word = word;
  }

  get chunks(): readonly PendingChunk[] {
    return this.#chunks;
  }

  get natives(): readonly NativeChunk[] {
    return this.#natives;
  }

  /** The event that follows `stream.last`. Returns about how much memory it takes; nothing has happened when it throws. */
  add(stream: Stream & { last: number }, { text, sequence, type, native }: EventEntry): number {
    const size = charsOf(text);
    if (sequence !== stream.last + 1) throw gap(stream, sequence);
    if (size > MAX_ENTRY) throw tooLarge(stream, size);
    let chunk = this.#chunks.at(-1);
    const malformedType = !chunk?.types.continues(type) && !this.#word.test(type);
    if (malformedType || (typeof text === "string" && text.includes("\n"))) throw malformed(stream, sequence);
    if (chunk === undefined || chunk.events.count >= CHUNK_EVENTS || chunk.events.chars + size > CHUNK_CHARS) {
      chunk = pendingChunk(sequence);
      this.#chunks.push(chunk);
    }
    chunk.events.add(text);
    chunk.types.add(type);
    chunk.natives.add(native);
    return size + ENTRY_OVERHEAD;
  }

  /** The native message that follows `stream.lastNative`, in the same way. */
  addNative(stream: Stream & { lastNative: number }, entry: NativeEntry): number {
    const size = entry.raw.length;
    if (size > MAX_ENTRY) throw tooLarge(stream, size);
    let chunk = this.#natives.at(-1);
    if (chunk === undefined || chunk.full) {
      chunk = new NativeChunk(stream.lastNative + 1);
      this.#natives.push(chunk);
    }
    chunk.add(entry);
    return size + ENTRY_OVERHEAD;
  }

  /** Nothing waits any more: what did was taken by a commit, or is dropped. */
  clear(): void {
    this.#chunks = [];
    this.#natives = [];
  }
}
