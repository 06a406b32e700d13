import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { appendMany, logContract, numbers } from "../log.suite.ts";
import { openDatabase } from "./driver.ts";
import { type Log, openSqliteLog } from "./log.ts";

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function dataDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "dragoman-log-"));
  cleanups.push(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

async function open(dir: string): Promise<Log> {
  const log = await openSqliteLog({ dataDir: dir });
  cleanups.push(() => log.close());
  return log;
}

describe("the SQLite log", () => {
  logContract(async () => {
    const dir = dataDir();
    const log = await open(dir);
    return {
      log,
      reopen: async () => {
        await log.close();
        return open(dir);
      },
    };
  });

  it("keeps everything private to its owner", async () => {
    const dir = dataDir();
    const log = await open(dir);
    const stream = await log.create("session", "ses_1", "{}");
    stream.artifacts.put(Buffer.from("x"), { kind: "image", mime: "image/png" });
    appendMany(stream, 1);
    await log.documents.committed();
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
      const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777;
      expect([entry.name, mode]).toEqual([entry.name, entry.isDirectory() ? 0o700 : 0o600]);
    }
  });

  it("lists documents behind any place, also one before those with the prefix", async () => {
    const { documents } = await open(dataDir());
    for (const id of ["a", "ses_1/1", "ses_1/2", "ses_2/1"]) documents.put("queue", id, "{}");
    const listed = async (after: string) => (await documents.list("queue", { prefix: "ses_1/", after })).map(({ id }) => id);
    for (const committed of [false, true]) {
      if (committed) await documents.committed();
      expect(await Promise.all(["", "a", "ses_1/1", "ses_1/2", "ses_2/1"].map(listed))).toEqual([
        ["ses_1/1", "ses_1/2"],
        ["ses_1/1", "ses_1/2"],
        ["ses_1/2"],
        [],
        [],
      ]);
    }
  });

  it("removes the rows of a deleted stream, also when a stop comes in between", async () => {
    const dir = dataDir();
    const first = await open(dir);
    const stream = await first.create("session", "ses_1", "{}");
    for (const _ of numbers(1, 300)) {
      appendMany(stream, 1);
      await stream.committed();
    }
    expect(await first.delete("session", "ses_1")).toBe(true);
    await first.close();
    const left = await rowsIn(dir);
    expect(left).toMatchObject({ streams: 1 });
    expect(left.chunks).toBeGreaterThan(0);
    const second = await open(dir);
    for (let tick = 0; tick < 10; tick++) {
      await second.documents.committed();
      await new Promise(setImmediate);
    }
    await second.close();
    expect(await rowsIn(dir)).toEqual({ streams: 0, chunks: 0 });
  });
});

async function rowsIn(dir: string): Promise<Record<string, unknown>> {
  const db = await openDatabase(join(dir, "dragoman.db"));
  const row = db.prepare("SELECT (SELECT count(*) FROM streams) AS streams, (SELECT count(*) FROM event_chunks) AS chunks").get();
  db.close();
  return { ...row };
}
