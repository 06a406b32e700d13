/**
 * The log in Postgres, put together. One commit in flight over a connection of its own; reading over a small pool. A daemon has a log to itself, or nodes
 * share it: then every stream has its own owner, and what others commit is read from the database.
 */
import type {
  GlobalBatch,
  ListOptions,
  Log,
  LogHealth,
  LogStats,
  OwnerEpoch,
  Stream,
  StreamKind,
  StreamPage,
  StreamRow,
  StreamWriter,
  SubscribeOptions,
  Subscription,
} from "../contract.ts";
import { deleted, exists, fenced } from "../entry-errors.ts";
import type { LogError } from "../log-error.ts";
import type { EventBatch } from "../packing/batch.ts";
import { BatchCache } from "../packing/batch-cache.ts";
import { Damage } from "../packing/damage.ts";
import { withoutNumber } from "../packing/stream-row.ts";
import { Pump } from "../tail.ts";
import { AllStreams, BEGINNING } from "./all-streams.ts";
import { OBJECT_TABLES } from "./artifact-mover.ts";
import { PostgresArtifacts } from "./artifacts.ts";
import { Attempt } from "./attempt.ts";
import { CommitNumbers } from "./commit-numbers.ts";
import { Committer } from "./committer.ts";
import { type Connect, type Database, Postgres } from "./connection.ts";
import { PostgresDocuments } from "./documents.ts";
import { Epochs } from "./epochs.ts";
import { toLogError, toOpeningError } from "./errors.ts";
import { EventStore } from "./event-store.ts";
import { Followed } from "./followed.ts";
import { Housekeeping } from "./housekeeping.ts";
import { type LiveChunk, LiveTail } from "./live.ts";
import { type MigrationRoom, migrate } from "./migrations.ts";
import { NativeStore } from "./native-store.ts";
import { Removals } from "./removal.ts";
import type { S3 } from "./s3.ts";
import { DEFAULT_TENANT, logTables } from "./schema.ts";
import { resting, Sealing, type SealOptions } from "./sealing.ts";
import { PostgresSearch } from "./search.ts";
import { PostgresStream, type StreamContext } from "./stream.ts";
import { StreamStore } from "./stream-store.ts";
import { PostgresWriter, type WriterContext } from "./writer.ts";

const MAX_PENDING_BYTES = 64 * 1024 * 1024;
/** A commit without an answer for so long is asked about. */
const COMMIT_TIMEOUT_MS = 10_000;

export type OpenPostgresOptions = {
  url: string;
  /** How it is reached, for who brings a database of their own. */
  connect?: Connect;
  /** Several logs share a database under different names. */
  tenant?: string;
  /**
   * Who opens it. `holder`: one daemon has the log to itself; the name is that of its data directory, so that the next start need not wait for the end of the
   * last. `node`: nodes share the log, and this is the name in the column `owner` of the streams that are this node's.
   */
  as: { holder: string } | { node: string };
  /** Tables of other rooms beside the log's. */
  rooms?: readonly MigrationRoom[];
  /** Failed commits, and subscribers that threw. Called once per change of the failing code, and with null when it works again. */
  onError?(error: LogError | null): void;
  /** A commit was refused because another has this stream, or had it meanwhile. */
  onLost?(kind: StreamKind, id: string): void;
  /** Where artifacts are moved to by `ArtifactMover`, and read from. */
  bucket?: S3 | undefined;
  /** After `close`, however it ended. */
  onClosed?(): void;
  /** Appends are refused once this much waits for a database that does not take it. Default 64 MB. */
  maxPendingBytes?: number;
};

export async function openPostgresLog(options: OpenPostgresOptions): Promise<PostgresLog> {
  const connect: Connect = options.connect ?? ((more) => Postgres.open({ url: options.url, ...more }));
  const database = await connect({});
  const commits = await connect({ connections: 1, timeoutMs: COMMIT_TIMEOUT_MS });
  try {
    await migrate(database, [logTables, OBJECT_TABLES, ...(options.rooms ?? [])]);
    const holder = "holder" in options.as ? options.as.holder : null;
    const epochs = await Epochs.begin(database, { tenant: options.tenant ?? DEFAULT_TENANT, holder });
    const log = new PostgresLog(options, { database, commits, epochs });
    await log.begin();
    return log;
  } catch (error) {
    await Promise.all([database.close(), commits.close()]);
    throw toOpeningError(error, database.place);
  }
}

type Opened = { database: Database; commits: Database; epochs: Epochs };
type Published = { stream: PostgresStream; batch: EventBatch; placed: Parameters<AllStreams["publish"]>[0] };

