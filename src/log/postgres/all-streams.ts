/**
 * The events of all streams in one, in the order of their commits. Where one daemon writes, a batch is published with its commit. Where nodes share the log,
 * a transaction with a smaller number may still be running: then the order is read from the log, up to the oldest that runs.
 */
import type { GlobalBatch, StreamKind, SubscribeOptions, Subscription } from "../contract.ts";
import { LogError } from "../log-error.ts";
import { type EventBatch, GlobalEventBatch } from "../packing/batch.ts";
import type { Damage } from "../packing/damage.ts";
import { int, text, word } from "../packing/row-readers.ts";
import { type Pump, Tail } from "../tail.ts";
import type { Database } from "./connection.ts";
import { changed, type Epochs } from "./epochs.ts";
import { toLogError } from "./errors.ts";
import { PackedParts, whole } from "./packed-parts.ts";
import { chunkOf, numberOf, type Place, placeOf } from "./place.ts";

const PAGE_ROWS = 200;
const PAGE_BYTES = 1024 * 1024;
const POLL_MS = 250;

class PlacedBatch extends GlobalEventBatch {
  readonly #place: Place;
  readonly #epoch: string;

  /** `place`: of the event before the first. */
  constructor(batch: EventBatch, place: Place, epoch: string) {
    super(batch);
    this.#place = place;
    this.#epoch = epoch;
  }

