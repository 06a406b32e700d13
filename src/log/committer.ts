/**
 * Group commit: everything written in one tick, over all streams, is one transaction; then, and only then, it is published. When a commit fails nothing
 * of it is visible, everything is kept, and it is tried again until it works. It knows writers, not what they write.
 */
import type { LogHealth } from "./contract.ts";
import type { Database } from "./driver.ts";
import { LogError, toLogError } from "./log-error.ts";
import { rollback } from "./migrations.ts";

export interface Writer {
  /** Runs its statements. May be called again with the same content after a failed commit. */
  write(): void;
  /** It is committed: what was pending is history. */
  settle(): void;
}

const RETRY_MIN_MS = 50;
const RETRY_MAX_MS = 2000;

type Failure = { error: LogError; since: number; retryMs: number };
type Waiter = { promise: Promise<void>; resolve(): void; reject(error: LogError): void };

/** More than this in one turn is a flood. */
const FLOOD_BYTES = 48 * 1024;
const ENOUGH_BYTES = 1024 * 1024;
const GATHER_TURNS = 4;

export class Committer {
  readonly #db: Database;
  readonly #publish: () => void;
  readonly #onError: (error: LogError | null) => void;
  readonly #maxPendingBytes: number;
  #dirty = new Set<Writer>();
  #pendingBytes = 0;
  #sync = false;
  #synchronous: "FULL" | "NORMAL" | undefined;
  #scheduled: NodeJS.Immediate | undefined;
  #retry: NodeJS.Timeout | undefined;
  #failure: Failure | undefined;
  #waiter: Waiter | undefined;
  #closed = false;
  #gathered = 0;
  #commits = 0;
  #failedCommits = 0;

  constructor(db: Database, options: { publish(): void; onError(error: LogError | null): void; maxPendingBytes: number }) {
    this.#db = db;
    this.#publish = options.publish;
    this.#onError = options.onError;
    this.#maxPendingBytes = options.maxPendingBytes;
  }

  get counts(): { commits: number; failed_commits: number; pending_bytes: number } {
    return { commits: this.#commits, failed_commits: this.#failedCommits, pending_bytes: this.#pendingBytes };
  }

  /** Call before anything is changed: throws when nothing can be taken. Too much in one tick is committed on the spot instead. */
  admit(): void {
    if (this.#closed) throw new LogError("log_closed", "The log is closed: dragoman is stopping.");
    if (this.#pendingBytes <= this.#maxPendingBytes) return;
    if (this.#failure === undefined) this.#commit();
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  enlist(writer: Writer, bytes: number, sync: boolean | undefined): void {
    this.#pendingBytes += bytes;
    if (sync === true) this.#sync = true;
    this.#dirty.add(writer);
    this.schedule();
  }

  /** A tick of the log: commit, then publish. */
  schedule(): void {
    this.#scheduled ??= setImmediate(() => {
      this.#scheduled = undefined;
      if (this.#mayGather()) return this.schedule();
      this.#gathered = 0;
      if (this.#failure === undefined) this.#commit();
      this.#publish();
    });
  }

  /** In a flood a commit may wait a few turns of the event loop for more: one large transaction costs far less than several. Nobody waits for a trickle. */
  #mayGather(): boolean {
    const flood = this.#pendingBytes > FLOOD_BYTES && this.#pendingBytes < ENOUGH_BYTES;
    if (!flood || this.#sync || this.#waiter || this.#failure || this.#gathered >= GATHER_TURNS) return false;
    this.#gathered++;
    return true;
  }

  flush(): void {
    if (this.#closed) throw new LogError("log_closed", "The log is closed: dragoman is stopping.");
    this.#commit();
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  committed(): Promise<void> {
    if (this.#dirty.size === 0) return Promise.resolve();
    this.#waiter ??= waiter();
    return this.#waiter.promise;
  }

  health(): LogHealth {
    const pending_bytes = this.#pendingBytes;
    if (this.#failure === undefined) return { state: "ok", pending_bytes };
    const { error, since } = this.#failure;
    return { state: "failing", code: error.code, message: error.message, since, pending_bytes };
  }

  /** Last commit. Returns the error when it did not work. */
  close(): LogError | undefined {
    if (this.#closed) return undefined;
    this.#commit();
    this.#closed = true;
    clearTimeout(this.#retry);
    if (this.#scheduled !== undefined) clearImmediate(this.#scheduled);
    this.#waiter?.reject(new LogError("log_closed", "The log was closed before this could be committed."));
    return this.#failure?.error;
  }

  #commit(): void {
    if (this.#dirty.size === 0) return;
    const writers = this.#dirty;
    try {
      this.#begin();
      for (const writer of writers) writer.write();
      this.#db.exec("COMMIT");
    } catch (error) {
      rollback(this.#db);
      this.#fail(toLogError(error, "Writing to the log"));
      return;
    }
    this.#dirty = new Set();
    this.#pendingBytes = 0;
    this.#sync = false;
    this.#commits++;
    for (const writer of writers) writer.settle();
    this.#waiter?.resolve();
    this.#waiter = undefined;
    if (this.#failure !== undefined) this.#recover();
  }

  /** FULL fsyncs the WAL at this commit, and with it all earlier ones. NORMAL survives the death of the process, not that of the power. */
  #begin(): void {
    const synchronous = this.#sync ? "FULL" : "NORMAL";
    if (this.#synchronous !== synchronous) this.#db.exec(`PRAGMA synchronous = ${synchronous}`);
    this.#synchronous = synchronous;
    this.#db.exec("BEGIN IMMEDIATE");
  }

  #fail(error: LogError): void {
    const before = this.#failure;
    this.#failedCommits++;
    const retryMs = before === undefined ? RETRY_MIN_MS : Math.min(before.retryMs * 2, RETRY_MAX_MS);
    this.#failure = { error, since: before?.since ?? Date.now(), retryMs };
    clearTimeout(this.#retry);
    if (!this.#closed) {
      this.#retry = setTimeout(() => {
        this.#commit();
        this.schedule();
      }, retryMs);
    }
    if (before?.error.code !== error.code) this.#onError(error);
  }

  #recover(): void {
    this.#failure = undefined;
    clearTimeout(this.#retry);
    this.schedule();
    this.#onError(null);
  }
}

function waiter(): Waiter {
  let resolve: () => void = () => undefined;
  let reject: (error: LogError) => void = () => undefined;
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
