/**
 * The log: opens a data directory and gives out streams. All that is written in one tick commits at once, over all streams, and is published after that.
 * The only door to the database; other rooms see the types in `contract.ts`.
 */
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type {
  GlobalBatch,
  ListOptions,
  Log,
  LogHealth,
  LogStats,
  Stream,
  StreamKind,
  StreamPage,
  StreamRow,
  StreamWriter,
  SubscribeOptions,
  Subscription,
} from "../contract.ts";
import { documentPrefix } from "../document-prefix.ts";
import { exists } from "../entry-errors.ts";
import { atStart, LogError, toLogError } from "../log-error.ts";
import type { EventBatch } from "../packing/batch.ts";
import { BatchCache } from "../packing/batch-cache.ts";
import { Damage } from "../packing/damage.ts";
import { withoutNumber } from "../packing/stream-row.ts";
import { Pump } from "../tail.ts";
import { AllStreams } from "./all-streams.ts";
import { SqliteArtifacts } from "./artifacts.ts";
import { type Background, openBackground } from "./background.ts";
import type { SearchStore } from "./background-work.ts";
import { Committer } from "./committer.ts";
import { prepareDataDir, presenceOf } from "./data-dir.ts";
import { closeLogDatabase, eraseFreed, openLogDatabase, wasUnclean } from "./database.ts";
import { SqliteDocuments } from "./documents.ts";
import type { Database } from "./driver.ts";
import { Epochs } from "./epochs.ts";
import { Erasing } from "./erasing.ts";
import { EventStore } from "./event-store.ts";
import { acquireLock, type Lock } from "./lock.ts";
import { NativeStore } from "./native-store.ts";
import { DATABASE_FILE } from "./refusal.ts";
import { Removal } from "./removal.ts";
import { Scrub } from "./scrub.ts";
import { SqliteStream, type StreamContext } from "./sqlite-stream.ts";
import { SqliteWriter, type WriterContext } from "./sqlite-writer.ts";
import { StreamStore } from "./stream-store.ts";
import { Wal } from "./wal.ts";

export type * from "../contract.ts";
export { atStart, LogError, type LogErrorCode } from "../log-error.ts";

const MAX_PENDING_BYTES = 64 * 1024 * 1024;
/** More than are ever taken between two starts. */
const WRITERS_AN_EPOCH = 2 ** 32;

export type OpenLogOptions = {
  dataDir: string;
  /** Failed commits, and subscribers that threw. Called once per change of the failing code, and with null when it works again. */
  onError?(error: LogError | null): void;
  /** Appends are refused with `disk_full` once this much waits for a disk that does not take it. Default 64 MB. */
  maxPendingBytes?: number;
  /** When the log that is there is damaged: keep it under another name and begin an empty one. Without this it is refused with `database_corrupt`. */
  acceptEmpty?: boolean;
  /** Only for those who know that WAL works there. */
  allowNetworkFileSystem?: boolean;
};

export async function openSqliteLog(options: OpenLogOptions): Promise<SqliteLog> {
  const { dataDir } = options;
  try {
    prepareDataDir(dataDir, { allowNetworkFileSystem: options.allowNetworkFileSystem ?? false });
    return await openLocked(options, await acquireLock(dataDir));
  } catch (error) {
    throw atStart(error, dataDir);
  }
}

async function openLocked(options: OpenLogOptions, lock: Lock): Promise<SqliteLog> {
  const { dataDir } = options;
  let db: Database | undefined;
  try {
    const damage = new Damage((error) => options.onError?.(error));
    const unclean = wasUnclean(dataDir);
    db = await openLogDatabase(dataDir, { damage, acceptEmpty: options.acceptEmpty ?? false });
    // First of all: what is read from here on cannot be changed by another daemon.
    const epochs = Epochs.begin(db);
    const log = new SqliteLog(options, { db, lock, damage, epochs });
    if (unclean) log.checkInBackground();
    return log;
  } catch (error) {
    db?.close();
    lock.release();
    throw toLogError(error, `Opening the log in ${dataDir}`);
  }
}

type Opened = { db: Database; lock: Lock; damage: Damage; epochs: Epochs };

type Published = { stream: SqliteStream; batch: EventBatch; position: number };

