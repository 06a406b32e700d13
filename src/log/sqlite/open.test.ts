import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { appendMany, codeOf, codeOfLater, readAll } from "../log.suite.ts";
import { Damage } from "../packing/damage.ts";
import { networkFileSystem, prepareDataDir } from "./data-dir.ts";
import { openLogDatabase } from "./database.ts";
import { openDatabase } from "./driver.ts";
import { LogError, openSqliteLog } from "./log.ts";
import { migrate, migrations } from "./migrations.ts";
import { readRefusal, setAsideLogs } from "./refusal.ts";
import { runModule } from "./run-module.ts";

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "dragoman-open-"));
  cleanups.push(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

async function refusal(opening: Promise<unknown>): Promise<LogError> {
  const error = await opening.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof LogError)) throw new Error(`expected a LogError, got ${String(error)}`);
  return error;
}

/** Of this process, by `read` and its kin. */
const bytesRead = (): number => Number(/^rchar: (\d+)/.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);

const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;

describe("the lock on the data directory", () => {
  it("refuses a second daemon, names the first, and lets the next one in when it is gone", async () => {
    const dataDir = tempDir();
    const first = await openSqliteLog({ dataDir });
    const error = await refusal(openSqliteLog({ dataDir }));
    expect([error.code, error.details.pid]).toEqual(["data_dir_locked", process.pid]);
    expect(error.message).toContain(String(process.pid));
    await first.close();
    await (await openSqliteLog({ dataDir })).close();
  });

  it("refuses while another process holds it, and takes it over when that one was killed", async () => {
    const dataDir = tempDir();
    const child = runModule(new URL("./crash-child.ts", import.meta.url), "appendUntilKilled", [dataDir, 1]);
    cleanups.push(() => void child.kill("SIGKILL"));
    await once(child.stdout!, "data");
    child.stdout?.resume();
    const error = await refusal(openSqliteLog({ dataDir }));
    expect([error.code, error.details.pid]).toEqual(["data_dir_locked", child.pid]);
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
    expect(existsSync(join(dataDir, "lock.json"))).toBe(true);
    await (await openSqliteLog({ dataDir })).close();
  });

  it("is not fooled by a lock file of a process that does live", async () => {
    const dataDir = tempDir();
    writeFileSync(join(dataDir, "lock.json"), JSON.stringify({ pid: process.ppid }));
    await (await openSqliteLog({ dataDir })).close();
  });
});

