/**
 * A run of events of one stream as subscribers get it: the bytes that were written to the log, or read from it. Other forms are computed on first use and
 * shared by all who receive the batch.
 */
import type { Batch, GlobalBatch } from "./contract.ts";
import { eventsOf, offsetOf, withIds } from "./frames.ts";
import { numbersOf, wordsOf } from "./runs.ts";

/** Parts of a chunk row, or of several in a row. See `runs.ts` for the columns. `frames` is asked for once, and only if somebody wants them. */
export type StoredEvents = {
  types: string;
  natives: string;
  /** Bytes of the frames, about. */
  size: number;
  frames(): Buffer;
  /** The same, from less memory: thousands of strings that wait for someone to want them are work for the garbage collector. */
  framesLater?(): Buffer;
};

export class EventBatch implements Batch {
  readonly stream_id: string;
  readonly first: number;
  readonly last: number;
  readonly size: number;
  readonly #columns: { types: string; natives: string };
  /** Bytes once somebody asked for them; what they are made of is let go then. */
  #frames: Buffer | (() => Buffer);
  #framesLater: (() => Buffer) | undefined;
  #events: readonly string[] | undefined;
  #types: readonly string[] | undefined;
  #natives: readonly (number | null)[] | undefined;

  constructor(streamId: string, first: number, last: number, { types, natives, size, frames, framesLater }: StoredEvents) {
    this.stream_id = streamId;
    this.first = first;
    this.last = last;
    this.size = size;
    this.#columns = { types, natives };
    this.#frames = frames;
    this.#framesLater = framesLater;
  }

  get events(): readonly string[] {
    this.#events ??= eventsOf(this.sse());
    return this.#events;
  }

  get types(): readonly string[] {
    this.#types ??= wordsOf(this.#columns.types);
    return this.#types;
  }

  get natives(): readonly (number | null)[] {
    this.#natives ??= numbersOf(this.#columns.natives);
    return this.#natives;
  }

  sse(): Buffer {
    if (typeof this.#frames === "function") this.#frames = this.#frames();
    return this.#frames;
  }

  /** Those who follow live have it: for others it is kept small. */
  settle(): void {
    if (typeof this.#frames === "function" && this.#framesLater) this.#frames = this.#framesLater;
    this.#framesLater = undefined;
  }

  /** SSE frames with ids of the caller's making. */
  frames(idOf: (index: number) => string): Buffer {
    return withIds(this.sse(), idOf);
  }

  /** The part with sequence > after. */
  tail(after: number): EventBatch {
    if (after < this.first) return this;
    const skip = after - this.first + 1;
    const frames = this.sse();
    const rest = frames.subarray(offsetOf(frames, after + 1));
    const batch = new EventBatch(this.stream_id, after + 1, this.last, {
      ...this.#columns,
      size: rest.length,
      frames: () => rest,
    });
    batch.#types = this.types.slice(skip);
    batch.#natives = this.natives.slice(skip);
    return batch;
  }
}

/** A global cursor as one number, so that it can be compared: chunks hold at most 1000 events. */
export const POSITION_STEP = 1024;

export class SessionsBatch implements GlobalBatch {
  readonly #batch: EventBatch;
  readonly #position: number;
  /** Index in the chunk of the first event here. */
  readonly #offset: number;
  /** In which cursors are given out. */
  readonly #epoch: string;
  #sse: Buffer | undefined;

  constructor(batch: EventBatch, position: number, epoch: string, offset = 0) {
    this.#batch = batch;
    this.#position = position;
    this.#epoch = epoch;
    this.#offset = offset;
  }

  get stream_id(): string {
    return this.#batch.stream_id;
  }
  get first(): number {
    return this.#batch.first;
  }
  get last(): number {
    return this.#batch.last;
  }
  get events(): readonly string[] {
    return this.#batch.events;
  }
  get types(): readonly string[] {
    return this.#batch.types;
  }
  get natives(): readonly (number | null)[] {
    return this.#batch.natives;
  }
  get cursor(): string {
    return this.cursorOf(this.last - this.first);
  }
  /** Numbers of the first and the last event, for the tail. */
  get from(): number {
    return this.#position * POSITION_STEP + this.#offset + 1;
  }
  get to(): number {
    return this.from + this.last - this.first;
  }

  cursorOf(index: number): string {
    return `${this.#position}.${this.#offset + index + 1}@${this.#epoch}`;
  }

  sse(): Buffer {
    this.#sse ??= this.#batch.frames((index) => this.cursorOf(index));
    return this.#sse;
  }
}

/** `12.3@4f6a…` means: behind the third event of chunk 12, as it was in that epoch. Anything that is not a cursor reads as the beginning. */
export function parseCursor(cursor: string | undefined): { at: number; epoch: string | null } {
  const match = /^([0-9]{1,12})\.([0-9]{1,4})(?:@([0-9a-f]{1,32}))?$/.exec(cursor ?? "");
  if (match === null) return { at: 0, epoch: null };
  return { at: Number(match[1]) * POSITION_STEP + Math.min(Number(match[2]), POSITION_STEP - 1), epoch: match[3] ?? null };
}

export function splitCursor(cursor: number): { position: number; index: number } {
  const position = Math.floor(cursor / POSITION_STEP);
  return { position, index: cursor - position * POSITION_STEP };
}
