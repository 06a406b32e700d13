/**
 * What a log is: the types that the rest of the daemon builds on. Streams of events, each gapless from 1, beside a ledger of native messages. Reading,
 * stating and listing are asynchronous. Appending is an enqueue by the one writer of a stream: it is durable when `committed()` resolves, and nobody sees it
 * before. Nothing here knows an engine, the layout of an event, or how events are sent. `log.suite.ts` is this contract as tests.
 */
import type { Readable } from "node:stream";
import type { EventText } from "../schema/envelope.ts";
import type { Disposition, LedgerDirection } from "../schema/native.ts";
import type { StreamKind } from "../schema/stream-kind.ts";
import type { Distribution } from "./distribution.ts";
import type { LogError } from "./log-error.ts";

export type { Disposition, LedgerDirection } from "../schema/native.ts";
export type { StreamKind } from "../schema/stream-kind.ts";

export type EventEntry = {
  /** One line of JSON. */
  text: EventText;
  /** Must be the stream's `last` + 1. */
  sequence: number;
  type: string;
  /** The ledger entry this event was made from. */
  native: number | null;
  /** True: durable also when the power fails, before anybody sees it. For commands, permissions and ends. */
  sync?: boolean;
  /** When it was written first, in milliseconds: for copies of a log. Default now. */
  written_at?: number;
};

export type NativeEntry = {
  dir: LedgerDirection;
  /** Milliseconds since the stream began. */
  t_ms: number;
  /** The native type, for coverage. Bounded in number. */
  type: string;
  disposition: Disposition;
  /** Verbatim. A Buffer is kept by reference until it is committed: do not write into it. */
  raw: Buffer | string;
};

export type NativeRow = {
  native_seq: number;
  dir: LedgerDirection;
  t_ms: number;
  type: string;
  disposition: Disposition;
  body: Buffer;
};

/** A run of events of one stream, shared by all who receive it. Everything is computed at most once, on first use. */
export interface Batch {
  readonly kind: StreamKind;
  readonly stream_id: string;
  readonly first: number;
  readonly last: number;
  readonly events: readonly string[];
  readonly types: readonly string[];
  readonly natives: readonly (number | null)[];
  /** Of the last event; costs less than `types`. */
  readonly lastType: string;
  /** Where the events of these types are; costs less than `types`. */
  indexesOf(wanted: ReadonlySet<string>): readonly number[];
  /** The JSON of one event. For those who want few: the others are not made. */
  event(index: number): string;
  /** All events in one Buffer, each between these texts. Keep the result for the others who get this batch; never write into it. */
  framed(before: (index: number) => string, after: string): Buffer;
}

/** The same in the stream of all streams. */
export interface GlobalBatch extends Batch {
  /** Cursor of the last event: pass it as `after` to go on behind this batch. */
  readonly cursor: string;
  cursorOf(index: number): string;
}

export type SubscribeOptions<B> = {
  /**
   * Gets batches in order, each event exactly once, only after commit. False means: this batch is taken, send no more until `resume()`. Meanwhile
   * nothing is kept for this subscriber; it continues from the log. A throw closes the subscription and goes to `onError` of the log.
   */
  onBatch(batch: B): boolean | undefined;
  /** Each time the subscriber has everything there is, and follows live. */
  onLive?(): void;
  /** The stream was deleted, the log closed, or reading failed (then with the error). Not called after `close()`. */
  onEnd?(reason: "deleted" | "closed" | "failed", error?: unknown): void;
};

export interface Subscription {
  /** After `onBatch` said false. Harmless otherwise. */
  resume(): void;
  close(): void;
  readonly state: "catching_up" | "live" | "stopped" | "closed";
}

export type ReadOptions = {
  /** Only events with a greater sequence. Default 0. */
  after?: number;
  /** Only events with a smaller sequence. */
  before?: number;
  /** At most this many events; default 1000. A page ends earlier when it grows past `maxBytes` (default 8 MB), but never without any event. */
  limit?: number;
  maxBytes?: number;
  types?: readonly string[];
  /** Newest first: `events` is in descending order, `next` is the `before` of the following page. */
  reverse?: boolean;
};

export type ReadPage = {
  events: string[];
  sequences: number[];
  types: string[];
  natives: (number | null)[];
  /** Pass it as `after` (or `before` when reversed) for the following page. */
  next: number;
  /** The last committed sequence of the stream. */
  last: number;
  /** A page with `types` can be empty and have more: the scan of one call is bounded. */
  has_more: boolean;
};

export type NativePage = { messages: NativeRow[]; next: number; has_more: boolean };