describe("a data directory that cannot be used", () => {
  it("refuses a file in its place", async () => {
    const path = join(tempDir(), "file");
    writeFileSync(path, "");
    const error = await refusal(openSqliteLog({ dataDir: path }));
    expect(error.code).toBe("data_dir_unreadable");
    expect(error.message).toContain("--data-dir");
  });

  it("is made with those above it", () => {
    const dataDir = join(tempDir(), "a", "b");
    prepareDataDir(dataDir, { allowNetworkFileSystem: true });
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    prepareDataDir(dataDir, { allowNetworkFileSystem: true });
  });

  it.runIf(process.platform === "linux")("refuses a place where none can be made, instead of trying for ever", async () => {
    const error = await refusal(openSqliteLog({ dataDir: "/proc/dragoman/data" }));
    expect(error).toMatchObject({ code: "data_dir_unreadable", message: expect.stringContaining("--data-dir") });
  });

  it("refuses a directory without permission", async () => {
    const dataDir = tempDir();
    chmodSync(dataDir, isRoot ? 0o700 : 0o000);
    const identity = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
    const child = runModule(new URL("./open-child.ts", import.meta.url), "printRefusal", [dataDir], identity);
    let [out, err] = ["", ""];
    child.stdout?.on("data", (data) => {
      out += data;
    });
    child.stderr?.on("data", (data) => {
      err += data;
    });
    await once(child, "close");
    chmodSync(dataDir, 0o700);
    expect({ out, err }).toEqual({ out: "data_dir_unreadable\n", err: "" });
  });

  it("refuses network file systems by their Linux type", () => {
    expect([0x6969, 0xff534d42, -11317950, 0x01021997, 0x65735546].map((type) => networkFileSystem(type, "linux"))).toEqual([
      "nfs",
      "cifs",
      "cifs",
      "9p",
      "fuse or virtiofs",
    ]);
    expect([0xef53, 0x01021994, 0x9123683e, 0x794c7630].map((type) => networkFileSystem(type, "linux"))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    const dir = tempDir();
    if (process.platform !== "linux") return;
    expect(codeOf(() => prepareDataDir(dir, { allowNetworkFileSystem: false, typeOf: () => 0x6969 }))).toBe(
      "network_file_system",
    );
    expect(() => prepareDataDir(dir, { allowNetworkFileSystem: true, typeOf: () => 0x6969 })).not.toThrow();
  });
});

describe("a damaged database", () => {
  async function filled(): Promise<string> {
    const dataDir = tempDir();
    const log = await openSqliteLog({ dataDir });
    appendMany(await log.create("session", "ses_1", "{}"), 5000);
    await log.close();
    return dataDir;
  }

  function damageHeader(dataDir: string): void {
    const fd = openSync(join(dataDir, "dragoman.db"), "r+");
    writeSync(fd, Buffer.from("not a database"), 0, 14, 0);
    closeSync(fd);
  }

  it("is refused at every start, and nothing is moved", async () => {
    const dataDir = await filled();
    damageHeader(dataDir);
    const before = readFileSync(join(dataDir, "dragoman.db"));
    for (let start = 0; start < 3; start++) {
      const error = await refusal(openSqliteLog({ dataDir }));
      expect([error.code, error.message]).toEqual([
        "database_corrupt",
        expect.stringMatching(/restore a backup.*--accept-empty/),
      ]);
    }
    expect(readFileSync(join(dataDir, "dragoman.db")).equals(before)).toBe(true);
    expect(setAsideLogs(dataDir)).toEqual([]);
  });

  it("stays refused when the file is gone", async () => {
    const dataDir = await filled();
    damageHeader(dataDir);
    await refusal(openSqliteLog({ dataDir }));
    rmSync(join(dataDir, "dragoman.db"));
    expect((await refusal(openSqliteLog({ dataDir }))).code).toBe("database_corrupt");
  });

  it("is over when a backup is restored, and the damaged log's WAL is not applied to it", async () => {
    const dataDir = await filled();
    const backup = join(tempDir(), "backup.db");
    copyFileSync(join(dataDir, "dragoman.db"), backup);
    damageHeader(dataDir);
    writeFileSync(join(dataDir, "dragoman.db-wal"), "what a killed process left");
    await refusal(openSqliteLog({ dataDir }));
    copyFileSync(backup, join(dataDir, "dragoman.db"));
    const log = await openSqliteLog({ dataDir });
    expect((await (await log.stream("session", "ses_1"))?.read({ limit: 5000 }))?.events.length).toBe(5000);
    expect(readRefusal(dataDir)).toBeUndefined();
    await log.close();
  });

  it("is over when an empty log is accepted: the damaged one is kept aside with its artifacts", async () => {
    const dataDir = await filled();
    const artifacts = readdirSync(join(dataDir, "artifacts"));
    damageHeader(dataDir);
    const before = readFileSync(join(dataDir, "dragoman.db"));
    await refusal(openSqliteLog({ dataDir }));
    const log = await openSqliteLog({ dataDir, acceptEmpty: true });
    expect((await log.list("session")).streams).toEqual([]);
    await log.close();
    const [aside = ""] = setAsideLogs(dataDir);
    expect(readFileSync(join(dataDir, aside)).equals(before)).toBe(true);
    expect(readdirSync(join(dataDir, aside.replace("dragoman.db", "artifacts")))).toEqual(artifacts);
    // Said again by habit, it does no harm to a log that is well.
    const again = await openSqliteLog({ dataDir, acceptEmpty: true });
    expect([again.id, setAsideLogs(dataDir).length]).toEqual([log.id, 1]);
    await again.close();
  });

  it("is refused when its schema was changed", async () => {
    const dataDir = await filled();
    const db = await openDatabase(join(dataDir, "dragoman.db"));
    db.exec("DROP INDEX streams_created");
    db.close();
    expect((await refusal(openSqliteLog({ dataDir }))).code).toBe("database_corrupt");
  });

  it("goes on with what is whole: a damaged chunk and a damaged row are refused, named and counted", async () => {
    const dataDir = await filled();
    const log = await openSqliteLog({ dataDir });
    appendMany(await log.create("session", "ses_2", "{}"), 10);
    appendMany(await log.create("session", "ses_3", "{}"), 10);
    await log.close();
    const db = await openDatabase(join(dataDir, "dragoman.db"));
    db.exec("UPDATE event_chunks SET body = replace(CAST(body AS TEXT), '1500', '1501') WHERE first <= 1500 AND last >= 1500");
    db.exec("UPDATE streams SET state = '[]' WHERE id = 'ses_2'");
    db.close();
    const errors: (string | undefined)[] = [];
    const again = await openSqliteLog({ dataDir, onError: (error) => void errors.push(error?.code) });
    expect(await again.list("session")).toMatchObject({ streams: [{ id: "ses_3" }, { id: "ses_1" }], damaged: ["ses_2"] });
    const damaged = [again.stream("session", "ses_2"), again.writer("session", "ses_2"), again.row("session", "ses_2")];
    expect(await Promise.all(damaged.map(codeOfLater))).toEqual(["corrupt_chunk", "corrupt_chunk", "corrupt_chunk"]);
    const stream = await again.stream("session", "ses_1");
    if (stream === undefined) throw new Error("the whole session is gone");
    expect((await stream.read({ after: 2000, limit: 3000 })).events.length).toBe(3000);
    expect(await codeOfLater(stream.read({ after: 1400, limit: 200 }))).toBe("corrupt_chunk");
    expect(await codeOfLater(readAll(again))).toBe("corrupt_chunk");
    const ended = await new Promise((resolve) =>
      stream.subscribe({ after: 1000, onBatch: () => true, onEnd: (reason, error) => resolve([reason, error]) }),
    );
    expect(ended).toEqual(["failed", expect.objectContaining({ code: "corrupt_chunk" })]);
    expect(again.health().damage).toMatchObject({
      places: expect.any(Number),
      streams: expect.arrayContaining(["ses_1", "ses_2"]),
    });
    expect(new Set(errors)).toEqual(new Set(["corrupt_chunk"]));
    expect(await again.delete("session", "ses_2")).toBe(true);
    await again.erased();
    expect(await again.stream("session", "ses_2")).toBeUndefined();
    await again.close();
  });

  it("is found without being read, after a stop that was not clean", async () => {
    const original = await filled();
    const db = await openDatabase(join(original, "dragoman.db"));
    db.exec("UPDATE event_chunks SET natives = '7' WHERE first <= 4500 AND last >= 4500; PRAGMA wal_checkpoint(TRUNCATE)");
    db.close();
    // Another file: within one process SQLite remembers the WAL of the first.
    const dataDir = tempDir();
    copyFileSync(join(original, "dragoman.db"), join(dataDir, "dragoman.db"));
    writeFileSync(join(dataDir, "dragoman.db-wal"), "what a killed process leaves ".repeat(200));
    const log = await openSqliteLog({ dataDir });
    await expect.poll(() => log.health().damage.streams).toEqual(["ses_1"]);
    await log.close();
  });

  it.runIf(process.platform === "linux")(
    "is not looked for while a start waits: a start reads little of a large log",
    async () => {
      const original = tempDir();
      const full = await openSqliteLog({ dataDir: original });
      const stream = await full.create("session", "ses_1", "{}");
      for (let sequence = 1; sequence <= 300; sequence++)
        stream.append({ text: JSON.stringify(randomBytes(48 * 1024).toString("base64")), sequence, type: "x", native: null });
      await full.close();
      const dataDir = tempDir();
      copyFileSync(join(original, "dragoman.db"), join(dataDir, "dragoman.db"));
      writeFileSync(join(dataDir, "dragoman.db-wal"), "what a killed process leaves ".repeat(200));
      const size = statSync(join(dataDir, "dragoman.db")).size;
      expect(size).toBeGreaterThan(12 * 1024 * 1024);
      const before = bytesRead();
      const log = await openSqliteLog({ dataDir });
      const read = bytesRead() - before;
      await log.close();
      expect(read).toBeGreaterThan(0);
      expect(read).toBeLessThan(size / 8);
    },
  );

  it("is not suspected when the stop was clean", async () => {
    const dataDir = await filled();
    expect(statSync(join(dataDir, "dragoman.db-wal"), { throwIfNoEntry: false })?.size ?? 0).toBe(0);
    const log = await openSqliteLog({ dataDir });
    expect((await log.writer("session", "ses_1"))?.last).toBe(5000);
    await log.close();
  });
});

describe("migrations", () => {
  const newer = [...migrations, "CREATE TABLE added (id INTEGER PRIMARY KEY); INSERT INTO added VALUES (42)"];

  it("update an existing database, with a copy of the old one beside it", async () => {
    const dataDir = tempDir();
    const log = await openSqliteLog({ dataDir });
    appendMany(await log.create("session", "ses_1", "{}"), 10);
    await log.close();
    const db = await openLogDatabase(dataDir, { damage: new Damage(() => undefined), migrations: newer });
    expect({ ...db.prepare("SELECT id FROM added").get() }).toEqual({ id: 42 });
    db.close();
    const [snapshot] = readdirSync(join(dataDir, "backups"));
    const copy = await openDatabase(join(dataDir, "backups", snapshot ?? ""));
    expect({ ...copy.prepare("PRAGMA user_version").get() }).toEqual({ user_version: migrations.length });
    expect({ ...copy.prepare("SELECT last_sequence FROM streams").get() }).toEqual({ last_sequence: 10 });
    copy.close();
    const error = await refusal(openSqliteLog({ dataDir }));
    expect(error.code).toBe("database_newer");
  });

  it("undo everything when a step fails", async () => {
    const dataDir = tempDir();
    await (await openSqliteLog({ dataDir })).close();
    const broken = [...newer, "CREATE TABLE half (id); INSERT INTO no_such_table VALUES (1)"];
    expect((await refusal(openLogDatabase(dataDir, { damage: new Damage(() => undefined), migrations: broken }))).code).toBe(
      "migration_failed",
    );
    const log = await openSqliteLog({ dataDir });
    appendMany(await log.create("session", "ses_1", "{}"), 1);
    await log.close();
    const db = await openDatabase(join(dataDir, "dragoman.db"));
    expect(db.prepare("SELECT name FROM sqlite_master WHERE name IN ('added', 'half')").all()).toEqual([]);
    db.close();
  });

  it("run in order from nothing, without a copy", async () => {
    const dataDir = tempDir();
    const db = await openDatabase(join(dataDir, "x.db"));
    expect(migrate(db, dataDir, newer)).toEqual({ from: 0, to: newer.length, snapshot: null });
    expect(migrate(db, dataDir, newer)).toEqual({ from: newer.length, to: newer.length, snapshot: null });
    db.close();
    expect(existsSync(join(dataDir, "backups"))).toBe(false);
  });
});

/** A file system of two megabytes, undefined where mounting is not permitted. */
function smallDisk(): string | undefined {
  const dir = tempDir();
  const disk = join(dir, "disk");
  mkdirSync(disk);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", disk], { stdio: "ignore" });
  } catch {
    return undefined;
  }
  cleanups.push(() => void execFileSync("umount", ["-l", disk]));
  return disk;
}

