/**
 * The events of all sessions in one stream, in the order of their commits: pages, live tail, cursors. A cursor carries the epoch it was given out in; one
 * of another history is refused.
 */
import { type EventBatch, POSITION_STEP, parseCursor, SessionsBatch, splitCursor } from "./batch.ts";
import type { GlobalBatch, GlobalPage, SubscribeOptions, Subscription } from "./contract.ts";
import { changed, type Epochs } from "./epochs.ts";
import type { EventStore } from "./event-store.ts";
import type { StreamStore } from "./stream-store.ts";
import { type Pump, Tail } from "./tail.ts";

const PAGE_CHARS = 8 * 1024 * 1024;

type Sources = { events: EventStore; streams: StreamStore; epochs: Epochs; pump: Pump; onThrow(error: unknown): void };

export class AllSessions {
  readonly tail: Tail<SessionsBatch>;
  readonly #events: EventStore;
  readonly #streams: StreamStore;
  readonly #epochs: Epochs;
  /** Of the last committed event, as one number. */
  #end: number;
  /** True once the last chunk of every session was found in its place. */
  #endsChecked = false;

  constructor({ events, streams, epochs, pump, onThrow }: Sources) {
    this.#events = events;
    this.#streams = streams;
    this.#epochs = epochs;
    this.#end = this.#lastPosition();
    const source = {
      end: () => this.#end,
      next: (after: number) => this.#next(after, 1)[0],
      from: (batch: SessionsBatch) => batch.from,
      to: (batch: SessionsBatch) => batch.to,
    };
    this.tail = new Tail<SessionsBatch>(source, pump, onThrow);
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

  /** Where to read on from a cursor. Throws `log_changed`. */
  startAt(cursor: string | undefined): number {
    const { at, epoch } = parseCursor(cursor);
    if (epoch === null) return at;
    if (at > this.#end) throw changed("lies beyond the end of this log");
    if (epoch !== this.#epochs.current) this.#epochs.assertWritten(epoch, splitCursor(at).position);
    return at;
  }

  read(options: { after?: string; limit?: number }): GlobalPage {
    const limit = Math.max(1, options.limit ?? 1000);
    const page: GlobalPage = { events: [], next: options.after ?? "0.0", has_more: false };
    let chars = 0;
    for (let at = this.startAt(options.after); ; ) {
      const batches = this.#next(at, 8);
      for (const batch of batches) {
        for (const [index, json] of batch.events.entries()) {
          if (page.events.length >= limit || chars > PAGE_CHARS) return { ...page, has_more: true };
          chars += json.length;
          const cursor = batch.cursorOf(index);
          const [type = "", native = null] = [batch.types[index], batch.natives[index]];
          page.events.push({ cursor, stream_id: batch.stream_id, type, native, json });
          page.next = cursor;
        }
        at = batch.to;
      }
      if (batches.length === 0) return page;
    }
  }

  #batch(batch: EventBatch, position: number, skip = 0): SessionsBatch {
    return new SessionsBatch(batch, position, this.#epochs.current, skip);
  }

  #next(after: number, limit: number): SessionsBatch[] {
    this.#checkEnds();
    const { position, index } = splitCursor(after);
    return this.#events.globalRows(position, limit + 1).flatMap((row) => {
      const skip = row.position === position ? index : 0;
      if (skip > row.batch.last - row.batch.first) return [];
      return [this.#batch(row.batch.tail(row.batch.first + skip - 1), row.position, skip)];
    });
  }

  /** Once, before the first read: here no chunk follows that would show that the last one of a session is missing. */
  #checkEnds(): void {
    if (this.#endsChecked) return;
    for (const { last, ...stream } of this.#streams.lasts()) this.#events.mustHaveLast(stream, last);
    this.#endsChecked = true;
  }

  #lastPosition(): number {
    const { position, events } = this.#events.lastPosition();
    const { lastGiven } = this.#epochs;
    // Chunks that were removed were behind it: their cursors are still inside.
    return lastGiven > position ? lastGiven * POSITION_STEP + POSITION_STEP - 1 : position * POSITION_STEP + events;
  }
}
