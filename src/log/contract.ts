/**
 * What a log is: the types that the rest of the daemon builds on. Streams of events, each gapless from 1, beside a ledger of native messages;
 * nothing here knows about SQLite, and nothing here knows what an event means.
 */
import type { Readable } from "node:stream";
import type { LogError } from "./log-error.ts";

export type StreamKind = "session" | "task" | "thread" | "artifact";

/** The words of recorded traces. */
export type NativeDirection = "in" | "out" | "err" | "exit" | "http" | "sse";
export type Disposition = "mapped" | "noted" | "heartbeat" | "unparsed";

/** What many events in a row have in common. Compared by identity: keep the object as long as it holds. */
export type Shape = { before: string; after: string };

/**
 * An event as it is sent, on one line, with `"raw":null`: in full, or as the parts of
 * `{"event_id":"${head}${counter}","sequence":${sequence},"time":"${time}${before}${value}${after}`. JSON as `JSON.stringify` writes it: without tabs and
 * line ends.
 */
export type EventText = string | { head: string; counter: string; time: string; shape: Shape; value: string };

export type EventEntry = {
  text: EventText;
  /** Must be the stream's `last` + 1. */
  sequence: number;
  type: string;
  /** The ledger entry this event was made from. */
  native: number | null;
  /** True: the transaction that carries this event is fsynced before anybody sees it. For commands, permissions and ends. */
  sync?: boolean;
};

export type NativeEntry = {
  dir: NativeDirection;
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
  dir: NativeDirection;
  t_ms: number;
  type: string;
  disposition: Disposition;
  body: Buffer;
};

/** A run of events of one stream, shared by all who receive it. Everything is computed at most once, on first use. */
export interface Batch {
  readonly stream_id: string;
  readonly first: number;
  readonly last: number;
  readonly events: readonly string[];
  readonly types: readonly string[];
  readonly natives: readonly (number | null)[];
  /** `id: <sequence>\ndata: <json>\n\n` for every event. One Buffer for all subscribers: never write into it. */
  sse(): Buffer;
}

/** The same in the stream of all sessions; `sse()` carries cursors as ids. */
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

export interface Stream {
  readonly kind: StreamKind;
  readonly id: string;
  readonly created_at: number;
  /** Sequence of the last appended event, committed or not; 0 when there is none. */
  readonly last: number;
  readonly lastCommitted: number;
  /** When its last committed event was written; when it was created, as long as there is none. */
  readonly updatedAt: number;
  readonly lastNative: number;

  /** Throws `sequence_gap`, `invalid_entry`, `stream_deleted`, `disk_full` (too much is waiting), `log_closed`; then nothing was appended. */
  append(entry: EventEntry): void;
  /** Returns the native_seq: 1, 2, 3 … */
  appendNative(entry: NativeEntry): number;
  /** The newest state, committed or not. */
  state(): string;
  setState(json: string, options?: { sync?: boolean }): void;
  openSince(): number | null;
  setOpenSince(sequence: number | null): void;

  read(options?: ReadOptions): ReadPage;
  readRaw(nativeSeqs: Iterable<number>): Map<number, NativeRow>;
  readNative(options?: { after?: number; limit?: number; maxBytes?: number }): NativePage;
  /**
   * Throws `log_changed` unless the event was written in this epoch or before: a restored backup, or a log that lost its end, is not mistaken for the
   * history that the cursor comes from.
   */
  assertCursor(cursor: { sequence: number; epoch: string }): void;
  /** Committed counts only. */
  coverage(): CoverageRow[];
  subscribe(options: SubscribeOptions<Batch> & { after?: number }): Subscription;
}

export type ListOptions = {
  limit?: number;
  /** `created` (default): the newest created first. `updated`: the last written first. */
  order?: "created" | "updated";
  /** The `next` of the page before. */
  before?: string;
  /** Only streams in which something was open when they were last written. For recovery at start. */
  onlyOpen?: boolean;
};

/** `damaged`: ids of streams of this page whose rows cannot be read; they are not among `streams`. */
export type StreamPage = { streams: StreamRow[]; damaged: string[]; next: string | null };

export type GlobalEvent = { cursor: string; stream_id: string; type: string; native: number | null; json: string };
export type GlobalPage = { events: GlobalEvent[]; next: string; has_more: boolean };

