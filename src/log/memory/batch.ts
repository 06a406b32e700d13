/** Batches of the engine in memory: the events are there, as strings. */
import type { Batch, GlobalBatch, StreamKind } from "../contract.ts";

type Content = { events: readonly string[]; types: readonly string[]; natives: readonly (number | null)[] };

export class MemoryBatch implements Batch {
  readonly kind: StreamKind;
  readonly stream_id: string;
  readonly first: number;
  readonly events: readonly string[];
  readonly types: readonly string[];
  readonly natives: readonly (number | null)[];

  constructor(stream: { kind: StreamKind; id: string }, first: number, { events, types, natives }: Content) {
    this.kind = stream.kind;
    this.stream_id = stream.id;
    this.first = first;
    this.events = events;
    this.types = types;
    this.natives = natives;
  }

  get last(): number {
    return this.first + this.events.length - 1;
  }

  get lastType(): string {
    return this.types.at(-1) ?? "";
  }

  indexesOf(wanted: ReadonlySet<string>): number[] {
    return this.types.flatMap((type, index) => (wanted.has(type) ? [index] : []));
  }

  event(index: number): string {
    return this.events[index] ?? "";
  }

  framed(before: (index: number) => string, after: string): Buffer {
    return Buffer.from(this.events.map((json, index) => `${before(index)}${json}${after}`).join(""));
  }

  /** Without the first `skip` events. */
  behind(skip: number): MemoryBatch {
    if (skip <= 0) return this;
    const [events, types, natives] = [this.events.slice(skip), this.types.slice(skip), this.natives.slice(skip)];
    return new MemoryBatch({ kind: this.kind, id: this.stream_id }, this.first + skip, { events, types, natives });
  }
}

/** In the stream of all streams, where events are numbered in the order of their commit. */
export class PlacedMemoryBatch implements GlobalBatch {
  readonly #batch: MemoryBatch;
  readonly #before: number;

  /** `before`: the number of the event before the first. */
  constructor(batch: MemoryBatch, before: number) {
    this.#batch = batch;
    this.#before = before;
  }

  get kind(): StreamKind {
    return this.#batch.kind;
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
  get lastType(): string {
    return this.#batch.lastType;
  }
  get from(): number {
    return this.#before + 1;
  }
  get to(): number {
    return this.#before + this.events.length;
  }
  get cursor(): string {
    return String(this.to);
  }

  cursorOf(index: number): string {
    return String(this.from + index);
  }

  indexesOf(wanted: ReadonlySet<string>): readonly number[] {
    return this.#batch.indexesOf(wanted);
  }

  event(index: number): string {
    return this.#batch.event(index);
  }

  framed(before: (index: number) => string, after: string): Buffer {
    return this.#batch.framed(before, after);
  }

  of({ kind, id }: { kind: StreamKind; id: string }): boolean {
    return this.kind === kind && this.stream_id === id;
  }

  tail(after: number): PlacedMemoryBatch {
    const skip = Math.max(0, after - this.#before);
    return skip === 0 ? this : new PlacedMemoryBatch(this.#batch.behind(skip), this.#before + skip);
  }
}
