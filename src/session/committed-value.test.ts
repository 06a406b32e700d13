import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { CommittedValue } from "./committed-value.ts";

test("[D1] only what is committed is shown, the newest of each commit", () => {
  const marks = { enqueuedMark: 1, committedMark: 0 };
  const value = new CommittedValue(marks, "a");
  value.set("b");
  value.set("c");
  expect(value.get()).toBe("a");
  marks.enqueuedMark = 2;
  value.set("d");
  marks.committedMark = 1;
  expect(value.get()).toBe("c");
  marks.committedMark = 2;
  expect(value.get()).toBe("d");
});

test("committed values are let go, also when nobody reads", async () => {
  const marks = { enqueuedMark: 0, committedMark: 0 };
  const value = new CommittedValue<object>(marks, {});
  const set: WeakRef<object>[] = [];
  for (let mark = 1; mark <= 100; mark++) {
    const one = {};
    set.push(new WeakRef(one));
    marks.enqueuedMark = mark;
    value.set(one);
    marks.committedMark = mark;
  }
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  // A target that was read in a tick is held until its end.
  await new Promise((done) => setImmediate(done));
  gc();
  // The one that is shown and the newest.
  expect(set.filter((one) => one.deref() !== undefined).length).toBeLessThanOrEqual(3);
  expect(value.get()).toBe(set.at(-1)?.deref());
});
