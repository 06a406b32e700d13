/** Which history a cursor belongs to, and who may write. */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type Log, LogError, openSqliteLog } from "./log.ts";
import { appendMany, codeOf } from "../log.suite.ts";

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
  appendMany(log.stream("session", "ses_1") ?? await log.create("session", "ses_1", "{}"), count);
  await log.documents.committed();
  const { id, epoch } = log;
  const cursor = await log.end();
  await log.close();
  return { id, epoch, cursor };
}

describe("cursors", () => {
  it("hold across restarts: the id of the log stays, each start is an epoch", async () => {
    const dataDir = tempDir();
    const first = await append(dataDir, 10);
    const second = await append(dataDir, 10);
    const log = await open(dataDir);
    expect([first.id, second.id]).toEqual([log.id, log.id]);
    expect(new Set([first.epoch, second.epoch, log.epoch]).size).toBe(3);
    const stream = log.stream("session", "ses_1");
    for (const [epoch, sequence] of [
      [first.epoch, 0],
      [first.epoch, 10],
      [second.epoch, 10],
      [second.epoch, 20],
      [log.epoch, 20],
    ] as const)
      expect([epoch, sequence, codeOf(() => stream?.assertCursor({ epoch, sequence }))]).toEqual([
        epoch,
        sequence,
        "nothing was thrown",
      ]);
    expect(log.readGlobal({ after: first.cursor }).events.length).toBe(10);
    expect(log.readGlobal({ after: second.cursor }).events.length).toBe(0);
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
    const stream = log.stream("session", "ses_1");
    const code = (epoch: string, sequence: number) => codeOf(() => stream?.assertCursor({ epoch, sequence }));
    expect(code(before.epoch, 10)).toBe("nothing was thrown");
    // Its epoch ended with ten events: the eleventh it means was another one.
    expect(code(before.epoch, 11)).toBe("log_changed");
    expect([code(lost.epoch, 40), code(lost.epoch, 5), code("0000", 0)]).toEqual(["log_changed", "log_changed", "log_changed"]);
    expect(codeOf(() => log.readGlobal({ after: lost.cursor }))).toBe("log_changed");
    expect(codeOf(() => log.subscribeAll({ after: lost.cursor, onBatch: () => true }))).toBe("log_changed");
    expect(log.readGlobal({ after: before.cursor }).events.length).toBe(100);
    // Who names no epoch is served as before.
    expect(stream?.read({ after: 29, limit: 1 }).sequences).toEqual([30]);
  });
});

describe("the owner", () => {
  it("[D8] is the last who opened the log: the one before cannot commit, and says so for good", async () => {
    const dataDir = tempDir();
    const errors: (string | undefined)[] = [];
    const first = await openSqliteLog({ dataDir, onError: (error) => void errors.push(error?.code) });
    cleanups.push(() => first.close().catch(() => undefined));
    const stream = first.createStream("session", "ses_1", "{}");
    appendMany(stream, 10);
    await first.committed();
    rmSync(join(dataDir, "lock"));
    const second = await open(dataDir);
    appendMany(stream, 1);
    await expect(first.committed({ bounded: false })).rejects.toMatchObject({ code: "fenced" });
    expect(first.health()).toMatchObject({ state: "failing", code: "fenced" });
    expect([codeOf(() => appendMany(stream, 1)), codeOf(() => first.assertWritable()), codeOf(() => first.flush())]).toEqual([
      "fenced",
      "fenced",
      "fenced",
    ]);
    const other = second.stream("session", "ses_1");
    if (other === undefined) throw new Error("the session is gone");
    appendMany(other, 5);
    await second.committed();
    expect(other.read().sequences.length).toBe(15);
    expect(stream.read().sequences.length).toBe(10);
    expect(errors).toEqual(["fenced"]);
    await expect(first.close()).rejects.toBeInstanceOf(LogError);
    appendMany(other, 1);
    await second.committed();
  });
});
