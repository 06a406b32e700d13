/**
 * Group commit: everything written in one tick, over all streams, is one transaction; then, and only then, it is published. When a commit fails nothing
 * of it is visible, everything is kept, and it is tried again until it works. It knows writers, not what they write.
 */
import type { DamageReport, LogHealth } from "../contract.ts";
import { closedError } from "../entry-errors.ts";
import { LogError, notDurableYet, toLogError } from "../log-error.ts";
import { rejected, type Waiter, waiter } from "../waiter.ts";
import type { Database } from "./driver.ts";
import { rollback } from "./migrations.ts";

type CommitterOptions = {
  publish(): void;
  onError(error: LogError | null): void;
  maxPendingBytes: number;
  /** Throws when another process owns the log. Called inside every transaction. */
  assertOwner(): void;
  /** After each commit: how many wrote, and how much. */
  committed(writers: number, bytes: number): void;
};

export interface Writer {
  /** Runs its statements. May be called again with the same content after a failed commit. */
  write(): void;
  /** It is committed: what was pending is history. */
  settle(): void;
}

const RETRY_MIN_MS = 50;
const RETRY_MAX_MS = 1000;
/** How long a bounded `committed()` waits for a log that cannot write. Commands are answered within about a second. */
const PATIENCE_MS = 800;
/** Agents are paused when more than this part of what may wait does. */
const PRESSURE_PART = 1 / 4;

type Failure = {
  error: LogError;
  since: number;
  retryMs: number;
  patience: NodeJS.Timeout;
  outOfPatience: boolean;
  /** It will never work again: another process owns the log. */
  final: boolean;
};

/** More than this in one turn is a flood. */
const FLOOD_BYTES = 48 * 1024;
const ENOUGH_BYTES = 1024 * 1024;
const GATHER_TURNS = 4;
/** So long after a commit the next one waits for more, unless somebody waits for it: a commit costs the same for one event and for ten. */
const REST_MS = 2;

export class Committer {
  readonly #db: Database;
  readonly #publish: () => void;
  readonly #onError: (error: LogError | null) => void;
  readonly #assertOwner: () => void;
  readonly #committed: (writers: number, bytes: number) => void;
  readonly #maxPendingBytes: number;
  #dirty = new Set<Writer>();
  #pendingBytes = 0;
  #sync = false;
  #synchronous: "FULL" | "NORMAL" | undefined;
  #scheduled: NodeJS.Immediate | undefined;
  #resting: NodeJS.Timeout | undefined;
  #lastCommit = 0;
  #retry: NodeJS.Timeout | undefined;
  #failure: Failure | undefined;
  /** For callers that wait a bounded time, and for those that wait as long as it takes. */
  #waiter: Waiter | undefined;
  #longWaiter: Waiter | undefined;
  readonly #pressureListeners = new Set<(paused: boolean) => void>();
  #pressed = false;
  #closed = false;
  #held = false;
  #gathered = 0;
  #commits = 0;
  #failedCommits = 0;

  constructor(db: Database, options: CommitterOptions) {
    this.#db = db;
    this.#publish = options.publish;
    this.#onError = options.onError;
    this.#assertOwner = options.assertOwner;
    this.#committed = options.committed;
    this.#maxPendingBytes = options.maxPendingBytes;
  }

  get commits(): number {
    return this.#commits;
  }

