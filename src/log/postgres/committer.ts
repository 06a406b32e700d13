/**
 * Group commit with one commit in flight: what is enqueued meanwhile is the next one. With many that write, those that nobody waits for stay for a later one. A commit is one statement; when its
 * answer is lost, the log is asked whether it was done before it is sent again. Nothing is shown before its commit was answered. It knows writers and sets, not what is in them.
 */
import type { LogHealth, LogStats } from "../contract.ts";
import { Distributed } from "../distribution.ts";
import { closedError } from "../entry-errors.ts";
import { LogError, notDurableYet } from "../log-error.ts";
import { rejected, type Waiter, waiter } from "../waiter.ts";
import { type Attempt, Outcome } from "./attempt.ts";
import { WriteSet } from "./write-set.ts";

export interface Enlisted {
  /** Moves what waits into the set. From now on it is in flight, and what comes is the next. */
  take(set: WriteSet): void;
  /** What was taken is committed, in the transaction with this number. */
  settle(xid: bigint): void;
  /** How many follow what it writes. */
  readonly followers: number;
  /** It goes with every commit: what others write may name what it holds. */
  readonly isShared: boolean;
}

type CommitterOptions = {
  attempt: Attempt;
  /** After each commit: hands on what was settled. */
  publish(): void;
  onError(error: LogError | null): void;
  maxPendingBytes: number;
};

const RETRY_MIN_MS = 50;
const RETRY_MAX_MS = 500;
/** How long a bounded `committed()` waits for a log that cannot write. Commands are answered within about a second. */
const PATIENCE_MS = 800;
/** Agents are paused when more than this part of what may wait does. */
const PRESSURE_PART = 1 / 4;
/** More than the usual limit may wait for a database that is slow but works: its answer is on the way. */
const SLOW_FACTOR = 4;

/** When more than so many wait, those that nobody waits for stay for so long, and longer when nobody follows them: one commit of much costs less than many of little. */
const MANY = 50;
const LINGER_MS = 50;
const UNWATCHED_LINGER_MS = 250;
const ENOUGH_BYTES = 1024 * 1024;

/** What one of them has that is not on its way yet. `since`: by the clock of `performance`. */
type Waiting = { bytes: number; since: number };

type Failure = {
  error: LogError;
  since: number;
  retryMs: number;
  patience: NodeJS.Timeout;
  outOfPatience: boolean;
  final: boolean;
};
/** Callers that wait a bounded time, and those that wait as long as it takes. */
type Waiters = { bounded: Waiter | undefined; long: Waiter | undefined };

export class Committer {
  readonly #options: CommitterOptions;
  /** Who wrote, in the order of `since`. */
  #dirty = new Map<Enlisted, Waiting>();
  /** Those of them that go with the next commit, and whether all do. */
  #hurried = new Set<Enlisted>();
  #allHurried = false;
  #pendingBytes = 0;
  #inFlightBytes = 0;
  #waiting: Waiters = { bounded: undefined, long: undefined };
  #inFlight: Waiters | undefined;
  #running: Promise<void> | undefined;
  #scheduled: NodeJS.Immediate | undefined;
  #lingering: { until: number; timer: NodeJS.Timeout } | undefined;
  /** Ends the pause before the next attempt. */
  #wake: (() => void) | undefined;
  #failure: Failure | undefined;
  readonly #pressureListeners = new Set<(paused: boolean) => void>();
  #pressed = false;
  #closed = false;
  #commits = 0;
  #failedCommits = 0;
  readonly #seconds = new Distributed([0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]);
  readonly #rows = new Distributed([1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000]);

  constructor(options: CommitterOptions) {
    this.#options = options;
  }

  get commits(): number {
    return this.#commits;
  }

