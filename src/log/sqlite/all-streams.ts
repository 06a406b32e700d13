/**
 * The events of all streams in one, in the order of their commits: live tail and cursors. A cursor carries the epoch it was given out in; one
 * of another history is refused.
 */

import { setImmediate } from "node:timers/promises";
import type { GlobalBatch, SubscribeOptions, Subscription } from "../contract.ts";
import { LogError } from "../log-error.ts";
import type { EventBatch } from "../packing/batch.ts";
import { type Pump, Tail } from "../tail.ts";
import { changed, type Epochs } from "./epochs.ts";
import type { EventStore } from "./event-store.ts";
import { PlacedBatch, POSITION_STEP, parseCursor, splitCursor } from "./placed-batch.ts";
import type { StreamStore } from "./stream-store.ts";

/** Streams looked at in one turn of the event loop: a millisecond. */
const PORTION = 200;

type Sources = { events: EventStore; streams: StreamStore; epochs: Epochs; pump: Pump; onThrow(error: unknown): void };

export class AllStreams {
  readonly tail: Tail<PlacedBatch>;
  readonly #events: EventStore;
  readonly #streams: StreamStore;
  readonly #epochs: Epochs;
  /** Of the last committed event, as one number. */
  #end: number;
  /** Done once the last chunk of every stream was found in its place. */
  #endsChecked: "not yet" | "done" | Promise<void> = "not yet";

  constructor({ events, streams, epochs, pump, onThrow }: Sources) {
    this.#events = events;
    this.#streams = streams;
    this.#epochs = epochs;
    this.#end = this.#lastPosition();
    const source = {
      end: () => this.#end,
      next: (after: number) => this.#nextChecked(after),
      from: (batch: PlacedBatch) => batch.from,
      to: (batch: PlacedBatch) => batch.to,
    };
    this.tail = new Tail<PlacedBatch>(source, pump, onThrow);
  }

  committed(batch: EventBatch, position: number): void {
    this.#end = this.#batch(batch, position).to;
  }

  publish(batch: EventBatch, position: number): void {
    if (this.tail.hasLive) this.tail.publish(this.#batch(batch, position));
  }

  /** Of the last committed event. */
  cursor(): string {
    const { position, index } = splitCursor(this.#end);
    return `${position}.${index}@${this.#epochs.current}`;
  }

  subscribe(options: SubscribeOptions<GlobalBatch> & { after?: string }): Subscription {
    return this.tail.subscribe(this.startAt(options.after), options);
  }

  /** Where to read on from a cursor. Throws `invalid_cursor`, `cursor_too_large`, `log_changed`. */
  startAt(cursor: string | undefined): number {
    if (cursor === undefined) return 0;
    const parsed = parseCursor(cursor);
    if (parsed === undefined) throw new LogError("invalid_cursor", "This is no cursor. Take one from an `id:` of the stream.");
    const { at, epoch } = parsed;
    if (at > this.#end) {
      if (epoch !== null) throw changed("lies beyond the end of this log");
      throw new LogError(
        "cursor_too_large",
        `The cursor ${cursor} lies beyond the end of this log. It was reset, or it is another one: read again from the beginning.`,
      );
    }
    if (epoch !== null && epoch !== this.#epochs.current) this.#epochs.assertWritten(epoch, splitCursor(at).position);
    return at;
  }

  #batch(batch: EventBatch, position: number, skip = 0): PlacedBatch {
    return new PlacedBatch(batch, position, this.#epochs.current, skip);
  }

  #nextChecked(after: number): PlacedBatch | undefined | Promise<PlacedBatch | undefined> {
    if (this.#endsChecked === "done") return this.#next(after, 1)[0];
    if (this.#endsChecked === "not yet") this.#endsChecked = this.#checkEnds();
    return this.#endsChecked.then(() => this.#next(after, 1)[0]);
  }

  #next(after: number, limit: number): PlacedBatch[] {
    const { position, index } = splitCursor(after);
    return this.#events.globalRows(position, limit + 1).flatMap((row) => {
      const skip = row.position === position ? index : 0;
      if (skip > row.batch.last - row.batch.first) return [];
      return [this.#batch(row.batch.tail(row.batch.first + skip - 1), row.position, skip)];
    });
  }

  /**
   * Once, before the first read: here no chunk follows that would show that the last one of a stream is missing. In portions: there may be very many streams,
   * and whoever asks for something meanwhile is not kept waiting.
   */
  async #checkEnds(): Promise<void> {
    try {
      const end = this.#streams.lastNo();
      for (let after = 0; after < end; after += PORTION) {
        this.#events.mustHaveLasts(after, after + PORTION);
        await setImmediate();
      }
      this.#endsChecked = "done";
    } catch (error) {
      // Whoever reads next is refused again.
      this.#endsChecked = "not yet";
      throw error;
    }
  }

  #lastPosition(): number {
    const { position, events } = this.#events.lastPosition();
    const { lastGiven } = this.#epochs;
    // Chunks that were removed were behind it: their cursors are still inside.
    return lastGiven > position ? lastGiven * POSITION_STEP + POSITION_STEP - 1 : position * POSITION_STEP + events;
  }
}
