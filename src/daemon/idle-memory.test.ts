import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { collectGarbage, restWatch, workedShare } from "./idle-memory.ts";

it("collects twice when the process rests, and again when it has worked since, but not while it works and not for ever", () => {
  const rested = restWatch();
  const looks = (...shares: number[]): boolean[] => shares.map(rested);
  expect(looks(0.5, 0, 0.01, 0, 0)).toEqual([false, true, true, false, false]);
  // Between busy and quiet nothing is done, and nothing is forgotten.
  expect(looks(1, 0.03, 0, 0.03, 0, 0)).toEqual([false, false, true, false, true, false]);
});

it("knows work from the time that passes", async () => {
  const worked = workedShare();
  for (const until = performance.now() + 50; performance.now() < until; ) await setImmediate();
  expect(worked()).toBeGreaterThan(0.5);
});

it("frees what nobody holds any more, at once", async () => {
  const left = new WeakRef({ text: "nobody holds it" });
  // What was just made is held until the next turn of the event loop.
  await setImmediate();
  collectGarbage();
  expect(left.deref()).toBeUndefined();
});
