import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ByteRing } from "./byte-ring.ts";
import { OutputStore } from "./output-store.ts";

let dir: string;
let count = 0;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "task-output-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const newPath = (): string => join(dir, `out-${++count}`);

/** Bytes of which no two neighbouring pieces look alike. */
const pattern = (length: number, from = 0): Buffer =>
  Buffer.from(Array.from({ length }, (_, i) => ((from + i) * 31 + ((from + i) >> 8)) & 0xff));

async function readAll(store: OutputStore, piece = 1_000): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let at = 0; at < store.total; ) {
    const { offset, bytes } = await store.read(at, piece);
    expect(offset).toBe(at);
    expect(bytes.length).toBeGreaterThan(0);
    parts.push(bytes);
    at += bytes.length;
  }
  return Buffer.concat(parts);
}

describe("ByteRing", () => {
  it("holds the newest bytes, however they come", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 64 }), fc.array(fc.nat({ max: 150 }), { maxLength: 30 }), (capacity, lengths) => {
        const ring = new ByteRing(capacity);
        let all = Buffer.alloc(0);
        for (const length of lengths) {
          const bytes = pattern(length, all.length);
          all = Buffer.concat([all, bytes]);
          ring.push(bytes);
          expect(ring.total).toBe(all.length);
          expect(ring.total - ring.start).toBe(Math.min(all.length, capacity));
          expect(ring.copy(ring.start, ring.total)).toEqual(all.subarray(ring.start));
        }
      }),
    );
  });

  it("grows beyond its first size without losing anything", () => {
    const ring = new ByteRing(100_000);
    for (let at = 0; at < 150_000; at += 777) ring.push(pattern(777, at));
    expect(ring.copy(ring.start, ring.total)).toEqual(pattern(100_000, ring.start));
  });
});

describe("OutputStore", () => {
  const limits = { memory_bytes: 4_096, file_bytes: 20_000 };

  it("keeps a short output in memory and makes no file", async () => {
    const path = newPath();
    const store = new OutputStore(limits, path);
    expect(store.append(pattern(4_000))).toBeNull();
    expect(await readAll(store)).toEqual(pattern(4_000));
    await store.end();
    expect(existsSync(path)).toBe(false);
    expect(store.path).toBeNull();
  });

  it("reads any range of a longer one, while it is written and after", async () => {
    const path = newPath();
    const store = new OutputStore(limits, path);
    for (let at = 0; at < 15_000; at += 500) void store.append(pattern(500, at));
    expect(await readAll(store)).toEqual(pattern(15_000));
    await store.end();
    expect(await readAll(store, 333)).toEqual(pattern(15_000));
    expect((await store.read(14_990, 100)).bytes).toEqual(pattern(10, 14_990));
    expect(store.kept()).toEqual([{ from: 0, to: 15_000 }]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await store.remove();
    expect(existsSync(path)).toBe(false);
  });

  it("keeps the first and the newest of a flood, and says what is missing", async () => {
    const store = new OutputStore(limits, newPath());
    for (let at = 0; at < 60_000; at += 1_000) await store.append(pattern(1_000, at));
    await store.end();
    expect(store.total).toBe(60_000);
    expect(store.kept()).toEqual([
      { from: 0, to: 20_000 },
      { from: 60_000 - 4_096, to: 60_000 },
    ]);
    expect(await store.read(19_990, 100)).toEqual({ offset: 19_990, bytes: pattern(10, 19_990), total: 60_000 });
    expect(await store.read(30_000, 10)).toEqual({ offset: 55_904, bytes: pattern(10, 55_904), total: 60_000 });
    await store.remove();
  });

  it("a range beyond the end is empty, at the end", async () => {
    const store = new OutputStore(limits, null);
    store.append(pattern(10));
    expect(await store.read(99, 5)).toEqual({ offset: 10, bytes: Buffer.alloc(0), total: 10 });
    expect(await store.read(-5, 2)).toEqual({ offset: 0, bytes: pattern(2), total: 10 });
  });

  it("without a file it keeps the newest bytes", async () => {
    const store = new OutputStore(limits, null);
    for (let at = 0; at < 10_000; at += 100) expect(store.append(pattern(100, at))).toBeNull();
    await store.end();
    expect(await store.read(0, 4)).toEqual({ offset: 5_904, bytes: pattern(4, 5_904), total: 10_000 });
  });

  it("a file that cannot be written is a fault, not an end; what exists is never overwritten", async () => {
    const target = newPath();
    writeFileSync(target, "precious");
    const link = newPath();
    symlinkSync(target, link);
    for (const path of [target, link, join(dir, "none", "x")]) {
      const store = new OutputStore(limits, path);
      for (let at = 0; at < 10_000; at += 100) await store.append(pattern(100, at));
      await store.end();
      expect(store.fault).toBeInstanceOf(Error);
      expect(store.path).toBeNull();
      expect((await store.read(0, 4)).offset).toBe(5_904);
      await store.remove();
    }
    expect(statSync(target).size).toBe(8);
  });
});