/** Small JSON documents that commit together with the events of the same tick. */
export interface Documents {
  get(kind: string, id: string): string | undefined;
  put(kind: string, id: string, body: string, options?: { expiresAt?: number; sync?: boolean }): void;
  delete(kind: string, id: string): void;
  /** In order of id, behind `after`. Expired ones are not there. */
  list(kind: string, options?: { prefix?: string; after?: string; limit?: number }): { id: string; body: string }[];
}

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

/** Stores artifacts for one stream. */
export interface ArtifactWriter {
  /** The file is on the disk (fsynced) when this returns; its description commits with the tick. Throws `disk_full`. */
  put(bytes: Buffer, about: { kind: string; mime: string; name?: string }): ArtifactInfo & { existed: boolean };
}

/** Content-addressed: the same bytes have the same id. The first description (mime, kind, name) of some bytes stays. */
export interface Artifacts {
  /** Artifacts belong to the streams that stored them, and go with the last of those. */
  of(stream: Stream): ArtifactWriter;
  stat(artifactId: string): ArtifactInfo | undefined;
  /**
   * `end` is inclusive, as in HTTP ranges. Undefined when there is no such artifact. Rejects with `corrupt_artifact` when the file is not what its id says.
   */
  openRead(artifactId: string, range?: { start?: number; end?: number }): Promise<Readable | undefined>;
}

/** What was found damaged on the disk since the log was opened: in how many places, in which streams, and the first message about it. */
export type DamageReport = { places: number; streams: string[]; message: string | null };

export type LogHealth = { pending_bytes: number; damage: DamageReport } & (
  | { state: "ok" }
  | { state: "failing"; code: LogError["code"]; message: string; since: number }
);

export type LogStats = { commits: number; failed_commits: number; events: number; subscribers: number; pending_bytes: number };

export interface Log {
  readonly dataDir: string;
  /** Of this log, made once. A copy has the same. */
  readonly id: string;
  /** Of this opening of it. Every event belongs to the epoch it was written in; cursors carry it. */
  readonly epoch: string;
  readonly documents: Documents;
  readonly artifacts: Artifacts;
  /** Transactions committed since the log was opened. What was written before this number grew is committed. */
  readonly commits: number;

  createStream(kind: StreamKind, id: string, state: string): Stream;
  stream(kind: StreamKind, id: string): Stream | undefined;
  listStreams(kind: StreamKind, options?: ListOptions): StreamPage;
  /** What the list says about one stream, without opening it. */
  streamRow(kind: StreamKind, id: string): StreamRow | undefined;
  /**
   * False when there is none. Gone for readers at once; its rows are removed in the background. Documents whose ids begin with `<id>/` go too, and of the
   * kinds in `documents` those that name it.
   */
  deleteStream(kind: StreamKind, id: string, options?: { documents?: readonly string[] }): boolean;
  /** Resolves when nothing of what was deleted is left on the disk: no row, no free page, no artifact that only it had. Rejects like `committed()`. */
  erased(): Promise<void>;

  /**
   * Events of all sessions, in the order of their commit. `after` is a cursor; absent means from the beginning. Throws `log_changed` for a cursor of another
   * history.
   */
  readGlobal(options?: { after?: string; limit?: number }): GlobalPage;
  /** Cursor of the last committed event. */
  globalCursor(): string;
  /** Throws `log_changed` for a cursor of another history. */
  assertCursor(cursor: string): void;
  subscribeAll(options: SubscribeOptions<GlobalBatch> & { after?: string }): Subscription;

  /** Commits now. Throws when that fails; then everything is kept and tried again. */
  flush(): void;
  /**
   * Resolves when everything appended so far is committed. Rejects with `disk_full` or `write_failed` when the log could not write for about a second: what
   * was appended is kept and tried again, but it is not durable yet. With `bounded: false` it waits for as long as that takes. Rejects with `fenced` or
   * `log_closed` when it will never be committed.
   */
  committed(options?: { bounded?: boolean }): Promise<void>;
  /** Throws while commits fail. For commands that promise to be durable: refuse them before they have any effect. */
  assertWritable(): void;
  /**
   * Calls the listener with true when agents should be paused (more than a quarter of `maxPendingBytes` waits for its commit, or commits fail) and with
   * false when all of it is committed. Called at once with true when that is so already. Returns the function that removes the listener.
   */
  onPressure(listener: (paused: boolean) => void): () => void;
  health(): LogHealth;
  /** For metrics: since the log was opened. */
  stats(): LogStats;
  /** Commits, ends subscriptions, gives the lock back. */
  close(): Promise<void>;
}

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
