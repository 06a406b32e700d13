import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Log } from "./contract.ts";
import { copyLog, mustBeWhole } from "./copy.ts";
import { codeOfLater, numbers } from "./log.suite.ts";
import { openMemoryLog } from "./memory/log.ts";
import { openPostgresLog } from "./postgres/log.ts";
import { startPostgres, type TestPostgres, withoutPostgres } from "./postgres/test-postgres.ts";
import { openSqliteLog } from "./sqlite/log.ts";

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const closing = <L extends Log>(log: L): L => {
  cleanups.push(() => log.close().catch(() => undefined));
  return log;
};

async function sqlite(): Promise<Log> {
  const dataDir = mkdtempSync(join(tmpdir(), "dragoman-copy-"));
  cleanups.push(() => rmSync(dataDir, { recursive: true, force: true }));
  return closing(await openSqliteLog({ dataDir }));
}

async function fill(log: Log): Promise<void> {
  for (const n of numbers(1, 12)) {
    const created_at = 1_700_000_000_000 + n * 1000;
    const writer = await log.create(n % 4 === 0 ? "task" : "session", `s${n}`, `{"n":${n},"agent":"mock"}`, { created_at });
    for (const sequence of numbers(1, n * 100)) {
      const raw = Buffer.from(`\u0000 native ${sequence}\n`);
      const native = writer.appendNative({ dir: "out", t_ms: sequence, type: `t${sequence % 3}`, disposition: "mapped", raw });
      writer.append({
        text: JSON.stringify({ n, sequence, text: "é" }),
        sequence,
        type: "x",
        native,
        written_at: created_at + 500,
      });
    }
    if (n === 3) writer.setOpenSince(17);
    writer.documents.put("note", "a", `note of ${n}`);
    log.documents.put("snapshot", `s${n}/4096`, "{}");
    const about = { kind: "text", mime: "text/plain", name: `n${n}`, created_at };
    writer.artifacts.put(Buffer.from("shared by all"), about);
    writer.artifacts.put(Buffer.alloc(600_000, n), about);
  }
  log.documents.put("idempotency", "key", "reply", { expiresAt: Date.now() + 3_600_000 });
  await log.documents.committed();
}

/** All that readers can see of a log, but for its identity. */
async function contentOf(log: Log): Promise<unknown> {
  const rows = [...(await log.list("session")).streams, ...(await log.list("task")).streams];
  const streams = await Promise.all(
    rows.map(async (row) => {
      const stream = await log.stream(row.kind, row.id);
      return { row, events: await stream?.read({ limit: 5000 }), coverage: await stream?.coverage() };
    }),
  );
  const documents = await log.documents.dump({ limit: 1000 });
  const { artifacts } = await log.artifacts.list();
  const byName = artifacts.map((info) => ({ ...info, owners: info.owners.map(({ id }) => id).sort() }));
  return { streams, documents, artifacts: byName.sort((a, b) => (a.artifact_id < b.artifact_id ? -1 : 1)) };
}

const copy = (from: Log, to: Log) => copyLog({ from, to, notOfWriters: ["snapshot"] });

describe("a copy of a log", () => {
  it("is the same for its readers, in any engine", async () => {
    const [one, two] = [await sqlite(), await openMemoryLog()];
    await fill(one);
    expect(await copy(one, two)).toMatchObject({ streams: 12, events: 100 * 78, native_messages: 100 * 78, artifacts: 13 });
    expect(await contentOf(two)).toEqual(await contentOf(one));
    expect((await two.writer("session", "s1"))?.documents.list("note")).toEqual([{ id: "a", body: "note of 1" }]);
  });

  it("goes only into an empty log, and marks one that is not whole", async () => {
    const [one, two, three] = [await openMemoryLog(), await openMemoryLog(), await openMemoryLog()];
    await fill(one);
    await (await two.create("session", "own", "{}")).committed();
    expect(await codeOfLater(copy(one, two))).toBe("migration_failed");
    await three.documents.put("copy", "unfinished", "of another");
    expect(await codeOfLater(copy(one, three))).toBe("migration_failed");
    expect(await codeOfLater(mustBeWhole(three))).toBe("migration_failed");
  });
});

describe.skipIf(withoutPostgres())("a copy in Postgres", () => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  it("goes there and back, also when it is cut off twice on the way", async () => {
    const first = await sqlite();
    await fill(first);
    const tenant = randomUUID();
    const open = async (): Promise<Log> => closing(await openPostgresLog({ url: server.url, tenant, as: { holder: "test" } }));
    for (const streams of [3, 9]) {
      const target = await open();
      let left = streams;
      const cut = new Error("cut off");
      const onStream = (): void => {
        if (--left === 0) throw cut;
      };
      await expect(copyLog({ from: first, to: target, notOfWriters: ["snapshot"], onStream })).rejects.toBe(cut);
      await expect(mustBeWhole(target)).rejects.toThrow("has not ended");
      await target.close();
    }
    const there = await open();
    await copy(first, there);
    await mustBeWhole(there);
    expect(await contentOf(there)).toEqual(await contentOf(first));
    const back = await sqlite();
    await copy(there, back);
    expect(await contentOf(back)).toEqual(await contentOf(first));
  });
});