describe("a full disk", () => {
  it("shows nothing that is not stored, keeps reading, bounds what waits, and goes on when there is space", async ({ skip }) => {
    const disk = smallDisk();
    if (disk === undefined) return skip("needs the right to mount a tmpfs");
    const ballast = join(disk, "ballast");
    writeFileSync(ballast, Buffer.alloc(1_000_000));
    const reports: (string | undefined)[] = [];
    const log = await openSqliteLog({
      dataDir: join(disk, "data"),
      maxPendingBytes: 300_000,
      onError: (error) => void reports.push(error?.code),
    });
    const paused: boolean[] = [];
    log.onPressure((now) => void paused.push(now));
    appendMany(await log.create("session", "ses_deleted", "{}"), 1);
    const stream = await log.create("session", "ses_1", "{}");
    const seen: number[] = [];
    stream.subscribe({ onBatch: (batch) => void seen.push(batch.first, batch.last) });
    while (log.health().state === "ok") {
      appendMany(stream, 100);
      await Promise.race([stream.committed(), new Promise((resolve) => setTimeout(resolve, 20))]);
    }
    expect(log.health()).toMatchObject({ state: "failing", code: "disk_full" });
    expect(reports).toEqual(["disk_full"]);
    const stored = stream.lastCommitted;
    expect(stored).toBeGreaterThan(0);
    expect((await stream.read({ reverse: true, limit: 1 })).sequences).toEqual([stored]);
    expect(await codeOfLater(stream.committed())).toBe("disk_full");
    expect(codeOf(() => stream.artifacts.put(Buffer.alloc(1_500_000), { kind: "image", mime: "image/png" }))).toBe("disk_full");
    expect(await log.delete("session", "ses_deleted")).toBe(true);
    expect([await log.stream("session", "ses_deleted"), await log.row("session", "ses_deleted")]).toEqual([undefined, undefined]);
    expect((await log.list("session")).streams.map(({ id }) => id)).toEqual(["ses_1"]);
    expect(codeOf(() => appendMany(stream, 100_000))).toBe("disk_full");
    expect(seen.at(-1) ?? 0).toBeLessThanOrEqual(stored);
    const { last } = stream;
    expect(codeOf(() => log.assertWritable())).toBe("disk_full");
    await expect(log.documents.committed()).rejects.toMatchObject({
      code: "disk_full",
      message: expect.stringContaining("may still take effect"),
    });
    expect(paused).toEqual([true]);
    rmSync(ballast);
    await stream.committed({ bounded: false });
    expect(paused).toEqual([true, false]);
    expect([stream.lastCommitted, log.health().state, reports.at(-1)]).toEqual([last, "ok", undefined]);
    await new Promise(setImmediate);
    expect(seen.at(-1)).toBe(last);
    await log.erased();
    expect((await log.list("session")).streams.map(({ id }) => id)).toEqual(["ses_1"]);
    appendMany(stream, 1);
    await log.close();
  });

  it("is named when the log cannot even be opened", async ({ skip }) => {
    const disk = smallDisk();
    if (disk === undefined) return skip("needs the right to mount a tmpfs");
    try {
      writeFileSync(join(disk, "ballast"), Buffer.alloc(4_000_000));
    } catch {
      // Full: that is what was wanted.
    }
    expect((await refusal(openSqliteLog({ dataDir: disk }))).code).toBe("disk_full");
  });
});
