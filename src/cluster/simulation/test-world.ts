/**
 * Virtual time and a virtual network for the simulation. One seed is one history: everything that happens is an event of one queue, and chance comes from the seed alone. After each
 * event all promises that can go on do so, before time passes.
 */

export const randomOf = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** A process: what it waits for is gone when it dies, and late when it is stopped. `cutUntil`: it does not reach the database. `skew`: what its clock is wrong by. */
export type Process = { life: number; stoppedUntil: number; cutUntil: number; skew: number };

const realImmediate = setImmediate;
const BREATH = 5_000;

type Event = { at: number; no: number; process: Process | null; life: number; run(): void };

/** A rule of the protocol was broken. */
export class Violation extends Error {}

/** The connection broke: the statement may have run, or may still run. */
export class Unknown extends Error {}

export class World {
  readonly random: () => number;
  now = 0;
  readonly #heap: Event[] = [];
  #no = 0;
  #downUntil = 0;
  #generation = 0;
  #fault: unknown;
  #turns = 0;
  /** The one whose code runs now. */
  current: Process | null = null;
  /** Nothing breaks any more by itself. */
  calm = false;
  /** Two processes that do not reach each other, until when. */
  cut: { between: readonly Process[]; until: number } = { between: [], until: 0 };

  constructor(seed: number) {
    this.random = randomOf(seed);
  }

  at(delay: number, process: Process | null, run: () => void, life = process?.life ?? 0): Event {
    const event = { at: this.now + Math.max(0, delay), no: this.#no++, process, life, run };
    this.#push(event);
    return event;
  }

  /** What a checker finds inside a promise ends the history too. */
  fail(fault: unknown): void {
    this.#fault ??= fault;
  }

  async run(until: number): Promise<void> {
    for (;;) {
      const next = this.#heap[0];
      if (next === undefined || next.at > until) break;
      this.#pop();
      this.now = next.at;
      if (next.process && next.process.life !== next.life) continue;
      if (next.process && next.process.stoppedUntil > this.now) {
        this.at(next.process.stoppedUntil - this.now, next.process, next.run);
        continue;
      }
      this.current = next.process;
      next.run();
      await this.#settled();
      this.current = null;
      if (this.#fault !== undefined) throw this.#fault;
    }
    this.now = until;
  }

  /** Everything that can go on without time passing has done so: all promises. Now and then others in this real process get a turn. */
  async #settled(): Promise<void> {
    await new Promise<void>((resolve) => process.nextTick(resolve));
    if (++this.#turns % BREATH === 0) await new Promise((resolve) => realImmediate(resolve));
  }

  isCut(one: Process, other: Process): boolean {
    return this.cut.until > this.now && this.cut.between.includes(one) && this.cut.between.includes(other);
  }

  /** The database is gone for a while; what it had answered stays. */
  crashDatabase(ms: number): void {
    this.#generation++;
    this.#downUntil = this.now + ms;
  }

  /** One statement of the database: it runs alone, all or nothing. Rejects with `Unknown` when the connection broke before, during or after it. */
  ask<T>(process: Process | null, statement: () => T | Promise<T>): Promise<T> {
    const { random } = this;
    const generation = this.#generation;
    const back = 1 + random() * 8;
    const breaks = !this.calm && random() < 0.01;
    const breaksBefore = random() < 0.5;
    // The connection may break while the statement is still on its way: the client knows nothing, and it runs all the same, later.
    const early = breaks && !breaksBefore && random() < 0.5;
    const slow = early || (!this.calm && random() < 0.02);
    const there = 1 + random() * 8 + (slow ? random() * 1_500 : 0);
    // An answer reaches only the process that asked.
    const life = process?.life ?? 0;
    return new Promise((resolve, reject) => {
      const unknown = (): void => reject(new Unknown());
      if (process && process.cutUntil > this.now) return void this.at(random() * 2_000, process, unknown, life);
      if (early) this.at(1 + random() * 20, process, unknown);
      this.at(there, null, () => {
        const down = this.#downUntil > this.now || this.#generation !== generation;
        if (early) return void (down || this.#run(statement));
        if (down || (breaks && breaksBefore)) return void this.at(back, process, unknown, life);
        const result = this.#run(statement);
        this.at(back, process, () => (breaks || this.#generation !== generation ? unknown() : resolve(result)), life);
      });
    });
  }

  /** From process to process. Lost when the other is dead; rejects then after a while, as a connection that times out. */
  hop<T>(from: Process | null, to: Process, run: () => Promise<T>): Promise<T> {
    const { random } = this;
    const life = from?.life ?? 0;
    return new Promise((resolve, reject) => {
      let settled = false;
      const lost = (!this.calm && random() < 0.01) || (from !== null && this.isCut(from, to));
      this.at(2_500, from, () => void (settled || reject(new Unknown())));
      if (lost && random() < 0.5) return;
      this.at(1 + random() * 10, to, () => {
        const back = (answer: () => void): void => {
          if (lost) return;
          settled = true;
          this.at(1 + random() * 10, from, answer, life);
        };
        run().then(
          (value) => back(() => resolve(value)),
          (error: unknown) => back(() => reject(error)),
        );
      });
    });
  }

  #run<T>(statement: () => T | Promise<T>): T | Promise<T> {
    try {
      const result = statement();
      if (result instanceof Promise) result.catch((error: unknown) => this.fail(error));
      return result;
    } catch (error) {
      this.fail(error);
      throw error;
    }
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let place = heap.push(event) - 1;
    for (;;) {
      const parent = (place - 1) >> 1;
      const [child, above] = [heap[place], heap[parent]];
      if (place === 0 || !child || !above || !isBefore(child, above)) return;
      heap[place] = above;
      heap[parent] = child;
      place = parent;
    }
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (heap.length === 0 || !last) return;
    heap[0] = last;
    for (let place = 0; ; ) {
      const [left, right] = [heap[2 * place + 1], heap[2 * place + 2]];
      const least = right && left && isBefore(right, left) ? 2 * place + 2 : 2 * place + 1;
      const [below, here] = [heap[least], heap[place]];
      if (!below || !here || !isBefore(below, here)) return;
      heap[place] = below;
      heap[least] = here;
      place = least;
    }
  }
}

const isBefore = (one: Event, other: Event): boolean => one.at < other.at || (one.at === other.at && one.no < other.no);
