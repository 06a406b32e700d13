/**
 * One stream: takes entries into memory, gives them to the commit, and hands committed batches on. What waits and what is in flight are kept apart. Readers
 * have it as it is; whoever writes has a `PostgresWriter` in front of it.
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
import type { LogError } from "../log-error.ts";
import { EventBatch } from "../packing/batch.ts";
import type { BatchCache } from "../packing/batch-cache.ts";
import { merge, type PendingChunk, writtenOf } from "../packing/event-chunk.ts";
import { PendingEntries } from "../packing/pending-entries.ts";
import { type NumberedRow, withoutNumber } from "../packing/stream-row.ts";
import { type Pump, Tail } from "../tail.ts";
import type { Committer, Enlisted } from "./committer.ts";
import type { Epochs } from "./epochs.ts";
import { mustBeText } from "./errors.ts";
import type { EventStore } from "./event-store.ts";
import type { LiveChunk, LiveTail } from "./live.ts";
import type { NativeStore } from "./native-store.ts";
import type { StreamStore } from "./stream-store.ts";
import type { WriteSet } from "./write-set.ts";

/** What all streams of a log share. */
export type StreamContext = {
  committer: Committer;
  streams: StreamStore;
  events: EventStore;
  natives: NativeStore;
  epochs: Epochs;
  published: BatchCache;
  reread: BatchCache;
  pump: Pump;
  /** Others may write too: what is committed is looked up, unless the writer is here. */
  shared: boolean;
  /** A committed batch, in order of commit. */
  committed(stream: PostgresStream, batch: EventBatch, xid: bigint): void;
  /** Somebody follows a stream whose writer may be elsewhere. */
  followed(stream: PostgresStream): void;
  live: LiveTail;
  /** Its documents that were not committed are not to be. */
  refused(stream: PostgresStream): void;
  /** A commit of it was refused, and nobody here knew that another has it. */
  lost(stream: PostgresStream): void;
  onThrow(error: unknown): void;
};

/** Without NUL, which the database cannot take. */
const WORD = /^[^\s*\0]+$/;

type InFlight = { chunks: readonly PendingChunk[]; last: number; lastNative: number; at: number; natives: number };

export class PostgresStream implements Stream, Enlisted {
  readonly isShared = false;
  readonly kind: StreamKind;
  readonly id: string;
  readonly no: number;
  readonly created_at: number;
  readonly tail: Tail<Batch>;
  readonly #context: StreamContext;
  #last: number;
  #lastCommitted: number;
  #updatedAt: number;
  /** Of the last event of a copy. */
  #copiedAt: number | undefined;
  #lastNative: number;
  #lastNativeCommitted: number;
  readonly #pending = new PendingEntries(WORD);
  /** Waiting to be taken; undefined when nothing is. */
  #pendingState: string | undefined;
  #state: string;
  #openSince: number | null;
  #isNew: boolean;
  #inFlight: InFlight | undefined;
  /** In the database; 0 while this process has no writer. */
  #epoch = 0;
  /** The writer that was taken last, in this process; the others are refused. An owner may take its writer again under the same epoch. */
  #writer = 0;
  #suspended = false;
  /** A commit with something of it is on its way, also when it was given up since. */
  #underWay = false;
  /** Something waits to be taken. */
  #enlisted = false;
  /** How often something was taken, and how often that was committed by now. */
  #taken = 0;
  #settled = 0;
  /** Why nothing of it will ever be committed any more. */
  #refusal: LogError | undefined;
  /** The same of every writer that was refused here: what it still waits for was dropped, also when the next one is there. */
  readonly #refusals = new Map<number, LogError>();
  #uncounted = 0;