  get counts(): { commits: number; failed_commits: number; pending_bytes: number } {
    return { commits: this.#commits, failed_commits: this.#failedCommits, pending_bytes: this.#pendingBytes };
  }

  /** Call before anything is changed: throws when nothing can be taken. Too much in one tick is committed on the spot instead. */
  admit(): void {
    if (this.#closed) throw closedError();
    if (this.#failure?.final) throw this.#failure.error;
    if (this.#pendingBytes <= this.#maxPendingBytes) return;
    if (this.#failure === undefined) this.#commit();
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  enlist(writer: Writer, bytes: number, sync: boolean | undefined): void {
    this.#pendingBytes += bytes;
    if (sync === true) this.#sync = true;
    this.#dirty.add(writer);
    if (!this.#pressed) this.#reportPressure();
    this.schedule();
  }

  onPressure(listener: (paused: boolean) => void): () => void {
    this.#pressureListeners.add(listener);
    if (this.#pressed) listener(true);
    return () => void this.#pressureListeners.delete(listener);
  }

  assertWritable(): void {
    if (this.#closed) throw closedError();
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** A tick of the log: commit, then publish. */
  schedule(): void {
    if (this.#resting !== undefined) {
      if (!this.#urgent) return;
      clearTimeout(this.#resting);
      this.#resting = undefined;
    }
    this.#scheduled ??= setImmediate(this.#tick);
  }

  /** One function for all ticks: this is asked for with every event. */
  readonly #tick = (): void => {
    this.#scheduled = undefined;
    if (this.#held) return;
    if (this.#mayGather()) return this.schedule();
    // What a retry has committed is shown now.
    if (this.#mayRest()) return this.#publish();
    this.#gathered = 0;
    if (this.#failure === undefined) this.#commit();
    this.#publish();
  };

  /** While true, what is enqueued waits, for as long as the disk needs to write the WAL back: a few milliseconds. */
  hold(held: boolean): void {
    if (held === this.#held) return;
    this.#held = held;
    if (!held && !this.#closed) this.schedule();
  }

  /** Somebody waits for what is pending, or it is to outlive a loss of power. */
  get #urgent(): boolean {
    return this.#sync || this.#waiter !== undefined || this.#longWaiter !== undefined || this.#failure !== undefined;
  }

  /** The first event after a pause is committed at once; of those that follow one another quickly, several are committed together. */
  #mayRest(): boolean {
    if (this.#urgent || this.#dirty.size === 0 || this.#pendingBytes > FLOOD_BYTES) return false;
    const rest = this.#lastCommit + REST_MS - performance.now();
    if (rest <= 0) return false;
    this.#resting = setTimeout(() => {
      this.#resting = undefined;
      this.schedule();
    }, Math.ceil(rest));
    return true;
  }

  /** In a flood a commit may wait a few turns of the event loop for more: one large transaction costs far less than several. Nobody waits for a trickle. */
  #mayGather(): boolean {
    const flood = this.#pendingBytes > FLOOD_BYTES && this.#pendingBytes < ENOUGH_BYTES;
    if (!flood || this.#urgent || this.#gathered >= GATHER_TURNS) return false;
    this.#gathered++;
    return true;
  }

  flush(): void {
    if (this.#closed) throw closedError();
    this.#commit();
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  committed(bounded: boolean): Promise<void> {
    if (this.#failure?.final) return rejected(this.#failure.error);
    if (this.#dirty.size === 0) return Promise.resolve();
    if (this.#closed) return rejected(closedError());
    if (bounded && this.#failure?.outOfPatience) return rejected(notDurableYet(this.#failure.error));
    if (bounded) this.#waiter ??= waiter();
    else this.#longWaiter ??= waiter();
    if (this.#resting !== undefined) this.schedule();
    return (bounded ? this.#waiter : this.#longWaiter)?.promise ?? Promise.resolve();
  }

  health(damage: DamageReport): LogHealth {
    const pending_bytes = this.#pendingBytes;
    if (this.#failure === undefined) return { state: "ok", pending_bytes, damage };
    const { error, since } = this.#failure;
    return { state: "failing", code: error.code, message: error.message, since, pending_bytes, damage };
  }

  /** Last commit. Returns the error when it did not work. */
  close(): LogError | undefined {
    if (this.#closed) return undefined;
    this.#commit();
    this.#closed = true;
    clearTimeout(this.#retry);
    clearTimeout(this.#failure?.patience);
    if (this.#scheduled !== undefined) clearImmediate(this.#scheduled);
    clearTimeout(this.#resting);
    this.#reject(new LogError("log_closed", "The log was closed before this could be committed."), { all: true });
    return this.#failure?.error;
  }

  #reject(error: LogError, { all }: { all: boolean }): void {
    this.#waiter?.reject(error);
    this.#waiter = undefined;
    if (!all) return;
    this.#longWaiter?.reject(error);
    this.#longWaiter = undefined;
  }

  #reportPressure(): void {
    const pressed = this.#failure !== undefined || this.#pendingBytes > this.#maxPendingBytes * PRESSURE_PART;
    if (pressed === this.#pressed) return;
    this.#pressed = pressed;
    for (const listener of this.#pressureListeners) {
      try {
        listener(pressed);
      } catch (error) {
        this.#onError(toLogError(error, "Reporting pressure"));
      }
    }
  }

  #commit(): void {
    if (this.#dirty.size === 0 || this.#failure?.final) return;
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
    this.#committed(writers.size, this.#pendingBytes);
    this.#dirty = new Set();
    this.#pendingBytes = 0;
    this.#sync = false;
    this.#lastCommit = performance.now();
    clearTimeout(this.#resting);
    this.#resting = undefined;
    this.#commits++;
    for (const writer of writers) writer.settle();
    this.#waiter?.resolve();
    this.#waiter = undefined;
    this.#longWaiter?.resolve();
    this.#longWaiter = undefined;
    if (this.#failure !== undefined) this.#recover();
    if (this.#pressed) this.#reportPressure();
  }

  /** FULL fsyncs the WAL at this commit, and with it all earlier ones. NORMAL survives the death of the process, not that of the power. */
  #begin(): void {
    const synchronous = this.#sync ? "FULL" : "NORMAL";
    if (this.#synchronous !== synchronous) this.#db.exec(`PRAGMA synchronous = ${synchronous}`);
    this.#synchronous = synchronous;
    this.#db.exec("BEGIN IMMEDIATE");
    this.#assertOwner();
  }

  #fail(error: LogError): void {
    const before = this.#failure;
    this.#failedCommits++;
    const retryMs = before === undefined ? RETRY_MIN_MS : Math.min(before.retryMs * 2, RETRY_MAX_MS);
    this.#failure = {
      error,
      since: before?.since ?? Date.now(),
      retryMs,
      patience: before?.patience ?? setTimeout(() => this.#losePatience(), PATIENCE_MS),
      outOfPatience: before?.outOfPatience ?? false,
      final: error.code === "fenced",
    };
    this.#reportPressure();
    clearTimeout(this.#retry);
    if (this.#failure.final) this.#giveUp(error);
    else if (!this.#closed) {
      this.#retry = setTimeout(() => {
        this.#commit();
        this.schedule();
      }, retryMs);
    }
    if (before?.error.code !== error.code) this.#onError(error);
  }

  /** What was not committed is dropped: it belongs to a history that ended before it. */
  #giveUp(error: LogError): void {
    this.#dirty = new Set();
    this.#pendingBytes = 0;
    if (this.#failure !== undefined) this.#failure.outOfPatience = true;
    this.#reject(error, { all: true });
  }

  #losePatience(): void {
    if (this.#failure === undefined) return;
    this.#failure.outOfPatience = true;
    this.#reject(notDurableYet(this.#failure.error), { all: false });
  }

  #recover(): void {
    clearTimeout(this.#failure?.patience);
    this.#failure = undefined;
    clearTimeout(this.#retry);
    this.schedule();
    this.#onError(null);
  }
}
