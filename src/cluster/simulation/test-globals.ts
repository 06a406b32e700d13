/**
 * Time as the daemon's code has it, from a virtual world: timers, clock and chance of everything that runs belong to the process whose turn it is. What the collector of garbage would let go of is kept,
 * because nobody knows when it comes. Returns the function that gives the real ones back.
 */
import type { World } from "./test-world.ts";

const NAMES = [
  "setTimeout",
  "setInterval",
  "setImmediate",
  "clearTimeout",
  "clearInterval",
  "clearImmediate",
  "WeakRef",
  "FinalizationRegistry",
] as const;
const EPOCH = Date.UTC(2026, 0, 1);

class Timer {
  cancelled = false;
  unref(): this {
    return this;
  }
  ref(): this {
    return this;
  }
}

export function enterWorld(world: World): () => void {
  const real = Object.fromEntries(NAMES.map((name) => [name, globalThis[name]]));
  const [now, performanceNow, random] = [Date.now, performance.now, Math.random];
  const later = (ms: number, run: () => void): Timer => {
    const timer = new Timer();
    world.at(ms, world.current, () => void (timer.cancelled || run()));
    return timer;
  };
  const every = (run: () => void, ms: number): Timer => {
    const timer = new Timer();
    const process = world.current;
    const round = (): void => {
      if (timer.cancelled) return;
      run();
      world.at(ms, process, round);
    };
    world.at(ms, process, round);
    return timer;
  };
  const clear = (timer: Timer | undefined): void => {
    if (timer) timer.cancelled = true;
  };
  Object.assign(globalThis, {
    setTimeout: (run: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) => later(ms, () => run(...given)),
    setImmediate: (run: (...given: unknown[]) => void, ...given: unknown[]) => later(0, () => run(...given)),
    setInterval: every,
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate: clear,
    WeakRef: class<T> {
      constructor(readonly target: T) {}
      deref(): T {
        return this.target;
      }
    },
    FinalizationRegistry: class {
      register(): void {}
    },
  });
  Date.now = () => EPOCH + Math.floor(world.now + (world.current?.skew ?? 0));
  performance.now = () => world.now;
  Math.random = world.random;
  return () => {
    Object.assign(globalThis, real);
    Date.now = now;
    performance.now = performanceNow;
    Math.random = random;
  };
}