export type CoverageRow = { type: string; disposition: Disposition; count: number };

/** What is known of a stream without reading its events. */
export type StreamRow = {
  kind: StreamKind;
  id: string;
  created_at: number;
  updated_at: number;
  last_sequence: number;
  last_native: number;
  open_since: number | null;
  state: string;
};

/** A stream for its readers. They see what is committed, and nothing else. */
export interface Stream {
  readonly kind: StreamKind;
  readonly id: string;
  readonly created_at: number;
  /** Sequence of the last committed event, as far as this process knows; 0 when there is none. */
  readonly lastCommitted: number;
  /** When its last committed event was written; when it was created, as long as there is none. */
  readonly updatedAt: number;

  /** Rejects with `stream_deleted` when there is no such stream any more. */
  row(): Promise<StreamRow>;
  read(options?: ReadOptions): Promise<ReadPage>;
  readRaw(nativeSeqs: Iterable<number>): Promise<Map<number, NativeRow>>;
  readNative(options?: { after?: number; limit?: number; maxBytes?: number }): Promise<NativePage>;
  coverage(): Promise<CoverageRow[]>;
  /**
   * Rejects with `log_changed` unless the event was written in this epoch of the log or before: a restored backup, or a log that lost its end, is not
   * mistaken for the history that the cursor comes from.
   */
  assertCursor(cursor: { sequence: number; epoch: string }): Promise<void>;
  subscribe(options: SubscribeOptions<Batch> & { after?: number }): Subscription;
}

/**
 * The one writer of a stream. Whoever takes the writer next gets a higher epoch, and this one is refused with `fenced` from then on. Its own newest values
 * are at hand, committed or not. Every method but `committed` throws `fenced`, `stream_deleted`, `log_closed`, and `disk_full` when too much is waiting; then
 * nothing was enqueued.
 */
export interface StreamWriter extends Stream {
  readonly epoch: number;
  /** Sequence of the last appended event, committed or not. */
  readonly last: number;
  readonly lastNative: number;
  /** What is enqueued by now is committed when `committedMark` has come to this. */
  readonly enqueuedMark: number;
  readonly committedMark: number;

  /** Throws `sequence_gap` and `invalid_entry` too. */
  append(entry: EventEntry): void;
  /** Returns the native_seq: 1, 2, 3 … */
  appendNative(entry: NativeEntry): number;
  /** A JSON object, by whose fields lists can be filtered. */
  state(): string;
  setState(json: string, options?: { sync?: boolean }): void;
  openSince(): number | null;
  setOpenSince(sequence: number | null): void;
  /** Documents of this stream. They commit with what is enqueued in the same tick, and go with the stream. */
  readonly documents: StreamDocuments;
  readonly artifacts: ArtifactWriter;
  /**
   * Resolves when everything that this writer has enqueued so far is committed. Rejects with `disk_full` or `write_failed` when the log could not write for about a second: what
   * was enqueued is kept and tried again, but it is not durable yet. With `bounded: false` it waits for as long as that takes. Rejects with `fenced` or
   * `log_closed` when it will never be committed.
   */
  committed(options?: { bounded?: boolean }): Promise<void>;
}

/** Small JSON documents of one stream, as its writer has them: enqueued changes included. */
export interface StreamDocuments {
  /** In order of id. */
  list(kind: string): { id: string; body: string }[];
  /** `apart`: large, and never asked for here: it may be missing in `list`, and is read with `Documents.get`. */
  put(kind: string, id: string, body: string, options?: { sync?: boolean; apart?: boolean }): void;
  delete(kind: string, id: string): void;
}

/** Fields of a stream's state by which lists are filtered without a scan. States are JSON objects. */
export const LIST_FIELDS = ["agent", "directory", "status"] as const;
export type ListField = (typeof LIST_FIELDS)[number];

export type ListOptions = {
  limit?: number;
  /** Only streams with these ids. */
  ids?: readonly string[];
  /** Only streams whose state has these values. */
  where?: Partial<Record<ListField, string>>;
  /** Only streams whose state has this among its `tags`. */
  tag?: string;
  /** Only streams whose state says so, or does not. */
  archived?: boolean;
  pinned?: boolean;
  /** `created` (default): the newest created first. `updated`: the last written first. */
  order?: "created" | "updated";
  /** The `next` of the page before. */
  before?: string;
  /** Only streams in which something was open when they were last written. For recovery at start. */
  onlyOpen?: boolean;
};

