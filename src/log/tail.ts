/**
 * Live tail: subscribers that have everything get each new batch; the others read the log, one page a turn, until they have caught up. Nothing is ever
 * buffered for a subscriber. Positions are numbers that grow (`bigint` where an engine needs more digits); what they mean is the source's business.
 */
import type { SubscribeOptions, Subscription } from "./contract.ts";
import { LogError } from "./log-error.ts";

export type Position = number | bigint;

/** Where a tail reads from. `from` and `to` number the first and the last event of a batch. */
export interface Source<B, P extends Position = number> {
  /** The last position that is committed. */
  end(): P;
  /** The next batch behind a position, undefined when there is none. A promise where reading takes time: the others go on meanwhile. */
  next(after: P): B | undefined | Promise<B | undefined>;
  from(batch: B): P;
  to(batch: B): P;
}

type State = Subscription["state"];

export class Tail<B, P extends Position = number> {
  readonly #source: Source<B, P>;
  readonly #pump: Pump;
  readonly #onThrow: (error: unknown) => void;
  #live: Subscriber<B, P>[] = [];
  readonly #all = new Set<Subscriber<B, P>>();

  constructor(source: Source<B, P>, pump: Pump, onThrow: (error: unknown) => void) {
    this.#source = source;
    this.#pump = pump;
    this.#onThrow = onThrow;
  }

  get size(): number {
    return this.#all.size;
  }

  get hasLive(): boolean {
    return this.#live.length > 0;
  }

  subscribe(after: P, options: SubscribeOptions<B>): Subscription {
    const subscriber = new Subscriber(this, after, options);
    this.#all.add(subscriber);
    this.#pump.add(subscriber);
    return subscriber;
  }

  /** A committed batch, in order. Who already has it from the log skips it. */
  publish(batch: B): void {
    const from = this.#source.from(batch);
    const to = this.#source.to(batch);
    const live = this.#live;
    this.#live = [];
    for (const subscriber of live) {
      if (subscriber.state !== "live") continue;
      if (to <= subscriber.position) this.#live.push(subscriber);
      else if (from <= subscriber.position) this.catchUp(subscriber);
      else if (this.#deliver(subscriber, batch)) this.#live.push(subscriber);
    }
  }

  /** There is more than was published here: those who follow live read the log. */
  wake(): void {
    const live = this.#live;
    this.#live = [];
    for (const subscriber of live) if (subscriber.state === "live") this.catchUp(subscriber);
  }

  catchUp(subscriber: Subscriber<B, P>): void {
    subscriber.state = "catching_up";
    this.#pump.add(subscriber);
  }

  /** One page from the log. True when it wants another turn. */
  step(subscriber: Subscriber<B, P>): boolean {
    if (subscriber.state !== "catching_up") return false;
    if (subscriber.position < this.#source.end()) {
      const batch = this.#read(subscriber);
      if (batch instanceof Promise) {
        void batch.then((read) => {
          if (subscriber.state === "catching_up" && this.#took(subscriber, read)) this.#pump.add(subscriber);
        });
        return false;
      }
      return this.#took(subscriber, batch);
    }
    this.#follow(subscriber);
    return false;
  }

  /** True when it wants another turn. */
  #took(subscriber: Subscriber<B, P>, batch: B | undefined): boolean {
    if (batch !== undefined) return this.#deliver(subscriber, batch);
    if (subscriber.state === "catching_up") this.#follow(subscriber);
    return false;
  }

  #follow(subscriber: Subscriber<B, P>): void {
    subscriber.state = "live";
    this.#live.push(subscriber);
    this.#guard(subscriber, () => subscriber.options.onLive?.());
  }

  remove(subscriber: Subscriber<B, P>): void {
    this.#all.delete(subscriber);
    if (this.#live.includes(subscriber)) this.#live = this.#live.filter((other) => other !== subscriber);
  }

  end(reason: "deleted" | "closed"): void {
    for (const subscriber of [...this.#all]) this.#finish(subscriber, reason);
  }

  #read(subscriber: Subscriber<B, P>): B | undefined | Promise<B | undefined> {
    const failed = (error: unknown): undefined => void fail(error);
    const fail = (error: unknown): void => {
      // It was told of its end while it read.
      if (!this.#all.has(subscriber)) return;
      if (error instanceof LogError && error.code === "stream_deleted") return this.#finish(subscriber, "deleted");
      this.#onThrow(error);
      this.#finish(subscriber, "failed", error);
    };
    try {
      const read = this.#source.next(subscriber.position);
      return read instanceof Promise ? read.catch(failed) : read;
    } catch (error) {
      return failed(error);
    }
  }

  #finish(subscriber: Subscriber<B, P>, reason: "deleted" | "closed" | "failed", error?: unknown): void {
    subscriber.close();
    this.#guard(subscriber, () => subscriber.options.onEnd?.(reason, error));
  }

  /** True when it goes on as it is. */
  #deliver(subscriber: Subscriber<B, P>, batch: B): boolean {
    const state = subscriber.state;
    subscriber.position = this.#source.to(batch);
    let answer: unknown;
    this.#guard(subscriber, () => {
      answer = subscriber.options.onBatch(batch);
    });
    if (answer === false && subscriber.state === state) subscriber.state = "stopped";
    return subscriber.state === state;
  }

  #guard(subscriber: Subscriber<B, P>, call: () => void): void {
    try {
      call();
    } catch (error) {
      subscriber.close();
      this.#onThrow(error);
    }
  }
}

class Subscriber<B, P extends Position> implements Subscription {
  readonly options: SubscribeOptions<B>;
  /** The last event it was given. */
  position: P;
  state: State = "catching_up";
  readonly #tail: Tail<B, P>;

  constructor(tail: Tail<B, P>, after: P, options: SubscribeOptions<B>) {
    this.#tail = tail;
    this.position = after;
    this.options = options;
  }

  resume(): void {
    if (this.state === "stopped") this.#tail.catchUp(this);
  }

  close(): void {
    if (this.state === "closed") return;
    this.state = "closed";
    this.#tail.remove(this);
  }

  step(): boolean {
    return this.#tail.step(this);
  }
}

/** Milliseconds of reading the log in one turn of the event loop, so that a thousand replays do not hold up the live ones. */
const TURN_MS = 8;

/** Gives all who are catching up their turns, in rotation. */
export class Pump {
  #waiting = new Set<{ step(): boolean }>();
  #scheduled: NodeJS.Immediate | undefined;

  add(subscriber: { step(): boolean }): void {
    this.#waiting.add(subscriber);
    this.#scheduled ??= setImmediate(() => this.#turn());
  }

  stop(): void {
    if (this.#scheduled !== undefined) clearImmediate(this.#scheduled);
    this.#waiting.clear();
  }

  #turn(): void {
    this.#scheduled = undefined;
    const until = performance.now() + TURN_MS;
    const again: { step(): boolean }[] = [];
    for (const subscriber of this.#waiting) {
      this.#waiting.delete(subscriber);
      if (subscriber.step()) again.push(subscriber);
      if (performance.now() > until) break;
    }
    for (const subscriber of again) this.#waiting.add(subscriber);
    if (this.#waiting.size > 0) this.#scheduled ??= setImmediate(() => this.#turn());
  }
}