  get from(): bigint {
    return numberOf(this.#place) + 1n;
  }
  get to(): bigint {
    return numberOf(this.#place) + BigInt(this.last - this.first + 1);
  }

  cursorOf(index: number): string {
    return cursorOf({ ...this.#place, index: this.#place.index + index + 1 }, this.#epoch);
  }

  behind(after: bigint): PlacedBatch {
    const skip = Number(after - this.from) + 1;
    if (skip <= 0) return this;
    const place = { ...this.#place, index: this.#place.index + skip };
    return new PlacedBatch(this.batch.tail(this.first + skip - 1), place, this.#epoch);
  }
}

const cursorOf = ({ xid, ordinal, index }: Place, epoch: string): string => `${xid}.${ordinal}.${index}@${epoch}`;
const CURSOR = /^([0-9]{1,19})\.([0-9]{1,12})\.([0-9]{1,4})(?:@([0-9a-f]{1,32}))?$/;

type Sources = {
  database: Database;
  tenant: string;
  shared: boolean;
  epochs: Epochs;
  damage: Damage;
  pump: Pump;
  onThrow(error: unknown): void;
};

export class AllStreams {
  readonly tail: Tail<PlacedBatch, bigint>;
  readonly #sources: Sources;
  #end: bigint;
  #lastXid = 0n;
  #lastOrdinal = 0n;
  /** Read last, and behind which place: those who catch up together read it once. */
  #page: { after: bigint; batches: PlacedBatch[] } | undefined;
  #poll: NodeJS.Timeout | undefined;

  constructor(sources: Sources) {
    this.#sources = sources;
    this.#end = numberOf({ xid: sources.epochs.openXid, ordinal: 0n, index: 0 });
    const source = {
      // Where others write, only reading shows what there is.
      end: () => (sources.shared ? NO_END : this.#end),
      next: (after: bigint) => this.#next(after),
      from: (batch: PlacedBatch) => batch.from,
      to: (batch: PlacedBatch) => batch.to,
    };
    this.tail = new Tail<PlacedBatch, bigint>(source, sources.pump, sources.onThrow);
  }

  /** In the order in which the chunks of a commit were sent. Returns the batch in its place, for `publish`. */
  committed(batch: EventBatch, xid: bigint): PlacedBatch {
    this.#lastOrdinal = xid === this.#lastXid ? this.#lastOrdinal + 1n : 1n;
    this.#lastXid = xid;
    const placed = new PlacedBatch(batch, { xid, ordinal: this.#lastOrdinal, index: 0 }, this.#sources.epochs.current);
    if (!this.#sources.shared) this.#end = placed.to;
    return placed;
  }

  publish(batch: PlacedBatch): void {
    if (!this.#sources.shared && this.tail.hasLive) this.tail.publish(batch);
  }

  /** A stream was deleted: what was read of it is not given out any more. */
  forget(): void {
    this.#page = undefined;
  }

  async cursor(): Promise<string> {
    if (this.#sources.shared) await this.#look();
    return cursorOf(placeOf(this.#end), this.#sources.epochs.current);
  }

  async assertCursor(cursor: string): Promise<void> {
    if (this.#sources.shared) await this.#look();
    this.startAt(cursor);
  }

  subscribe(options: SubscribeOptions<GlobalBatch> & { after?: string }): Subscription {
    const subscription = this.tail.subscribe(this.startAt(options.after), options);
    if (this.#sources.shared) this.#follow();
    return subscription;
  }

  stop(): void {
    clearInterval(this.#poll);
    this.tail.end("closed");
  }

  /** Where to read on from a cursor. Throws `invalid_cursor`, `cursor_too_large`, `log_changed`. */
  startAt(cursor: string | undefined): bigint {
    if (cursor === undefined || cursor === BEGINNING) return 0n;
    const match = CURSOR.exec(cursor);
    if (match === null) throw new LogError("invalid_cursor", "This is no cursor. Take one from an `id:` of the stream.");
    const place = { xid: BigInt(match[1] ?? 0), ordinal: BigInt(match[2] ?? 0), index: Math.min(Number(match[3]), 1023) };
    const { epochs, shared } = this.#sources;
    const epoch = match[4];
    if (numberOf(place) > this.#end && !(shared && place.xid <= this.#lastXid)) {
      if (epoch !== undefined) throw changed("lies beyond the end of this log");
      const message = `The cursor ${cursor} lies beyond the end of this log. It was reset, or it is another one: read again from the beginning.`;
      throw new LogError("cursor_too_large", message);
    }
    if (epoch !== undefined && epoch !== epochs.current) epochs.assertWritten(epoch, chunkOf(place));
    return numberOf(place);
  }

  async #next(after: bigint): Promise<PlacedBatch | undefined> {
    const found = this.#known(after);
    if (found !== undefined) return found;
    const batches = await this.#read(after);
    this.#page = { after, batches };
    return this.#known(after);
  }

  #known(after: bigint): PlacedBatch | undefined {
    if (this.#page === undefined || after < this.#page.after) return undefined;
    return this.#page.batches.find((batch) => batch.to > after)?.behind(after);
  }

  /** Chunks behind a place, as many as fit. The one that holds the place is the first, and may have nothing behind it. */
  async #read(after: bigint): Promise<PlacedBatch[]> {
    const { database, tenant, shared, epochs, damage } = this.#sources;
    const { xid, ordinal } = placeOf(after);
    const bound = shared ? "AND e.xid < pg_snapshot_xmin(pg_current_snapshot())" : "";
    try {
      const { rows } = await database.query(
        `SELECT * FROM (
           SELECT e.xid::text AS xid, e.ordinal, s.kind, s.id, e.stream, e.first, e.last, e.types, e.natives, e.body, e.checksum, e.packed,
             sum(octet_length(e.body)) OVER (ORDER BY e.xid, e.ordinal) - octet_length(e.body) AS before
           FROM (SELECT *, CASE WHEN c.types = '' THEN
                   (SELECT min(z.last) FROM dragoman.sealed_chunks z WHERE z.stream = c.stream AND z.last >= c.last) END AS packed FROM dragoman.event_chunks c WHERE (c.xid, c.ordinal) >= ($2::xid8, $3)
                 AND EXISTS (SELECT 1 FROM dragoman.streams t WHERE t.no = c.stream AND t.tenant = $1 AND NOT t.deleted)
                 ORDER BY c.xid, c.ordinal LIMIT ${PAGE_ROWS}) e
           JOIN dragoman.streams s ON s.no = e.stream WHERE NOT s.deleted ${bound}) page
         WHERE before < ${PAGE_BYTES} ORDER BY page.xid::xid8, page.ordinal`,
        [tenant, String(xid), String(ordinal)],
      );
      const packed = new PackedParts(database, damage);
      const batches: PlacedBatch[] = [];
      for (const row of rows) {
        const stream = { no: int(row, "stream"), kind: word<StreamKind>(row, "kind"), id: text(row, "id") };
        const batch = row.packed === null ? whole(row, stream, damage) : await packed.part(row, stream);
        // A page has only as many packed rows as memory is worth; the next one goes on.
        if (batch === "later") break;
        if (batch === "gone") continue;
        const place = { xid: BigInt(text(row, "xid")), ordinal: BigInt(int(row, "ordinal")), index: 0 };
        batches.push(new PlacedBatch(batch, place, epochs.current));
      }
      return batches;
    } catch (error) {
      throw toLogError(error, "Reading the log");
    }
  }

  #follow(): void {
    this.#poll ??= setInterval(() => {
      if (this.tail.size > 0) return void this.#look().catch(this.#sources.onThrow);
      clearInterval(this.#poll);
      this.#poll = undefined;
    }, POLL_MS);
    this.#poll.unref();
  }

  /** How far the order of all commits is final. */
  async #look(): Promise<void> {
    const { rows } = await this.#sources.database.query(
      `SELECT e.xid::text AS xid, e.ordinal, e.last - e.first + 1 AS events FROM dragoman.event_chunks e JOIN dragoman.streams s ON s.no = e.stream
       WHERE s.tenant = $1 AND e.xid < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY e.xid DESC, e.ordinal DESC LIMIT 1`,
      [this.#sources.tenant],
    );
    const row = rows[0];
    if (row === undefined) return;
    const end = numberOf({ xid: BigInt(text(row, "xid")), ordinal: BigInt(int(row, "ordinal")), index: int(row, "events") });
    if (end <= this.#end) return;
    this.#end = end;
    this.tail.wake();
  }
}

export const BEGINNING = "0.0.0";

/** Behind every place. */
const NO_END = 1n << 128n;
