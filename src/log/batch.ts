/**
 * A run of events of one stream as subscribers get it. Made from what was just committed (strings at hand) or from the log (bytes); the other forms are
 * computed on first use and shared by all who receive the batch.
 */
import type { Batch, GlobalBatch } from "./contract.ts";

/** Parts of a chunk row, or of several in a row. */
export type StoredEvents = { types: string; natives: string; body: Buffer };

const EVENT_OVERHEAD = 48;

export class EventBatch implements Batch {
  readonly stream_id: string;
  readonly first: number;
  readonly last: number;
  /** About what it holds in memory. */
  readonly size: number;
  #events: readonly string[] | undefined;
  #types: readonly string[] | undefined;
  #natives: readonly (number | null)[] | undefined;
  readonly #stored: StoredEvents | undefined;
  #sse: Buffer | undefined;

  private constructor(streamId: string, first: number, last: number, size: number, stored?: StoredEvents) {
    this.stream_id = streamId;
    this.first = first;
    this.last = last;
    this.size = size;
    this.#stored = stored;
  }

  static fresh(
    streamId: string,
    first: number,
    events: readonly string[],
    types: readonly string[],
    natives: readonly (number | null)[],
    chars: number,
  ): EventBatch {
    const batch = new EventBatch(streamId, first, first + events.length - 1, 2 * chars + EVENT_OVERHEAD * events.length);
    batch.#events = events;
    batch.#types = types;
    batch.#natives = natives;
    return batch;
  }

  static stored(streamId: string, first: number, last: number, stored: StoredEvents): EventBatch {
    return new EventBatch(streamId, first, last, 3 * stored.body.length, stored);
  }

  get events(): readonly string[] {
    this.#events ??= lines(this.#stored);
    return this.#events;
  }

  get types(): readonly string[] {
    this.#types ??= this.#stored?.types.split(" ") ?? [];
    return this.#types;
  }

  get natives(): readonly (number | null)[] {
    this.#natives ??= parseNatives(this.#stored?.natives ?? "");
    return this.#natives;
  }

  sse(): Buffer {
    this.#sse ??= this.frames((index) => String(this.first + index));
    return this.#sse;
  }

  /** SSE frames with ids of the caller's making. */
  frames(idOf: (index: number) => string): Buffer {
    const events = this.#events;
    if (events === undefined) return this.#storedFrames(idOf);
    let text = "";
    for (let index = 0; index < events.length; index++) text += `id: ${idOf(index)}\ndata: ${events[index]}\n\n`;
    return Buffer.from(text, "utf8");
  }

  /** As latin1, which copies bytes exactly: a replay need not decode UTF-8. Every line end is the border of two events. */
  #storedFrames(idOf: (index: number) => string): Buffer {
    let index = 0;
    const inner = this.#stored?.body.toString("latin1").replaceAll("\n", () => `\n\nid: ${idOf(++index)}\ndata: `);
    return Buffer.from(`id: ${idOf(0)}\ndata: ${inner}\n\n`, "latin1");
  }

  /** The part with sequence > after. */
  tail(after: number): EventBatch {
    if (after < this.first) return this;
    const skip = after - this.first + 1;
    const events = this.events.slice(skip);
    return EventBatch.fresh(this.stream_id, after + 1, events, this.types.slice(skip), this.natives.slice(skip), chars(events));
  }
}

/** A global cursor as one number, so that it can be compared: chunks hold at most 1000 events. */
const POSITION_STEP = 1024;

export class SessionsBatch implements GlobalBatch {
  readonly #batch: EventBatch;
  readonly #position: number;
  /** Index in the chunk of the first event here. */
  readonly #offset: number;
  #sse: Buffer | undefined;

  constructor(batch: EventBatch, position: number, offset = 0) {
    this.#batch = batch;
    this.#position = position;
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
    return `${this.#position}.${this.#offset + index + 1}`;
  }

  sse(): Buffer {
    this.#sse ??= this.#batch.frames((index) => this.cursorOf(index));
    return this.#sse;
  }
}

/** `12.3` means: behind the third event of chunk 12. Anything that is not a cursor reads as the beginning. */
export function parseCursor(cursor: string | undefined): number {
  const match = /^([0-9]{1,12})\.([0-9]{1,4})$/.exec(cursor ?? "");
  if (match === null) return 0;
  return Number(match[1]) * POSITION_STEP + Math.min(Number(match[2]), POSITION_STEP - 1);
}

export function splitCursor(cursor: number): { position: number; index: number } {
  const position = Math.floor(cursor / POSITION_STEP);
  return { position, index: cursor - position * POSITION_STEP };
}

export function parseNatives(text: string): (number | null)[] {
  return text.split(",").map((part) => (part === "" ? null : Number(part)));
}

function lines(stored: StoredEvents | undefined): string[] {
  return stored === undefined ? [] : stored.body.toString("utf8").split("\n");
}

function chars(events: readonly string[]): number {
  let sum = 0;
  for (const event of events) sum += event.length;
  return sum;
}
