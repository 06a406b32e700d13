/** Which history a cursor belongs to, and who may write. */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { appendMany, codeOf, codeOfLater, readAll } from "../log.suite.ts";
import { type Log, LogError, openSqliteLog, type Stream } from "./log.ts";

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "dragoman-epochs-"));
  cleanups.push(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

async function open(dataDir: string): Promise<Log> {
  const log = await openSqliteLog({ dataDir });
  cleanups.push(() => log.close().catch(() => undefined));
  return log;
}

/** A log with a session of so many events, closed. */
async function append(dataDir: string, count: number): Promise<{ id: string; epoch: string; cursor: string }> {
  const log = await openSqliteLog({ dataDir });
  const stream = (await log.writer("session", "ses_1")) ?? (await log.create("session", "ses_1", "{}"));
  appendMany(stream, count);
  await stream.committed();
  const { id, epoch } = log;
  const cursor = await log.end();
  await log.close();
  return { id, epoch, cursor };
}

async function streamOf(log: Log): Promise<Stream> {
  const stream = await log.stream("session", "ses_1");
  if (stream === undefined) throw new Error("the session is gone");
  return stream;
}

describe("cursors", () => {
  it("hold across restarts: the id of the log stays, each start is an epoch", async () => {
    const dataDir = tempDir();
    const first = await append(dataDir, 10);
    const second = await append(dataDir, 10);
    const log = await open(dataDir);
    expect([first.id, second.id]).toEqual([log.id, log.id]);
    expect(new Set([first.epoch, second.epoch, log.epoch]).size).toBe(3);
    const stream = await streamOf(log);
    for (const [epoch, sequence] of [
      [first.epoch, 0],
      [first.epoch, 10],
      [second.epoch, 10],
      [second.epoch, 20],
      [log.epoch, 20],
    ] as const)
      expect([epoch, sequence, await codeOfLater(stream.assertCursor({ epoch, sequence }))]).toEqual([
        epoch,
        sequence,
        "nothing was thrown",
      ]);
    expect((await readAll(log, first.cursor)).length).toBe(10);
    expect((await readAll(log, second.cursor)).length).toBe(0);
  });

  it("[D7] of what was lost by restoring a backup are refused, also when the log has grown past them", async () => {
    const dataDir = tempDir();
    const backup = tempDir();
    const before = await append(dataDir, 10);
    cpSync(dataDir, backup, { recursive: true });
    const lost = await append(dataDir, 30);
    rmSync(dataDir, { recursive: true });
    cpSync(backup, dataDir, { recursive: true });
    await append(dataDir, 100);
    const log = await open(dataDir);
    const stream = await streamOf(log);
    const code = (epoch: string, sequence: number) => codeOfLater(stream.assertCursor({ epoch, sequence }));
    expect(await code(before.epoch, 10)).toBe("nothing was thrown");
    // Its epoch ended with ten events: the eleventh it means was another one.
    expect(await code(before.epoch, 11)).toBe("log_changed");
    expect([await code(lost.epoch, 40), await code(lost.epoch, 5), await code("0000", 0)]).toEqual([
      "log_changed",
      "log_changed",
      "log_changed",
    ]);
    expect(await codeOfLater(log.assertCursor(lost.cursor))).toBe("log_changed");
    expect(codeOf(() => log.subscribeAll({ after: lost.cursor, onBatch: () => true }))).toBe("log_changed");
    await log.assertCursor(before.cursor);
    expect((await readAll(log, before.cursor)).length).toBe(100);
    // Who names no epoch is served as before.
    expect((await stream.read({ after: 29, limit: 1 })).sequences).toEqual([30]);
  });
});

describe("the owner", () => {
  it("[D8] is the last who opened the log: the one before cannot commit, and says so for good", async () => {
    const dataDir = tempDir();
    const errors: (string | undefined)[] = [];
    const first = await openSqliteLog({ dataDir, onError: (error) => void errors.push(error?.code) });
    cleanups.push(() => first.close().catch(() => undefined));
    const stream = await first.create("session", "ses_1", "{}");
    appendMany(stream, 10);
    await stream.committed();
    rmSync(join(dataDir, "lock"));
    const second = await open(dataDir);
    appendMany(stream, 1);
    await expect(stream.committed({ bounded: false })).rejects.toMatchObject({ code: "fenced" });
    expect(first.health()).toMatchObject({ state: "failing", code: "fenced" });
    expect([codeOf(() => appendMany(stream, 1)), codeOf(() => first.assertWritable())]).toEqual(["fenced", "fenced"]);
    expect([await codeOfLater(stream.committed()), await codeOfLater(first.documents.committed())]).toEqual(["fenced", "fenced"]);
    const other = await second.writer("session", "ses_1");
    if (other === undefined) throw new Error("the session is gone");
    appendMany(other, 5);
    await other.committed();
    expect((await other.read()).sequences.length).toBe(15);
    expect((await stream.read()).sequences.length).toBe(10);
    expect(errors).toEqual(["fenced"]);
    await expect(first.close()).rejects.toBeInstanceOf(LogError);
    appendMany(other, 1);
    await other.committed();
  });
});