export class PostgresLog implements Log {
  readonly beginning = BEGINNING;
  readonly id: string;
  readonly epoch: string;
  readonly documents: PostgresDocuments;
  readonly artifacts: PostgresArtifacts;
  readonly search: PostgresSearch;
  /** Where nodes share the log: what they commit, from one to the other. */
  readonly live = new LiveTail();
  /** For rooms that keep tables beside the log's. */
  readonly database: Database;
  readonly #commits: Database;
  readonly #numbers: CommitNumbers;
  readonly #committer: Committer;
  readonly #context: StreamContext;
  readonly #writerContext: WriterContext;
  readonly #damage: Damage;
  readonly #onError: (error: LogError | null) => void;
  readonly #onClosed: () => void;
  /** Those that somebody holds. A stream that nobody holds any more is let go. */
  readonly #streams = new Map<string, WeakRef<PostgresStream>>();
  readonly #letGo = new FinalizationRegistry(({ name, no }: { name: string; no: number }) => {
    const held = this.#streams.get(name)?.deref();
    // Its writer may have been taken anew meanwhile: then its documents are loaded for that one.
    if (held?.no !== no) this.documents.unload(no);
    if (held === undefined) this.#streams.delete(name);
  });
  readonly #all: AllStreams;
  readonly #pump = new Pump();
  readonly #followed: Followed;
  readonly #removals: Removals;
  readonly #housekeeping: Housekeeping;
  readonly #sealing: Sealing;
  #queue: Published[] = [];
  #events = 0;
  #closing: Promise<void> | undefined;

  constructor(options: OpenPostgresOptions, { database, commits, epochs }: Opened) {
    const tenant = options.tenant ?? DEFAULT_TENANT;
    const shared = "node" in options.as;
    const node = "node" in options.as ? options.as.node : null;
    this.id = epochs.logId;
    this.epoch = epochs.current;
    this.database = database;
    this.#commits = commits;
    this.#onError = (error) => options.onError?.(error);
    this.#onClosed = () => options.onClosed?.();
    this.#damage = new Damage(this.#onError);
    const owner = shared ? null : epochs.current;
    this.#numbers = new CommitNumbers(commits, { tenant, owner });
    this.#committer = new Committer({
      attempt: new Attempt(commits, { tenant, owner, node }, this.#numbers),
      publish: () => this.#publish(),
      onError: this.#onError,
      maxPendingBytes: options.maxPendingBytes ?? MAX_PENDING_BYTES,
    });
    const [committer, damage, pump] = [this.#committer, this.#damage, this.#pump];
    const onThrow = (error: unknown): void => this.#onError(toLogError(error, "Passing events on"));
    this.documents = new PostgresDocuments(database, tenant, committer);
    this.artifacts = new PostgresArtifacts(database, tenant, { committer, damage, bucket: options.bucket });
    this.search = new PostgresSearch(database, tenant);
    const streams = new StreamStore(database, tenant, node);
    this.#followed = new Followed(streams, this.live, onThrow);
    this.#all = new AllStreams({ database, tenant, shared, epochs, damage, pump, onThrow });
    this.#context = {
      ...{ committer, streams, epochs, pump, shared, onThrow, live: this.live },
      events: new EventStore(database, damage),
      natives: new NativeStore(database, damage),
      published: new BatchCache(),
      reread: new BatchCache(),
      committed: (stream, batch, xid) => {
        this.#queue.push({ stream, batch, placed: this.#all.committed(batch, xid) });
        this.#events += batch.last - batch.first + 1;
      },
      followed: (stream) => {
        if (shared) this.#followed.add(stream);
      },
      lost: ({ kind, id }) => options.onLost?.(kind, id),
      refused: ({ no }) => {
        this.documents.drop(no);
        this.artifacts.drop(no);
      },
    };
    this.#writerContext = { committer, documents: this.documents, artifacts: this.artifacts };
    this.#removals = new Removals(database, tenant, this.#onError);
    this.#sealing = new Sealing(database, tenant, damage);
    this.#housekeeping = new Housekeeping(database, {
      tenant,
      owner,
      onFenced: (error) => this.#committer.fence(error),
      seal: () => this.seal(resting()),
    });
  }

  async begin(): Promise<void> {
    await this.#removals.resume();
    this.#housekeeping.start();
  }

  async create(
    kind: StreamKind,
    id: string,
    state: string,
    options: Partial<OwnerEpoch> & { created_at?: number } = {},
  ): Promise<StreamWriter> {
    this.#committer.admit();
    const no = this.#held(kind, id) === undefined ? await this.#context.streams.reserve(kind, id) : undefined;
    // Another may have created it here while the database was asked.
    if (no === undefined || this.#held(kind, id) !== undefined) throw exists({ kind, id });
    this.#committer.admit();
    const now = options.created_at ?? Date.now();
    const row = { no, kind, id, created_at: now, updated_at: now, last_sequence: 0, last_native: 0, open_since: null, state };
    const epoch = options.epoch ?? 1;
    const stream = new PostgresStream(this.#context, row, epoch);
    this.#hold(stream);
    this.documents.loadNothing(no);
    stream.touch({ sync: true });
    return new PostgresWriter(stream, epoch, this.#writerContext);
  }

  async writer(kind: StreamKind, id: string, owner?: OwnerEpoch): Promise<StreamWriter | undefined> {
    const held = this.#held(kind, id);
    // What the writer before has enqueued here is its last.
    held?.suspend();
    if (held?.isWritten || held?.isUnderWay) await this.#committer.committed(false, [held, this.documents, this.artifacts]);
    const taken = await this.#context.streams.takeWriter(kind, id, owner?.epoch ?? null);
    if (taken === undefined) return undefined;
    await this.documents.load(taken.row.no);
    const stream = this.#heldFor(taken.row) ?? new PostgresStream(this.#context, taken.row, null);
    this.#hold(stream);
    stream.takeWriter(taken.row, taken.epoch);
    return new PostgresWriter(stream, taken.epoch, this.#writerContext);
  }

  /** Where nodes share the log: another has it now, or will. Nothing of it is written here any more, and what is read of it is looked up. */
  giveUp(kind: StreamKind, id: string): void {
    const held = this.#held(kind, id);
    if (held?.isWritten) held.refuse(fenced(held));
  }

  /** A chunk that its writer, another node, has committed. */
  receive(chunk: LiveChunk): void {
    const held = this.#held("session", chunk.id);
    if (held?.no === chunk.no) held.receive(chunk);
  }

  async stream(kind: StreamKind, id: string): Promise<Stream | undefined> {
    const held = this.#held(kind, id);
    if (held !== undefined && (!this.#context.shared || held.isWritten)) return held;
    const row = await this.#context.streams.find(kind, id);
    if (row === undefined) return undefined;
    const known = this.#heldFor(row);
    if (known !== undefined) {
      known.advance(row);
      return known;
    }
    const stream = new PostgresStream(this.#context, row, null);
    this.#hold(stream);
    return stream;
  }

  async row(kind: StreamKind, id: string): Promise<StreamRow | undefined> {
    const row = await this.#context.streams.find(kind, id);
    return row && withoutNumber(row);
  }

  async list(kind: StreamKind, options: ListOptions = {}): Promise<StreamPage> {
    return this.#context.streams.list(kind, options);
  }

  async delete(kind: StreamKind, id: string, options: { documents?: readonly string[] } = {}): Promise<boolean> {
    this.#committer.admit();
    // What is enqueued may name it, or create it.
    await this.#committer.committed(true);
    const no = await this.#removals.hide({ kind, id }, options.documents ?? []);
    const held = this.#held(kind, id);
    if (no === undefined && held === undefined) return false;
    held?.refuse(deleted({ kind, id }));
    this.#streams.delete(key(kind, id));
    this.#all.forget();
    this.artifacts.forgetAll();
    if (no !== undefined) this.#removals.remove(no);
    return no !== undefined;
  }

  /** Packs what rests: how many streams. Only where every process that has the log open knows packed rows. */
  seal(options: SealOptions): Promise<number> {
    return this.#sealing.seal(options);
  }

  async erased(): Promise<void> {
    await this.#removals.done();
  }

  async end(): Promise<string> {
    return this.#all.cursor();
  }

  async assertCursor(cursor: string): Promise<void> {
    await this.#all.assertCursor(cursor);
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
    return { ...this.#committer.health(), damage: this.#damage.report() };
  }

  stats(): LogStats {
    let subscribers = this.#all.tail.size;
    for (const stream of this.#allHeld()) subscribers += stream.tail.size;
    return { ...this.#committer.counts, events: this.#events, subscribers };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close().finally(this.#onClosed);
    return this.#closing;
  }

  async #close(): Promise<void> {
    // While the database does not take it, for about a second.
    await this.#committer.committed(true).catch(() => undefined);
    const failure = await this.#committer.close();
    for (const stream of this.#allHeld()) stream.tail.end("closed");
    this.#all.stop();
    this.#pump.stop();
    this.#followed.stop();
    await this.#removals.close();
    await this.#housekeeping.stop();
    await this.#numbers.close().catch(() => undefined);
    await Promise.all([this.#commits.close(), this.database.close()]);
    if (failure !== undefined) throw failure;
  }

  /** Walks by index: what a subscriber does while it is called may append behind. */
  #publish(): void {
    const queue = this.#queue;
    for (let index = 0; index < queue.length; index++) {
      const { stream, batch, placed } = queue[index]!;
      stream.publish(batch);
      this.#all.publish(placed);
      batch.settle();
    }
    this.#queue = [];
  }

  #held(kind: StreamKind, id: string): PostgresStream | undefined {
    return this.#streams.get(key(kind, id))?.deref();
  }

  /** One of the same name may have been removed, and made anew, by another process: who follows it hears its end. */
  #heldFor({ kind, id, no }: Pick<PostgresStream, "kind" | "id" | "no">): PostgresStream | undefined {
    const held = this.#held(kind, id);
    if (held === undefined || held.no === no) return held;
    // Numbers rise: a row with a lower one is what was there before.
    if (held.no < no && !held.isWritten) held.gone();
    return undefined;
  }

  #hold(stream: PostgresStream): void {
    const name = key(stream.kind, stream.id);
    if (this.#streams.get(name)?.deref() === stream) return;
    this.#streams.set(name, new WeakRef(stream));
    this.#letGo.register(stream, { name, no: stream.no });
  }

  *#allHeld(): Generator<PostgresStream> {
    for (const reference of this.#streams.values()) {
      const stream = reference.deref();
      if (stream) yield stream;
    }
  }
}

const key = (kind: StreamKind, id: string): string => `${kind}/${id}`;
