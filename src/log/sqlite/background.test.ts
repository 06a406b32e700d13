/** The background work in its thread, as it is built; what the thread's death costs; and that the WAL begins anew while the log is written. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { builtFile } from "../../package-root.ts";
import { codeOfLater } from "../log.suite.ts";
import { type Background, openBackground } from "./background.ts";
import { backgroundWork } from "./background-work.ts";
import { type Database, openDatabase } from "./driver.ts";
import { DATABASE_FILE } from "./refusal.ts";
import { Wal } from "./wal.ts";

const BUILT = builtFile("log/sqlite/background-thread.js");
/** Fails at the first thing it is asked. */
const MORTAL = new URL(
  "data:text/javascript,import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => { throw new Error('gone') })",
);

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "dragoman-background-"));
  cleanups.push(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

function background(dataDir: string, program: URL | null): Background {
  const opened = openBackground({ dataDir, logId: "log-1" }, program);
  cleanups.push(() => opened.work.close());
  return opened;
}

async function database(dataDir: string): Promise<Database> {
  const db = await openDatabase(join(dataDir, DATABASE_FILE));
  cleanups.push(() => db.close());
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE TABLE bytes (body BLOB)");
  return db;
}

const ENTRY = { kind: "session", stream_id: "ses_1", sequence: 3, item_id: "itm_1", sort: "user", at: 5 } as const;
const STREAM = { kind: "session", stream_id: "ses_1", agent: "mock", directory: "/work", title: null } as const;

it("finds in its thread what it was given there, also with an index that another thread has made", async () => {
  const dataDir = tempDir();
  const { work, threaded } = background(dataDir, BUILT);
  expect(threaded).toBe(true);
  const entries = [{ ...ENTRY, text: "eine größere Änderung" }];
  await work.put({ streams: [STREAM], entries, removed: [] }, "7.1");
  const page = await work.find({ query: "größere" });
  expect(page.hits).toEqual([{ ...entries[0], agent: "mock", directory: "/work", title: null }]);
  await work.close();
  const again = background(dataDir, BUILT).work;
  expect([await again.cursor(), await again.streamsBehind(0)]).toEqual(["7.1", [{ no: 1, kind: "session", id: "ses_1" }]]);
  await again.forget({ kind: "session", id: "ses_1" });
  expect(await again.streamsBehind(0)).toEqual([]);
});

it("fails what a thread was asked that died, goes on with another, and refuses everything once it is closed", async () => {
  const { work } = background(tempDir(), MORTAL);
  expect(await codeOfLater(work.cursor())).toBe("write_failed");
  expect(await codeOfLater(work.cursor())).toBe("write_failed");
  await work.close();
  expect(await codeOfLater(work.cursor())).toBe("log_closed");
});

it("holds commits when the WAL is long and not all of it could be written back, until all is: then it begins anew", async () => {
  const dataDir = tempDir();
  const db = await database(dataDir);
  const insert = db.prepare("INSERT INTO bytes (body) VALUES (zeroblob(?))");
  const MB = 1024 * 1024;
  insert.run(MB);
  // Who reads an old state keeps what came after it from being written back.
  const reader = await openDatabase(join(dataDir, DATABASE_FILE));
  cleanups.push(() => reader.close());
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM bytes").get();
  const held: boolean[] = [];
  const hold = (on: boolean): void => {
    held.push(on);
    if (on) reader.exec("ROLLBACK");
  };
  const { work } = background(dataDir, BUILT);
  const wal = Wal.open(db, { writeBack: () => work.writeBack(), hold });
  for (let written = 0; written < 72; written += 8) insert.run(8 * MB);
  expect((await work.writeBack()).written).toBeLessThan(1000);
  wal?.committed(1, 0);
  await wal?.quiet();
  expect(held).toEqual([]);
  wal?.committed(1, 72 * 6 * MB);
  await wal?.quiet();
  expect(held).toEqual([true, false]);
  insert.run(MB);
  expect((await work.writeBack()).pages).toBeLessThan(1000);
});

it("leaves the WAL to SQLite where there is no thread", async () => {
  const dataDir = tempDir();
  const db = await database(dataDir);
  expect(Wal.open(db, null)).toBe(null);
  expect(db.prepare("PRAGMA wal_autocheckpoint").get()).toEqual({ wal_autocheckpoint: 16384 });
  expect(openBackground({ dataDir, logId: "log-1" }, null).threaded).toBe(false);
  expect(backgroundWork({ dataDir, logId: "log-1" })).toHaveProperty("writeBack");
});
