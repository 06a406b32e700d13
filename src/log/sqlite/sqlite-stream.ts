/**
 * One stream: takes entries into memory, writes them when the tick commits, and hands committed batches on. It does not read the events it stores.
 * Readers have it as it is; whoever writes has a `SqliteWriter` in front of it.
 */
import type {
  Batch,
  CoverageRow,
  EventEntry,
  NativeEntry,
  NativePage,
  NativeRow,
  ReadOptions,
  ReadPage,
  Stream,
  StreamKind,
  StreamRow,
  SubscribeOptions,
  Subscription,
} from "../contract.ts";
import { deleted, fenced } from "../entry-errors.ts";
import { EventBatch } from "../packing/batch.ts";
import type { BatchCache } from "../packing/batch-cache.ts";
import { writtenOf } from "../packing/event-chunk.ts";
import { PendingEntries } from "../packing/pending-entries.ts";
import { type NumberedRow, withoutNumber } from "../packing/stream-row.ts";
import { type Pump, Tail } from "../tail.ts";
import type { Committer, Writer } from "./committer.ts";
import { changed, type Epochs } from "./epochs.ts";
import type { EventStore } from "./event-store.ts";
import type { NativeCounts } from "./native-counts.ts";
import type { NativeStore } from "./native-store.ts";
import type { StreamStore } from "./stream-store.ts";

/** What all streams of a log share. */
export type StreamContext = {
  committer: Committer;
  streams: StreamStore;
  events: EventStore;
  natives: NativeStore;
  epochs: Epochs;
  /** Batches last published, and last read back. Apart: a flood must not push out what many who are behind are reading together. */
  published: BatchCache;
  reread: BatchCache;
  pump: Pump;
  /** A committed batch, in order of commit; the log publishes it at the end of the tick. */
  committed(stream: SqliteStream, batch: EventBatch, position: number): void;
  onThrow(error: unknown): void;
};

const WORD = /^[^\s*]+$/;

export class SqliteStream implements Stream, Writer {
  readonly kind: StreamKind;
  readonly id: string;
  readonly no: number;
  readonly created_at: number;
  readonly tail: Tail<Batch>;
  readonly #context: StreamContext;
  #last: number;
  #lastCommitted: number;
  /** As it is committed, and as the transaction that is being written says. */
  #updatedAt: number;
  #writtenAt: number;
  /** Of the last event of a copy. */
  #copiedAt: number | undefined;
  #lastNative: number;
  #lastNativeCommitted: number;
  readonly #pending = new PendingEntries(WORD);
  #counts: NativeCounts | undefined;
  /** Waiting to be written; undefined when the row has it. */
  #state: string | undefined;
  #openSince: number | null;
  #isNew: boolean;
  #deleted = false;
  /** Of the writer that was taken last. */
  #writerEpoch = 0;

  constructor(context: StreamContext, row: NumberedRow, isNew: boolean) {
    this.#context = context;
    this.kind = row.kind;
    this.id = row.id;
    this.no = row.no;
    this.created_at = row.created_at;
    this.#last = row.last_sequence;
    this.#lastCommitted = row.last_sequence;
    this.#updatedAt = row.updated_at;
    this.#writtenAt = row.updated_at;
    this.#lastNative = row.last_native;
    this.#lastNativeCommitted = row.last_native;
    this.#openSince = row.open_since;
    this.#isNew = isNew;
    if (isNew) this.#state = row.state;
    const source = {
      end: () => this.#lastCommitted,
      next: (after: number) => this.#next(after),
      from: (batch: Batch) => batch.first,
      to: (batch: Batch) => batch.last,
    };
    this.tail = new Tail<Batch>(source, context.pump, context.onThrow);
  }

  get last(): number {
    return this.#last;
  }
  get lastCommitted(): number {
    return this.#lastCommitted;
  }
  get updatedAt(): number {
    return this.#updatedAt;
  }
  get lastNative(): number {
    return this.#lastNative;
  }

  /** Whoever had the writer before is refused from now on. */
  takeWriter(epoch: number): void {
    this.#writerEpoch = epoch;
  }