/** `damaged`: ids of streams of this page whose rows cannot be read; they are not among `streams`. */
export type StreamPage = { streams: StreamRow[]; damaged: string[]; next: string | null };

/** Small JSON documents of the daemon, such as keys of requests and records of who did what. Reading shows what is enqueued too. */
export interface Documents {
  get(kind: string, id: string): Promise<string | undefined>;
  /** Enqueues; throws like a writer. Wait for `committed()` where it matters. */
  put(kind: string, id: string, body: string, options?: { expiresAt?: number; sync?: boolean }): void;
  delete(kind: string, id: string): void;
  /** In order of id, behind `after`. Expired ones are not there. Documents of streams have ids that begin with `<stream id>/`. */
  list(kind: string, options?: { prefix?: string; after?: string; limit?: number }): Promise<{ id: string; body: string }[]>;
  /** Everything that is committed, in order of kind and id, behind `after`: for copies of a log. */
  dump(options: { after?: { kind: string; id: string }; limit: number }): Promise<StoredDocument[]>;
  /** Like the writer's, for documents. */
  committed(): Promise<void>;
}

export type StoredDocument = { kind: string; id: string; body: string; expires_at: number | null };

export type ArtifactInfo = {
  artifact_id: string;
  /** Where the API serves it. */
  path: string;
  bytes: number;
  digest: string;
  mime: string;
  kind: string;
  name: string | null;
  created_at: number;
};

/** `created_at`: for copies of a log. */
export type ArtifactAbout = { kind: string; mime: string; name?: string; created_at?: number };

/** Stores artifacts for one stream: they belong to the streams that stored them, and go with the last of those. */
export interface ArtifactWriter {
  /** The bytes are durable before anything that is enqueued later commits. Throws like the writer. */
  put(bytes: Buffer, about: ArtifactAbout): ArtifactInfo;
}

/** Who has an artifact. */
export type ArtifactOwner = { kind: StreamKind; id: string };

export type ArtifactListOptions = {
  /** Only what one of these streams has; those that are not there have nothing. */
  of?: readonly ArtifactOwner[];
  kind?: string;
  min_bytes?: number;
  /** Default newest. */
  order?: "newest" | "largest";
  limit?: number;
  /** The `next` of the page before. */
  before?: string;
};

export type ArtifactPage = { artifacts: (ArtifactInfo & { owners: ArtifactOwner[] })[]; next: string | null };

/** Content-addressed: the same bytes have the same id. The first description (mime, kind, name) of some bytes stays; who puts them again may not know it yet. */
export interface Artifacts {
  /** Rejects with `invalid_artifact_id`. */
  stat(artifactId: string): Promise<ArtifactInfo | undefined>;
  /**
   * `end` is inclusive, as in HTTP ranges. Undefined when there is no such artifact. Rejects with `corrupt_artifact` when the bytes are not what the id says.
   */
  openRead(artifactId: string, range?: { start?: number; end?: number }): Promise<Readable | undefined>;
  /** What is committed. */
  list(options?: ArtifactListOptions): Promise<ArtifactPage>;
  /** The streams that have it. */
  owners(artifactId: string): Promise<ArtifactOwner[]>;
  /** How many there are, and their bytes. */
  usage(): Promise<{ count: number; bytes: number }>;
}

/** One text that can be found: something said or done in a stream. */
export type SearchEntry = {
  kind: StreamKind;
  stream_id: string;
  sequence: number;
  item_id: string | null;
  /** What sort of text it is: the words are the caller's. */
  sort: string;
  at: number;
  text: string;
};

/** What is known of a stream beside its texts, to search in it and to filter by it. */
export type SearchStream = { kind: StreamKind; stream_id: string; agent: string; directory: string; title: string | null };

export type SearchOptions = {
  /** Words that must all occur; the last may be the beginning of one. Words in double quotes must follow each other. Empty: nothing is found. */
  query: string;
  agent?: string;
  directory?: string;
  sorts?: readonly string[];
  stream_id?: string;
  limit?: number;
  /** The `next` of the page before. */
  before?: string;
};

export type SearchHit = SearchEntry & Omit<SearchStream, "kind" | "stream_id">;
export type SearchPage = { hits: SearchHit[]; next: string | null };

/**
 * An index of texts beside the log, made from its events. It holds nothing that the log does not hold: it may lag behind, and can be thrown away and built
 * anew. What of an event is a text is decided by who fills it.
 */
