/**
 * A run of events of one stream as subscribers get it: what was written to the log, or read from it. Texts and columns are computed on first use and shared
 * by all who receive the batch.
 */
import type { Batch, GlobalBatch, StreamKind } from "../contract.ts";
import type { PackedEvents } from "./packed-events.ts";
import { indexesOf, lastWord, numbersOf, wordsOf } from "./run-length.ts";

/** Parts of a chunk row, or of several in a row. See `run-length.ts` for the columns. */
export type StoredEvents = {
  types: string;
  natives: string;
  /** Bytes of the events in full, about. */
  size: number;
  /** Asked for only if somebody wants them. */
  events: readonly (() => PackedEvents)[];
  /** The same, from less memory: thousands of strings that wait for someone to want them are work for the garbage collector. */
  eventsLater?: readonly (() => PackedEvents)[];
};

export type StreamKey = { kind: StreamKind; id: string };

export class EventBatch implements Batch {
  readonly kind: StreamKind;
  readonly stream_id: string;
  readonly first: number;
  readonly last: number;
  readonly size: number;
  readonly #columns: { types: string; natives: string };
  readonly #eventsLater: StoredEvents["eventsLater"];
  #packed: StoredEvents["events"];
  /** Events at the beginning of what is packed that are not in this batch. */
  #skip = 0;
  #events: readonly string[] | undefined;
  #types: readonly string[] | undefined;
  #natives: readonly (number | null)[] | undefined;

  constructor({ kind, id }: StreamKey, first: number, last: number, stored: StoredEvents) {
    this.kind = kind;
    this.stream_id = id;
    this.first = first;
    this.last = last;
    this.size = stored.size;
    // Only these: what `settle` lets go must not be held by another name.
    this.#columns = { types: stored.types, natives: stored.natives };
    this.#packed = stored.events;
    this.#eventsLater = stored.eventsLater;
  }

  get events(): readonly string[] {
    if (this.#events === undefined) {
      const lines = this.framed(() => "", "\n")
        .toString("utf8")
        .split("\n");
      lines.pop();
      this.#events = lines;
    }
    return this.#events;
  }

  get types(): readonly string[] {
    this.#types ??= wordsOf(this.#columns.types).slice(this.#skip);
    return this.#types;
  }

  get natives(): readonly (number | null)[] {
    this.#natives ??= numbersOf(this.#columns.natives).slice(this.#skip);
    return this.#natives;
  }

  get lastType(): string {
    return lastWord(this.#columns.types);
  }

  indexesOf(wanted: ReadonlySet<string>): number[] {
    const found = indexesOf(this.#columns.types, wanted);
    return this.#skip === 0 ? found : found.flatMap((index) => (index < this.#skip ? [] : [index - this.#skip]));
  }

  event(index: number): string {
    if (this.#events !== undefined) return this.#events[index] ?? "";
    let at = index + this.#skip;
    for (const read of this.#packed) {
      const packed = read();
      if (at < packed.count) return packed.event(at);
      at -= packed.count;
    }
    return "";
  }

  framed(before: (index: number) => string, after: string): Buffer {
    const buffers: Buffer[] = [];
    let from = -this.#skip;
    for (const read of this.#packed) {
      const packed = read();
      const start = from;
      if (from + packed.count > 0) buffers.push(packed.framed(Math.max(0, -start), (index) => before(start + index), after));
      from += packed.count;
    }
    const [only] = buffers;
    return buffers.length === 1 && only !== undefined ? only : Buffer.concat(buffers);
  }

  /** Live subscribers were served: for late readers the compact form is kept. */
  settle(): void {
    if (this.#eventsLater !== undefined) this.#packed = this.#eventsLater;
  }

  /** The part with sequence > after. */
  tail(after: number): EventBatch {
    if (after < this.first) return this;
    const skip = after - this.first + 1;
    const size = Math.ceil((this.size * (this.last - after)) / (this.last - this.first + 1));
    const key = { kind: this.kind, id: this.stream_id };
    const batch = new EventBatch(key, after + 1, this.last, { ...this.#columns, size, events: this.#packed });
    batch.#skip = this.#skip + skip;
    return batch;
  }
}

/** A batch in the stream of all streams; engines say where it stands there. */
export abstract class GlobalEventBatch implements GlobalBatch {
  protected readonly batch: EventBatch;

  constructor(batch: EventBatch) {
    this.batch = batch;
  }

  abstract cursorOf(index: number): string;

  get kind(): StreamKind {
    return this.batch.kind;
  }
  get stream_id(): string {
    return this.batch.stream_id;
  }
  get first(): number {
    return this.batch.first;
  }
  get last(): number {
    return this.batch.last;
  }
  get events(): readonly string[] {
    return this.batch.events;
  }
  get types(): readonly string[] {
    return this.batch.types;
  }
  get natives(): readonly (number | null)[] {
    return this.batch.natives;
  }
  get lastType(): string {
    return this.batch.lastType;
  }
  get cursor(): string {
    return this.cursorOf(this.last - this.first);
  }

  indexesOf(wanted: ReadonlySet<string>): readonly number[] {
    return this.batch.indexesOf(wanted);
  }

  event(index: number): string {
    return this.batch.event(index);
  }

  framed(before: (index: number) => string, after: string): Buffer {
    return this.batch.framed(before, after);
  }
}