  /** Throws `fenced` unless this writer was taken last, and whatever else keeps it from writing. */
  admit(writerEpoch: number): void {
    if (writerEpoch !== this.#writerEpoch) throw fenced(this);
    if (this.#deleted) throw deleted(this);
    this.#context.committer.admit();
  }

  append(entry: EventEntry): void {
    const bytes = this.#pending.add(this, entry);
    this.#last = entry.sequence;
    this.#copiedAt = entry.written_at;
    this.#context.committer.enlist(this, bytes, entry.sync);
  }

  appendNative(entry: NativeEntry): number {
    const bytes = this.#pending.addNative(this, entry);
    this.#lastNative++;
    this.#context.committer.enlist(this, bytes, false);
    return this.#lastNative;
  }

  state(): string {
    return this.#state ?? this.#context.streams.state(this);
  }

  setState(json: string, options?: { sync?: boolean }): void {
    this.#state = json;
    this.#context.committer.enlist(this, json.length, options?.sync);
  }

  openSince(): number | null {
    return this.#openSince;
  }

  setOpenSince(sequence: number | null): void {
    if (sequence === this.#openSince) return;
    this.#openSince = sequence;
    this.#context.committer.enlist(this, 0, false);
  }

  /** What is committed. */
  async row(): Promise<StreamRow> {
    const row = this.#deleted ? undefined : this.#context.streams.find(this.kind, this.id);
    if (row === undefined || row.no !== this.no) throw deleted(this);
    return withoutNumber(row);
  }

  async read(options: ReadOptions = {}): Promise<ReadPage> {
    return this.#context.events.read(this, this.#lastCommitted, options);
  }

  async readRaw(nativeSeqs: Iterable<number>): Promise<Map<number, NativeRow>> {
    return this.#context.natives.pick(this, this.#lastNativeCommitted, nativeSeqs);
  }

  async readNative(options: { after?: number; limit?: number; maxBytes?: number } = {}): Promise<NativePage> {
    const limit = Math.max(1, options.limit ?? 1000);
    return this.#context.natives.read(this, this.#lastNativeCommitted, options.after ?? 0, limit, options.maxBytes);
  }

  async assertCursor({ sequence, epoch }: { sequence: number; epoch: string }): Promise<void> {
    const { epochs, events } = this.#context;
    if (sequence > this.#lastCommitted) throw changed("names an event that this log does not have");
    if (epoch !== epochs.current) epochs.assertWritten(epoch, sequence === 0 ? 0 : events.positionOf(this, sequence));
  }

  async coverage(): Promise<CoverageRow[]> {
    return this.#context.natives.coverage(this);
  }

  subscribe(options: SubscribeOptions<Batch> & { after?: number }): Subscription {
    if (this.#deleted) throw deleted(this);
    return this.tail.subscribe(Math.max(0, options.after ?? 0), options);
  }

  write(): void {
    const { streams, events, natives } = this.#context;
    const pending = this.#pending;
    if (this.#deleted) return;
    // Only events make it younger: that nothing is open any more is no news.
    if (pending.chunks.length > 0) this.#writtenAt = this.#copiedAt ?? Date.now();
    if (this.#isNew) streams.insert(this.#row());
    else streams.update(this.#row());
    if (!this.#isNew && this.#state !== undefined) streams.setState(this.no, this.#state);
    for (const chunk of pending.chunks) events.insert(this.no, chunk);
    for (const chunk of pending.natives) natives.insert(this.no, chunk);
    if (pending.natives.length === 0) return;
    this.#counts ??= natives.counts(this.no);
    natives.count(this.no, this.#counts, pending.natives);
  }

  settle(): void {
    const { chunks } = this.#pending;
    this.#isNew = false;
    this.#state = undefined;
    this.#pending.clear();
    this.#counts?.settle();
    if (this.#deleted) return;
    this.#lastCommitted = this.#last;
    this.#lastNativeCommitted = this.#lastNative;
    this.#updatedAt = this.#writtenAt;
    for (const chunk of chunks) {
      const batch = new EventBatch(this, chunk.first, chunk.first + chunk.events.count - 1, writtenOf(chunk));
      this.#context.committed(this, batch, chunk.position);
    }
  }

  /** Called at the end of the tick, for each committed batch. */
  publish(batch: EventBatch): void {
    if (this.tail.size === 0) return;
    this.#context.published.put(this.no, batch, this.tail.size);
    this.tail.publish(batch);
  }

  /** What was not committed yet is dropped; nothing can be added any more. */
  delete(): void {
    this.#deleted = true;
    this.#pending.clear();
    this.tail.end("deleted");
  }

  #next(after: number): Batch {
    const { published, reread, events } = this.#context;
    const known = published.get(this.no, after) ?? reread.get(this.no, after);
    if (known !== undefined) return known;
    const batch = events.nextBatch(this, after);
    // A single reader will not read this batch again, so it is not cached.
    if (this.tail.size > 1) reread.put(this.no, batch, this.tail.size);
    return batch;
  }

  #row(): NumberedRow {
    return {
      no: this.no,
      kind: this.kind,
      id: this.id,
      created_at: this.created_at,
      updated_at: this.#writtenAt,
      last_sequence: this.#last,
      last_native: this.#lastNative,
      open_since: this.#openSince,
      state: this.#state ?? "",
    };
  }
}
