/** What a batch keeps in memory once its live subscribers were served: thousands of them wait for readers who may never come. */
import { expect, it } from "vitest";
import { EventBatch } from "./batch.ts";
import { pendingChunk, writtenOf } from "./event-chunk.ts";

const chunkOf = (first: number, text: string) => {
  const chunk = pendingChunk(first);
  chunk.events.add(JSON.stringify({ sequence: first, text }));
  chunk.types.add("x");
  chunk.natives.add(null);
  return { ...chunk, body: chunk.events.body() };
};

it("is its stored bytes and nothing beside them", () => {
  const chunk = chunkOf(1, "short");
  expect(chunk.body.buffer.byteLength).toBe(chunk.body.length);
  const long = chunkOf(2, "x".repeat(100_000));
  expect(long.body.buffer.byteLength).toBeLessThan(long.body.length * 1.2);
});

it("does not hold the texts that were written", async () => {
  const collect = await collector();
  const held: WeakRef<object>[] = [];
  const batches = Array.from({ length: 50 }, (_, index) => {
    const chunk = chunkOf(index + 1, `text ${index}`);
    held.push(new WeakRef(chunk.events));
    const batch = new EventBatch({ kind: "session", id: "ses_1" }, index + 1, index + 1, writtenOf(chunk));
    batch.settle();
    return batch;
  });
  await new Promise(setImmediate);
  collect();
  expect(held.filter((reference) => reference.deref() !== undefined).length).toBeLessThan(2);
  expect(batches[7]?.events).toEqual(['{"sequence":8,"text":"text 7"}']);
});

async function collector(): Promise<() => void> {
  const [{ setFlagsFromString }, { runInNewContext }] = await Promise.all([import("node:v8"), import("node:vm")]);
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}