export interface SearchIndex {
  /** Up to where events were taken in; null when it is empty, or belongs to another log. */
  cursor(): Promise<string | null>;
  /** All of it, and where that came from, or nothing. `removed`: items whose texts go. */
  put(
    change: { streams: readonly SearchStream[]; entries: readonly SearchEntry[]; removed: readonly RemovedItem[] },
    cursor: string,
  ): Promise<void>;
  /** The newest first. */
  find(options: SearchOptions): Promise<SearchPage>;
  /** Streams whose id, title, directory or agent contain the text, whatever its case; the newest first. */
  findStreams(text: string, options?: { limit?: number; before?: string }): Promise<{ ids: string[]; next: string | null }>;
  /** Empties it: it is built anew from the beginning. */
  reset(): Promise<void>;
}

export type RemovedItem = { kind: StreamKind; stream_id: string; item_id: string };

/**
 * For a log that several processes share: the number under which the owner of a stream was chosen. It becomes the epoch of the writer, so that an owner of the
 * past who wakes up late takes nothing from the one that came after it. The same owner may take its writer again. An engine of one process needs none.
 */
export type OwnerEpoch = { epoch: number };

/** What was found damaged since the log was opened: in how many places, in which streams, and the first message about it. */
export type DamageReport = { places: number; streams: string[]; message: string | null };

export type LogHealth = { pending_bytes: number; damage: DamageReport } & (
  | { state: "ok" }
  | { state: "failing"; code: LogError["code"]; message: string; since: number }
);

export type LogStats = {
  commits: number;
  failed_commits: number;
  events: number;
  subscribers: number;
  pending_bytes: number;
  /** Where a server commits: how long that takes, how many chunks one commit writes, and how often an answer was lost. */
  server?: { commit_seconds: Distribution; commit_rows: Distribution; ambiguous: number };
};

export interface Log {
  /** Of this log, made once. A copy has the same. */
  readonly id: string;
  /** Of this opening of it. Every event belongs to the epoch it was written in; cursors carry it. */
  readonly epoch: string;
  readonly documents: Documents;
  readonly artifacts: Artifacts;
  readonly search: SearchIndex;

  /** A new stream and its first writer. Rejects with `stream_exists`. `created_at`: for copies of a log. */
  create(
    kind: StreamKind,
    id: string,
    state: string,
    options?: Partial<OwnerEpoch> & { created_at?: number },
  ): Promise<StreamWriter>;
  /**
   * Takes the writer of a stream; the one before is refused from now on. Nothing is written by that alone. Undefined when there is no such stream. With the
   * epoch of an owner it rejects with `fenced` when the stream is written under a higher one.
   */
  writer(kind: StreamKind, id: string, owner?: OwnerEpoch): Promise<StreamWriter | undefined>;
  stream(kind: StreamKind, id: string): Promise<Stream | undefined>;
  /** What the list says about one stream, without opening it. */
  row(kind: StreamKind, id: string): Promise<StreamRow | undefined>;
  list(kind: StreamKind, options?: ListOptions): Promise<StreamPage>;
  /**
   * False when there is none. Gone for readers at once; what it left is removed in the background. Its documents go too, and of the kinds in `documents`
   * those that name it.
   */
  delete(kind: StreamKind, id: string, options?: { documents?: readonly string[] }): Promise<boolean>;
  /** Resolves when nothing of what was deleted is left: no row, no free page, no artifact that only it had. Rejects like `committed()`. */
  erased(): Promise<void>;

  /** Cursor of the last committed event of all streams. Cursors are opaque: only the log compares them. */
  end(): Promise<string>;
  /** Cursor before the first event. */
  readonly beginning: string;
  /** Rejects with `invalid_cursor`, with `cursor_too_large` for one beyond the end, and with `log_changed` for one of another history. */
  assertCursor(cursor: string): Promise<void>;
  /** Events of all streams, in the order of their commit. `after` must be a cursor that `assertCursor` takes; absent means from the beginning. */
  subscribeAll(options: SubscribeOptions<GlobalBatch> & { after?: string }): Subscription;

  /** Like a writer's, for everything that anybody has enqueued so far. */
  committed(): Promise<void>;
  /** Throws while commits fail. For commands that promise to be durable: refuse them before they have any effect. */
  assertWritable(): void;
  /**
   * Calls the listener with true when writers should pause (much waits for its commit, or commits fail) and with false when all of it is committed. Called
   * at once with true when that is so already. Returns the function that removes the listener.
   */
  onPressure(listener: (paused: boolean) => void): () => void;
  health(): LogHealth;
  /** For metrics: since the log was opened. */
  stats(): LogStats;
  /** Commits, ends subscriptions, gives the log back. */
  close(): Promise<void>;
}
