/**
 * One daemon per data directory. The operating system holds the lock (an exclusive transaction on an empty SQLite file), so it is gone with the process,
 * however that dies, and no stale lock or recycled pid can fool it. Beside it `lock.json` says who holds it; that file decides nothing.
 */
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LogError, toLogError } from "../log-error.ts";
import { type Database, openDatabase } from "./driver.ts";

export interface Lock {
  release(): void;
}

const SQLITE_BUSY = 5;

export async function acquireLock(dataDir: string): Promise<Lock> {
  const who = join(dataDir, "lock.json");
  let db: Database | undefined;
  try {
    db = await openDatabase(join(dataDir, "lock"));
    db.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    chmodSync(join(dataDir, "lock"), 0o600);
    // Where a file system pretends to lock, the content still shows who wrote it last.
    writeFileSync(
      who,
      `${JSON.stringify({ pid: process.pid, started_at: new Date(Date.now() - process.uptime() * 1000).toISOString() })}\n`,
      { mode: 0o600 },
    );
  } catch (error) {
    db?.close();
    throw isBusy(error) ? locked(dataDir, who) : toLogError(error, `Locking the data directory ${dataDir}`);
  }
  const held = db;
  return {
    release() {
      // Another daemon may have taken the directory over, if somebody removed the lock file.
      if (holder(who) === process.pid) rmSync(who, { force: true });
      held.close();
    },
  };
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && Number(error.errcode) % 256 === SQLITE_BUSY;
}

function locked(dataDir: string, who: string): LogError {
  const pid = holder(who);
  const by = pid === undefined ? "another dragoman" : `another dragoman (pid ${pid})`;
  const message = `The data directory ${dataDir} is in use by ${by}. Use that one, stop it, or pass another --data-dir.`;
  return new LogError("data_dir_locked", message, pid === undefined ? { path: dataDir } : { path: dataDir, pid });
}

function holder(who: string): number | undefined {
  try {
    const found: unknown = JSON.parse(readFileSync(who, "utf8"));
    return typeof found === "object" && found !== null && "pid" in found && typeof found.pid === "number" ? found.pid : undefined;
  } catch {
    return undefined;
  }
}