export class SqliteLog implements Log {
  readonly beginning = "0.0";
  readonly documents: SqliteDocuments;
  readonly artifacts: SqliteArtifacts;
  readonly search: SearchStore;
  readonly id: string;
  readonly epoch: string;
  readonly #db: Database;
  readonly #lock: Lock;
  readonly #damage: Damage;
  readonly #epochs: Epochs;
  readonly #committer: Committer;
  readonly #context: StreamContext;
  readonly #onError: (error: LogError | null) => void;
  /** Those that somebody holds: a session, a subscription, the committer. A stream that nobody holds any more is let go. */
  readonly #streams = new Map<string, WeakRef<SqliteStream>>();
  readonly #letGo = new FinalizationRegistry((name: string) => {
    if (this.#streams.get(name)?.deref() === undefined) this.#streams.delete(name);
  });
  /** Deleted, but perhaps not yet in the database. */
  readonly #removed = new Set<number>();
  readonly #all: AllStreams;
  readonly #pump = new Pump();
  #queue: Published[] = [];
  #lastNo: number;
  #events = 0;
  readonly #erasing: Erasing;
  readonly #writerContext: WriterContext;
  readonly #wal: Wal | null;
  /** Settles when the texts of deleted streams have left the search index. */
  #unindexed: Promise<void> = Promise.resolve();
  /** Given out since the log was opened. */
  #writers = 0;
  #scrub: Scrub | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: OpenLogOptions, { db, lock, damage, epochs }: Opened) {
    this.id = epochs.logId;
    this.epoch = epochs.current;
    this.#db = db;
    this.#lock = lock;
    this.#damage = damage;
    this.#epochs = epochs;
    this.#onError = (error) => options.onError?.(error);
    const mustBePresent = presenceOf(join(options.dataDir, DATABASE_FILE));
    this.#committer = new Committer(db, {
      publish: () => this.#publish(),
      onError: this.#onError,
      maxPendingBytes: options.maxPendingBytes ?? MAX_PENDING_BYTES,
      assertOwner: () => {
        mustBePresent();
        epochs.assertOwner();
      },
      committed: (writers, bytes) => this.#wal?.committed(writers, bytes),
    });
    this.#context = this.#makeContext();
    this.documents = new SqliteDocuments(db, this.#committer, damage);
    this.artifacts = new SqliteArtifacts(db, options.dataDir, { committer: this.#committer, damage });
    const background = openBackground({ dataDir: options.dataDir, logId: epochs.logId });
    this.search = background.work;
    this.#wal = this.#openWal(background);
    this.#writerContext = { committer: this.#committer, documents: this.documents, artifacts: this.artifacts };
    this.#erasing = new Erasing(async () => {
      await this.#wal?.quiet();
      eraseFreed(db);
    });
    this.#lastNo = this.#context.streams.lastNo();
    this.#all = new AllStreams(this.#context);
    for (const stream of this.#context.streams.deleted()) this.#remove(stream);
    this.#finishRemovals();
  }

  /** After a stop that was not clean: everything that is stored is read once, little by little. What is damaged is reported. */
  checkInBackground(): void {
    const { streams, events, natives } = this.#context;
    this.#scrub = new Scrub({ streams, events, natives, documents: this.documents });
    this.#scrub.start();
    this.#unindexRemoved().catch((error: unknown) => this.#onError(toLogError(error, "Looking through the search index")));
  }

  /** Texts of streams that are not there any more. */
  async #unindexRemoved(): Promise<void> {
    for (let after = 0; this.#closing === undefined; ) {
      const streams = await this.search.streamsBehind(after);
      const last = streams.at(-1);
      if (last === undefined) return;
      for (const { kind, id } of streams)
        if (this.#context.streams.numberOf(kind, id) === undefined) await this.search.forget({ kind, id });
      after = last.no;
    }
  }

  #openWal({ work, threaded }: Background): Wal | null {
    const options = { writeBack: () => work.writeBack(), hold: (held: boolean) => this.#committer.hold(held) };
    return Wal.open(this.#db, threaded ? options : null);
  }

  async create(kind: StreamKind, id: string, state: string, options: { created_at?: number } = {}): Promise<StreamWriter> {
    this.#committer.admit();
    if (this.#stream(kind, id) !== undefined) {
      throw exists({ kind, id });
    }
    const now = options.created_at ?? Date.now();
    const row = {
      no: ++this.#lastNo,
      kind,
      id,
      created_at: now,
      updated_at: now,
      last_sequence: 0,
      last_native: 0,
      open_since: null,
      state,
    };
    const stream = new SqliteStream(this.#context, row, true);
    this.#hold(key(kind, id), stream);
    this.#committer.enlist(stream, state.length, false);
    return this.#writerOf(stream);
  }

  async writer(kind: StreamKind, id: string): Promise<StreamWriter | undefined> {
    const stream = this.#stream(kind, id);
    return stream && this.#writerOf(stream);
  }

  /** Higher with every writer, also after a restart: each opening of the log is one more epoch of it. */
  #writerOf(stream: SqliteStream): StreamWriter {
    const epoch = this.#epochs.ordinal * WRITERS_AN_EPOCH + ++this.#writers;
    return new SqliteWriter(stream, epoch, this.#writerContext);
  }

  async stream(kind: StreamKind, id: string): Promise<Stream | undefined> {
    return this.#stream(kind, id);
  }

  #stream(kind: StreamKind, id: string): SqliteStream | undefined {
    const open = this.#streams.get(key(kind, id))?.deref();
    if (open !== undefined) return open;
    const row = this.#context.streams.find(kind, id);
    if (row === undefined || this.#removed.has(row.no)) return undefined;
    const stream = new SqliteStream(this.#context, row, false);
    this.#hold(key(kind, id), stream);
    return stream;
  }

  #hold(name: string, stream: SqliteStream): void {
    this.#streams.set(name, new WeakRef(stream));
    this.#letGo.register(stream, name);
  }

  *#held(): Generator<SqliteStream> {
    for (const reference of this.#streams.values()) {
      const stream = reference.deref();
      if (stream) yield stream;
    }
  }

  async row(kind: StreamKind, id: string): Promise<StreamRow | undefined> {
    const row = this.#context.streams.find(kind, id);
    return row === undefined || this.#removed.has(row.no) ? undefined : withoutNumber(row);
  }

  async list(kind: StreamKind, options: ListOptions = {}): Promise<StreamPage> {
    return this.#context.streams.list(kind, options, this.#removed);
  }

  async delete(kind: StreamKind, id: string, options: { documents?: readonly string[] } = {}): Promise<boolean> {
    this.#committer.admit();
    const open = this.#streams.get(key(kind, id))?.deref();
    const no = open?.no ?? this.#context.streams.numberOf(kind, id);
    if (no === undefined || this.#removed.has(no)) return false;
    open?.delete();
    this.#streams.delete(key(kind, id));
    this.documents.forget(id, documentPrefix({ kind, id }), options.documents ?? []);
    this.#remove({ no, kind });
    this.#unindexed = Promise.all([this.#unindexed, this.search.forget({ kind, id })]).then(() => undefined);
    this.#unindexed.catch((error: unknown) => this.#onError(toLogError(error, "Removing texts from the search index")));
    try {
      this.#committer.flush();
    } catch {
      // The disk does not take it now: it was reported, and is tried again with the rest.
    }
    return true;
  }

  async erased(): Promise<void> {
    const done = this.#erasing.done();
    done.catch(() => undefined);
    while (this.#erasing.busy) {
      await this.#committer.committed(true);
      await setImmediate();
    }
    await done;
    await this.#unindexed;
  }

  async end(): Promise<string> {
    return this.#all.cursor();
  }

  async assertCursor(cursor: string): Promise<void> {
    this.#all.startAt(cursor);
  }

  subscribeAll(options: SubscribeOptions<GlobalBatch> & { after?: string }): Subscription {
    return this.#all.subscribe(options);
  }

  committed(): Promise<void> {
    return this.#committer.committed(true);
  }

  assertWritable(): void {
    this.#committer.assertWritable();
  }

  onPressure(listener: (paused: boolean) => void): () => void {
    return this.#committer.onPressure(listener);
  }

  health(): LogHealth {
    return this.#committer.health(this.#damage.report());
  }

  stats(): LogStats {
    let subscribers = this.#all.tail.size;
    for (const stream of this.#held()) subscribers += stream.tail.size;
    return { ...this.#committer.counts, events: this.#events, subscribers };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    // While the disk does not take it, for about a second.
    await this.#committer.committed(true).catch(() => undefined);
    const failure = this.#committer.close();
    this.#publish();
    for (const stream of this.#held()) stream.tail.end("closed");
    this.#all.tail.end("closed");
    this.#pump.stop();
    this.#scrub?.stop();
    this.#erasing.stop(new LogError("log_closed", "The log was closed. What was deleted is erased at the next start."));
    await this.#wal?.close();
    await this.search.close();
    closeLogDatabase(this.#db);
    this.#lock.release();
    if (failure !== undefined) throw failure;
  }

  #makeContext(): StreamContext {
    return {
      committer: this.#committer,
      streams: new StreamStore(this.#db, this.#damage),
      events: new EventStore(this.#db, this.#damage),
      natives: new NativeStore(this.#db, this.#damage),
      epochs: this.#epochs,
      published: new BatchCache(),
      reread: new BatchCache(),
      pump: this.#pump,
      committed: (stream, batch, position) => this.#committed(stream, batch, position),
      onThrow: (error) => this.#onError(toLogError(error, "Passing events on")),
    };
  }

  #committed(stream: SqliteStream, batch: EventBatch, position: number): void {
    this.#queue.push({ stream, batch, position });
    this.#events += batch.last - batch.first + 1;
    this.#all.committed(batch, position);
  }

  /** Walks by index: what a subscriber commits while it is called is appended behind, and delivered after it. */
  #publish(): void {
    const queue = this.#queue;
    for (let index = 0; index < queue.length; index++) {
      const { stream, batch, position } = queue[index]!;
      stream.publish(batch);
      this.#all.publish(batch, position);
      batch.settle();
    }
    this.#queue = [];
  }

  /** Files of artifacts that a stop left behind, after their rows had gone. */
  #finishRemovals(): void {
    const { gone } = this.artifacts.removeFiles();
    if (gone.length > 0)
      this.#committer.enlist({ write: () => this.artifacts.endRemovals(gone), settle: () => undefined }, 0, false);
  }

  #remove(stream: { no: number; kind: StreamKind }): void {
    this.#removed.add(stream.no);
    const { committer, streams, events, natives } = this.#context;
    const ended = this.#erasing.begin();
    committer.enlist(new Removal(stream, { committer, streams, events, natives, artifacts: this.artifacts }, ended), 0, true);
  }
}

function key(kind: StreamKind, id: string): string {
  return `${kind}/${id}`;
}