  get counts(): Pick<LogStats, "commits" | "failed_commits" | "pending_bytes" | "server"> {
    const { lost: ambiguous } = this.#options.attempt;
    const server = { commit_seconds: this.#seconds, commit_rows: this.#rows, ambiguous };
    return { commits: this.#commits, failed_commits: this.#failedCommits, pending_bytes: this.#bytes, server };
  }

  get #bytes(): number {
    return this.#pendingBytes + this.#inFlightBytes;
  }

  /** Call before anything is changed: throws when nothing can be taken. */
  admit(): void {
    if (this.#closed) throw closedError();
    if (this.#failure?.final) throw this.#failure.error;
    const most = this.#options.maxPendingBytes;
    if (this.#bytes <= most) return;
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#bytes <= most * SLOW_FACTOR) return;
    throw new LogError("disk_full", "The database takes less than agents write, and too much waits for it. Try again later.");
  }

  enlist(writer: Enlisted, bytes: number, sync: boolean | undefined): void {
    this.#pendingBytes += bytes;
    if (sync === true) this.#hurried.add(writer);
    const waiting = this.#dirty.get(writer);
    if (waiting === undefined) this.#dirty.set(writer, { bytes, since: performance.now() });
    else waiting.bytes += bytes;
    if (!this.#pressed) this.#reportPressure();
    this.#schedule(waiting === undefined ? writer : undefined);
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

  /** Everything enqueued so far; of these alone, if they are named. */
  committed(bounded: boolean, of?: readonly Enlisted[]): Promise<void> {
    if (this.#failure?.final) return rejected(this.#failure.error);
    const pending = of === undefined ? this.#dirty.size > 0 : of.some((writer) => this.#dirty.has(writer));
    const waiters = pending ? this.#waiting : this.#inFlight;
    if (waiters === undefined) return Promise.resolve();
    if (this.#closed) return rejected(closedError());
    if (bounded && this.#failure?.outOfPatience) return rejected(notDurableYet(this.#failure.error));
    const name = bounded ? "bounded" : "long";
    waiters[name] ??= waiter();
    if (pending) {
      if (of === undefined) this.#allHurried = true;
      else for (const writer of of) if (this.#dirty.has(writer)) this.#hurried.add(writer);
      this.#schedule();
    }
    return waiters[name]?.promise ?? Promise.resolve();
  }

  /** Somebody else found out that the log is another's. */
  fence(error: LogError): void {
    if (this.#closed || this.#failure?.final) return;
    this.#fail(error);
    this.#wake?.();
  }

  health(): Omit<Extract<LogHealth, { state: "ok" }>, "damage"> | Omit<Extract<LogHealth, { state: "failing" }>, "damage"> {
    const pending_bytes = this.#bytes;
    if (this.#failure === undefined) return { state: "ok", pending_bytes };
    const { error, since } = this.#failure;
    return { state: "failing", code: error.code, message: error.message, since, pending_bytes };
  }

  /** After the last `committed()`. Returns the error when something is left that could not be written. */
  async close(): Promise<LogError | undefined> {
    this.#closed = true;
    if (this.#scheduled !== undefined) clearImmediate(this.#scheduled);
    clearTimeout(this.#lingering?.timer);
    clearTimeout(this.#failure?.patience);
    this.#wake?.();
    await this.#running;
    const error = new LogError("log_closed", "The log was closed before this could be committed.");
    this.#reject(this.#waiting, error, true);
    return this.#failure?.error;
  }

  /** `fresh`: had nothing until now. */
  #schedule(fresh?: Enlisted): void {
    if (this.#running !== undefined || this.#closed || this.#failure?.final) return;
    if (this.#lingering !== undefined) {
      const sooner = fresh !== undefined && performance.now() + lingerOf(fresh) < this.#lingering.until;
      if (!this.#urgent && !sooner) return;
      clearTimeout(this.#lingering.timer);
      this.#lingering = undefined;
    }
    this.#scheduled ??= setImmediate(() => {
      this.#scheduled = undefined;
      this.#tick();
    });
  }

  /** Begins a commit, or waits until it is time for one. */
  #tick(): void {
    if (this.#running !== undefined || this.#dirty.size === 0 || this.#closed) return;
    const now = performance.now();
    const until = this.#urgent ? now : this.#next();
    if (until > now) {
      const timer = setTimeout(
        () => {
          this.#lingering = undefined;
          this.#tick();
        },
        Math.ceil(until - now),
      );
      this.#lingering = { until, timer };
      return;
    }
    this.#running = this.#run(this.#due(now)).finally(() => {
      this.#running = undefined;
      if (this.#dirty.size > 0) this.#schedule();
    });
  }

  /** Somebody waits for some of what is pending, or it is a command, or much. */
  get #urgent(): boolean {
    return this.#hurried.size > 0 || this.#allHurried || this.#pendingBytes > ENOUGH_BYTES;
  }

  /** When the first of those that wait have waited long enough. */
  #next(): number {
    if (this.#dirty.size <= MANY) return 0;
    const [watched, unwatched] = this.#oldest();
    return Math.min(watched + LINGER_MS, unwatched + UNWATCHED_LINGER_MS);
  }

  /** Since when the oldest of those that somebody follows waits, and the oldest of the others. */
  #oldest(): [number, number] {
    let [watched, unwatched] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (const [writer, { since }] of this.#dirty) {
      if (writer.followers > 0) watched = Math.min(watched, since);
      else unwatched = Math.min(unwatched, since);
      if (watched < Number.POSITIVE_INFINITY && unwatched < Number.POSITIVE_INFINITY) break;
    }
    return [watched, unwatched];
  }

  /** Who goes with the commit that begins now: when it is time for one, it is for all that are followed as it is, or for all. */
  #due(now: number): Enlisted[] {
    const all = [...this.#dirty.keys()];
    if (all.length <= MANY || this.#allHurried || this.#pendingBytes > ENOUGH_BYTES) return all;
    const [watched, unwatched] = this.#oldest();
    if (unwatched + UNWATCHED_LINGER_MS <= now) return all;
    const withWatched = watched + LINGER_MS <= now;
    return all.filter((writer) => writer.isShared || this.#hurried.has(writer) || (withWatched && writer.followers > 0));
  }

  async #run(writers: readonly Enlisted[]): Promise<void> {
    const [waiters, set] = [this.#waiting, new WriteSet()];
    for (const writer of writers) {
      this.#inFlightBytes += this.#dirty.get(writer)?.bytes ?? 0;
      this.#dirty.delete(writer);
      writer.take(set);
    }
    this.#pendingBytes -= this.#inFlightBytes;
    this.#waiting = { bounded: undefined, long: undefined };
    this.#inFlight = waiters;
    this.#hurried = new Set();
    this.#allHurried = false;
    const [began, rows] = [performance.now(), set.rows];
    const xid = await this.#commit(set);
    this.#inFlight = undefined;
    this.#inFlightBytes = 0;
    if (xid === undefined) {
      this.#reject(waiters, this.#failure?.final ? this.#failure.error : closedError(), true);
      return;
    }
    this.#commits++;
    this.#seconds.add((performance.now() - began) / 1000);
    this.#rows.add(rows);
    for (const writer of writers) writer.settle(xid);
    waiters.bounded?.resolve();
    waiters.long?.resolve();
    if (this.#failure !== undefined) this.#recover();
    if (this.#pressed) this.#reportPressure();
    this.#options.publish();
  }

  /** Tries until it is done. Undefined: it will never be, because the log was closed or belongs to another. */
  async #commit(set: WriteSet): Promise<bigint | undefined> {
    const outcome = new Outcome(set);
    for (;;) {
      try {
        return await this.#options.attempt.run(outcome);
      } catch (error) {
        this.#fail(error instanceof LogError ? error : new LogError("write_failed", String(error), {}, error));
      }
      if (this.#closed || this.#failure?.final) return undefined;
      await this.#pause(this.#failure?.retryMs ?? RETRY_MIN_MS);
      if (this.#closed) return undefined;
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #fail(error: LogError): void {
    const before = this.#failure;
    this.#failedCommits++;
    this.#failure = {
      error,
      since: before?.since ?? Date.now(),
      retryMs: before === undefined ? RETRY_MIN_MS : Math.min(before.retryMs * 2, RETRY_MAX_MS),
      patience: before?.patience ?? setTimeout(() => this.#losePatience(), PATIENCE_MS),
      outOfPatience: before?.outOfPatience ?? false,
      final: error.code === "fenced",
    };
    this.#reportPressure();
    if (this.#failure.final) this.#giveUp(error);
    if (before?.error.code !== error.code) this.#options.onError(error);
  }

  /** What was not committed is dropped: it belongs to a history that ended before it. */
  #giveUp(error: LogError): void {
    clearTimeout(this.#failure?.patience);
    this.#dirty = new Map();
    this.#pendingBytes = 0;
    this.#reject(this.#waiting, error, true);
  }

  #losePatience(): void {
    if (this.#failure === undefined) return;
    this.#failure.outOfPatience = true;
    const error = notDurableYet(this.#failure.error);
    this.#reject(this.#waiting, error, false);
    if (this.#inFlight !== undefined) this.#reject(this.#inFlight, error, false);
  }

  #recover(): void {
    clearTimeout(this.#failure?.patience);
    this.#failure = undefined;
    this.#reportPressure();
    this.#options.onError(null);
  }

  #reject(waiters: Waiters, error: LogError, all: boolean): void {
    waiters.bounded?.reject(error);
    waiters.bounded = undefined;
    if (!all) return;
    waiters.long?.reject(error);
    waiters.long = undefined;
  }

  #reportPressure(): void {
    const pressed = this.#failure !== undefined || this.#bytes > this.#options.maxPendingBytes * PRESSURE_PART;
    if (pressed === this.#pressed) return;
    this.#pressed = pressed;
    for (const listener of this.#pressureListeners) {
      try {
        listener(pressed);
      } catch (error) {
        this.#options.onError(new LogError("write_failed", `Reporting pressure: ${String(error)}`, {}, error));
      }
    }
  }
}

const lingerOf = ({ followers }: Enlisted): number => (followers > 0 ? LINGER_MS : UNWATCHED_LINGER_MS);