  /** `newEpoch`: the stream is new, and this is the epoch of its first writer. */
  constructor(context: StreamContext, row: NumberedRow, newEpoch: number | null) {
    this.#context = context;
    this.kind = row.kind;
    this.id = row.id;
    this.no = row.no;
    this.created_at = row.created_at;
    this.#last = row.last_sequence;
    this.#lastCommitted = row.last_sequence;
    this.#updatedAt = row.updated_at;
    this.#lastNative = row.last_native;
    this.#lastNativeCommitted = row.last_native;
    this.#openSince = row.open_since;
    this.#state = row.state;
    this.#isNew = newEpoch !== null;
    if (newEpoch !== null) {
      this.#epoch = newEpoch;
      this.#writer = 1;
      this.#pendingState = row.state;
    }
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
  /** Here and, all together one, in other processes. */
  get followers(): number {
    return this.tail.size + (this.#context.live.wanted.has(this.no) ? 1 : 0);
  }
  /** One commit of it is on its way at most: what waits is in the next. */
  get enqueuedMark(): number {
    return this.#taken + (this.#enlisted ? 1 : 0);
  }
  get committedMark(): number {
    return this.#settled;
  }
  /** Names the writer that was taken last, for `admit`. */
  get writer(): number {
    return this.#writer;
  }
  /** True while this process has a writer that was not refused. */
  get isWritten(): boolean {
    return this.#epoch !== 0 && this.#refusal === undefined;
  }
  refusalOf(writer: number): LogError | undefined {
    return this.#refusals.get(writer);
  }
  /** Its next writer must wait: what is on its way would be refused, and that refusal would be taken for the new writer's. */
  get isUnderWay(): boolean {
    return this.#underWay;
  }

  /** No writer of this process may enqueue anything from here on. */
  suspend(): void {
    this.#suspended = true;
  }

  /** The writer was taken in the database: this is how the stream stands there. */
  takeWriter(row: NumberedRow, epoch: number): void {
    this.#epoch = epoch;
    this.#writer++;
    this.#suspended = false;
    this.#refusal = undefined;
    this.#isNew = false;
    this.#pending.clear();
    this.#pendingState = undefined;
    this.#state = row.state;
    this.#openSince = row.open_since;
    this.#last = row.last_sequence;
    this.#lastNative = row.last_native;
    this.advance(row);
  }

  /** What another process has committed. */
  advance({ last_sequence, last_native, updated_at }: Pick<NumberedRow, "last_sequence" | "last_native" | "updated_at">): void {
    if (last_native > this.#lastNativeCommitted) this.#lastNativeCommitted = last_native;
    if (last_sequence <= this.#lastCommitted) return;
    this.#lastCommitted = last_sequence;
    this.#updatedAt = updated_at;
    this.tail.wake();
  }

  /** What its writer, in another process, has committed and sent. */
  receive({ first, last, lastNative, at, types, natives, body }: LiveChunk): void {
    if (this.isWritten || last <= this.#lastCommitted) return;
    if (first !== this.#lastCommitted + 1) return this.advance({ last_sequence: last, last_native: lastNative, updated_at: at });
    this.#lastCommitted = last;
    this.#lastNativeCommitted = Math.max(this.#lastNativeCommitted, lastNative);
    this.#updatedAt = at;
    this.publish(new EventBatch(this, first, last, merge([{ first, last, types, natives, body }])));
  }

  /** Another process has removed it. */
  gone(): void {
    this.refuse(deleted(this));
  }

  isFollowed(): boolean {
    return this.tail.size > 0 && !this.isWritten;
  }

  /** Throws `fenced` unless this writer was taken last, and whatever else keeps it from writing. */
  admit(writer: number): void {
    if (this.#refusal !== undefined) throw this.#refusal;
    if (writer !== this.#writer || this.#suspended) throw fenced(this);
    this.#context.committer.admit();
  }

  append(entry: EventEntry): void {
    const bytes = this.#pending.add(this, entry);
    this.#last = entry.sequence;
    this.#copiedAt = entry.written_at;
    this.#enlist(bytes, entry.sync);
  }

  appendNative(entry: NativeEntry): number {
    const bytes = this.#pending.addNative(this, entry);
    this.#lastNative++;
    this.#enlist(bytes, false);
    return this.#lastNative;
  }

  state(): string {
    return this.#state;
  }

  setState(json: string, options?: { sync?: boolean }): void {
    mustBeText(json, "The state");
    this.#state = json;
    this.#pendingState = json;
    this.#enlist(json.length, options?.sync);
  }

  openSince(): number | null {
    return this.#openSince;
  }

  setOpenSince(sequence: number | null): void {
    if (sequence === this.#openSince) return;
    this.#openSince = sequence;
    this.#enlist(0, false);
  }

  /** Its row is in the next commit, changed or not. */
  touch({ sync }: { sync: boolean } = { sync: false }): void {
    this.#enlist(0, sync);
  }

  #enlist(bytes: number, sync: boolean | undefined): void {
    this.#enlisted = true;
    this.#context.committer.enlist(this, bytes, sync);
  }

  /** What is committed. */
  async row(): Promise<StreamRow> {
    const row = isDeleted(this.#refusal) ? undefined : await this.#context.streams.find(this.kind, this.id);
    if (row === undefined || row.no !== this.no) throw deleted(this);
    return withoutNumber(row);
  }

  async read(options: ReadOptions = {}): Promise<ReadPage> {
    // What is committed when it is asked for, not when the answer comes.
    const last = this.#lastCommitted;
    return this.#context.events.read(this, (await this.#refresh()) ?? last, options);
  }

  async readRaw(nativeSeqs: Iterable<number>): Promise<Map<number, NativeRow>> {
    await this.#refresh();
    return this.#context.natives.pick(this, this.#lastNativeCommitted, nativeSeqs);
  }

  async readNative(options: { after?: number; limit?: number; maxBytes?: number } = {}): Promise<NativePage> {
    await this.#refresh();
    const limit = Math.max(1, options.limit ?? 1000);
    return this.#context.natives.read(this, this.#lastNativeCommitted, options.after ?? 0, limit, options.maxBytes);
  }

  async assertCursor({ sequence, epoch }: { sequence: number; epoch: string }): Promise<void> {
    await this.#refresh();
    const { epochs, events } = this.#context;
    epochs.assertKnown(sequence <= this.#lastCommitted);
    if (epoch !== epochs.current) epochs.assertWritten(epoch, sequence === 0 ? 0n : await events.chunkOf(this, sequence));
  }

  async coverage(): Promise<CoverageRow[]> {
    await this.#refresh();
    return this.#context.natives.coverage(this, this.#lastNativeCommitted);
  }

  subscribe(options: SubscribeOptions<Batch> & { after?: number }): Subscription {
    if (isDeleted(this.#refusal)) throw deleted(this);
    const subscription = this.tail.subscribe(Math.max(0, options.after ?? 0), options);
    if (!this.isWritten) this.#context.followed(this);
    return subscription;
  }

  take(set: WriteSet): void {
    this.#enlisted = false;
    if (!this.isWritten) return;
    const { no, kind, id, created_at } = this;
    const { chunks, natives } = this.#pending;
    const at = chunks.length > 0 ? (this.#copiedAt ?? Date.now()) : this.#updatedAt;
    set.streams.push({
      ...{ no, kind, id, epoch: this.#epoch, expected: this.#lastCommitted, last: this.#last, lastNative: this.#lastNative },
      ...{ openSince: this.#openSince, at, created: this.#isNew ? created_at : null, state: this.#pendingState ?? null },
      ...{ chunks, natives },
      refuse: (error) => this.#refusedBy(error),
    });
    this.#underWay = true;
    this.#taken++;
    this.#inFlight = { chunks, at, last: this.#last, lastNative: this.#lastNative, natives: natives.length };
    this.#pending.clear();
    this.#pendingState = undefined;
  }

  settle(xid: bigint): void {
    const done = this.#inFlight;
    this.#inFlight = undefined;
    this.#underWay = false;
    if (done === undefined) return;
    this.#settled = this.#taken;
    this.#isNew = false;
    this.#lastCommitted = done.last;
    this.#lastNativeCommitted = done.lastNative;
    this.#updatedAt = done.at;
    for (const chunk of done.chunks) {
      const batch = new EventBatch(this, chunk.first, chunk.first + chunk.events.count - 1, writtenOf(chunk));
      this.#context.committed(this, batch, xid);
    }
    if (this.#context.live.wanted.has(this.no)) this.#tell(done);
    this.#uncounted += done.natives;
    if (!this.#context.natives.isManyUncounted(this.#uncounted)) return;
    this.#uncounted = 0;
    void this.#context.natives.coverage(this, this.#lastNativeCommitted).catch(this.#context.onThrow);
  }

  #tell({ chunks, lastNative, at }: InFlight): void {
    const { no, id } = this;
    for (const { first, events, types, natives, body } of chunks) {
      const row = { first, last: first + events.count - 1, types: types.toString(), natives: natives.toString(), body };
      this.#context.live.onChunk({ no, id, lastNative, at, ...row });
    }
  }

  /** The database refused a commit. Whoever thinks that this process has the stream learns it, unless it was given up before. */
  #refusedBy(error: LogError): void {
    this.#underWay = false;
    const isNews = this.#refusal === undefined;
    this.refuse(error);
    if (isNews && !isDeleted(error)) this.#context.lost(this);
  }

  /** Nothing of it is committed any more: another has it, or it is gone. What waits is dropped. */
  refuse(error: LogError): void {
    this.#refusal = error;
    this.#refusals.set(this.#writer, error);
    this.#inFlight = undefined;
    this.#pending.clear();
    this.#last = this.#lastCommitted;
    this.#lastNative = this.#lastNativeCommitted;
    this.#context.refused(this);
    if (isDeleted(error)) this.tail.end("deleted");
    else if (this.tail.size > 0) this.#context.followed(this);
  }

  /** Called after the commit, for each batch. */
  publish(batch: EventBatch): void {
    if (this.tail.size === 0) return;
    this.#context.published.put(this.no, batch, this.tail.size);
    this.tail.publish(batch);
  }

  async #next(after: number): Promise<Batch> {
    const { published, reread, events } = this.#context;
    const known = published.get(this.no, after) ?? reread.get(this.no, after);
    if (known !== undefined) return known;
    const batch = await events.nextBatch(this, after, this.#lastCommitted);
    // A single reader will not read this batch again, so it is not cached.
    if (this.tail.size > 1) reread.put(this.no, batch, this.tail.size);
    return batch;
  }

  /** Where another process may write: how far it came. Undefined where only this one does. */
  async #refresh(): Promise<number | undefined> {
    if (!this.#context.shared || this.isWritten) return undefined;
    const row = await this.#context.streams.find(this.kind, this.id);
    if (row?.no === this.no) this.advance(row);
    return this.#lastCommitted;
  }
}

const isDeleted = (error: LogError | undefined): boolean => error?.code === "stream_deleted";
