import { constants, PerformanceObserver, performance } from "node:perf_hooks";
import { afterEach, expect, it } from "vitest";
import { giveMemoryBack } from "./idle-memory.ts";

const LOOK_MS = 300;
// To ask is work as well.
const RARELY = { interval: 1_000 };
let forced = 0;
const observer = new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    // Types of the browser know no detail.
    const { kind, flags } = (entry as unknown as { detail: { kind: number; flags: number } }).detail;
    const asked = (flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) !== 0;
    if (kind === constants.NODE_PERFORMANCE_GC_MAJOR && asked) forced++;
  }
});
observer.observe({ entryTypes: ["gc"] });

let end: (() => void) | undefined;
afterEach(() => end?.());

const looks = (count: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, count * LOOK_MS));

/** Keeps the event loop busy for so many looks. */
async function work(count: number): Promise<void> {
  const until = performance.now() + count * LOOK_MS;
  while (performance.now() < until) await new Promise<void>((resolve) => void setImmediate(resolve));
}

it("collects garbage when the process rests, and again when it has worked since, but not while it works and not for ever", async () => {
  let garbage: unknown[] = Array.from({ length: 200_000 }, (_, i) => ({ i, text: `text ${i}` }));
  // Grown old: only a whole collection takes it.
  await work(1);
  expect(garbage.length).toBe(200_000);
  const before = process.memoryUsage().heapUsed;
  garbage = [];
  end = giveMemoryBack(LOOK_MS);
  await expect.poll(() => forced, RARELY).toBe(2);
  expect(process.memoryUsage().heapUsed).toBeLessThan(before - 10_000_000);
  await looks(6);
  expect(forced).toBe(2);
  await work(4);
  expect(forced).toBe(2);
  await expect.poll(() => forced, RARELY).toBe(4);
});
