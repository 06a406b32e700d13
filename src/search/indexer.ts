/**
 * Fills the search index from the log, in the background: follows the events of all streams and puts their texts in, some at a time. An index that belongs to
 * another history of the log is built anew. While it lags, `status` says so; nothing waits for it.
 */
import type { GlobalBatch, Log, RemovedItem, SearchEntry, SearchStream, Subscription } from "../log/contract.ts";
import { LogError } from "../log/log-error.ts";
import type { UniversalEvent } from "../schema/event.ts";
import { entriesOf, SEARCHED_TYPES } from "./entry-text.ts";

const START_AFTER_MS = 500;
/** A log that cannot be reached now may be soon. */
const RETRY_MS = 2_000;
const PASSING = new Set(["write_failed", "disk_full"]);
/** Texts wait this long for others to go with. */
const GATHER_MS = 100;
/** Of one transaction: some milliseconds. */
const MAX_GATHERED = 200;
/** Without texts the place is stored now and then, so that a start does not look at everything again. */
const STORE_PLACE_MS = 30_000;

export type IndexStatus = { state: "building" | "ready" | "failed"; message?: string };

export type IndexerOptions = {
  log: Log;
  /** Agent, directory and title of a session, from its stored state. Undefined when it cannot be read. */
  factsOf(state: string): Omit<SearchStream, "kind" | "stream_id"> | undefined;
  onError(error: unknown): void;
};

export class Indexer {
  readonly #options: IndexerOptions;
  #subscription: Subscription | null = null;
  #status: IndexStatus = { state: "building" };
  #entries: SearchEntry[] = [];
  #removed: RemovedItem[] = [];
  /** Sessions whose facts are to be read. */
  #changed = new Set<string>();
  #cursor: string | null = null;
  #stored = Date.now();
  #starting: NodeJS.Timeout | undefined;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | null = null;
  #closed = false;

  constructor(options: IndexerOptions) {
    this.#options = options;
  }

  status(): IndexStatus {
    return this.#status;
  }

  /** Begins a moment later: nothing is searched before the daemon answers, and its start is not slowed down. */
  start(): void {
    this.#starting = setTimeout(() => this.#follow().catch((error: unknown) => this.#fail(error)), START_AFTER_MS);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#starting);
    clearTimeout(this.#timer);
    this.#subscription?.close();
    await this.#write().catch(() => undefined);
  }

  async #follow(): Promise<void> {
    const { log } = this.#options;
    const after = await this.#place();
    if (this.#closed) return;
    this.#subscription = log.subscribeAll({
      after,
      onBatch: (batch) => this.#take(batch),
      onLive: () => this.#flush(() => this.#settled()),
      onEnd: (reason, error) => {
        if (reason === "failed") this.#fail(error);
      },
    });
  }

  /** Where to go on; the beginning when the index is empty or of another history. */
  async #place(): Promise<string> {
    const { log } = this.#options;
    const cursor = await log.search.cursor();
    if (cursor === null) return log.beginning;
    try {
      await log.assertCursor(cursor);
      return cursor;
    } catch (error) {
      if (!(error instanceof LogError) || PASSING.has(error.code)) throw error;
      await log.search.reset();
      return log.beginning;
    }
  }

  #take(batch: GlobalBatch): boolean {
    this.#cursor = batch.cursor;
    if (batch.kind !== "session") return true;
    const found = batch.indexesOf(SEARCHED_TYPES);
    for (const index of found) this.#read(JSON.parse(batch.event(index)) as UniversalEvent);
    if (found.length === 0) return true;
    if (this.#gathered >= MAX_GATHERED) {
      this.#flush(() => this.#subscription?.resume());
      return false;
    }
    this.#timer ??= setTimeout(() => this.#flush(), GATHER_MS).unref();
    return true;
  }

  get #gathered(): number {
    return this.#entries.length + this.#removed.length + this.#changed.size;
  }

  #read(event: UniversalEvent): void {
    if (event.type === "session.started" || event.type === "session.updated") this.#changed.add(event.session_id);
    if (event.type === "item.removed") {
      const { item_id } = event.data;
      this.#entries = this.#entries.filter((entry) => entry.item_id !== item_id);
      this.#removed.push({ kind: "session", stream_id: event.session_id, item_id });
    }
    this.#entries.push(...entriesOf(event));
  }

  #settled(): void {
    this.#status = { state: "ready" };
  }

  #flush(then?: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const writing = (this.#writing ?? Promise.resolve()).then(() => this.#write());
    this.#writing = writing;
    writing.then(then, (error: unknown) => this.#fail(error));
  }

  async #write(): Promise<void> {
    const [cursor, entries, removed, changed] = [this.#cursor, this.#entries, this.#removed, this.#changed];
    if (cursor === null) return;
    if (this.#gathered === 0 && Date.now() - this.#stored < STORE_PLACE_MS && !this.#closed) return;
    this.#entries = [];
    this.#removed = [];
    this.#changed = new Set();
    const streams: SearchStream[] = [];
    for (const id of changed) {
      const row = await this.#options.log.row("session", id);
      const facts = row && this.#options.factsOf(row.state);
      if (facts) streams.push({ kind: "session", stream_id: id, ...facts });
    }
    await this.#options.log.search.put({ streams, entries, removed }, cursor);
    this.#stored = Date.now();
  }

  /** The log goes on without it: search says that it failed. It is tried again soon where that may help, else at the next start. */
  #fail(error: unknown): void {
    if (this.#closed) return;
    const isNews = this.#status.state !== "failed";
    this.#status = { state: "failed", message: error instanceof Error ? error.message : String(error) };
    this.#subscription?.close();
    if (isNews) this.#options.onError(error);
    if (!(error instanceof LogError && PASSING.has(error.code))) return;
    // What was gathered comes again from where the index stands.
    [this.#entries, this.#removed, this.#changed, this.#cursor, this.#writing] = [[], [], new Set(), null, null];
    clearTimeout(this.#timer);
    clearTimeout(this.#starting);
    this.#timer = undefined;
    this.#starting = setTimeout(() => this.#follow().catch((again: unknown) => this.#fail(again)), RETRY_MS).unref();
  }
}
