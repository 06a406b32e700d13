/**
 * Opens the log of a daemon: SQLite in its data directory, or a Postgres whose address it was given. The directory is locked in both cases, because agents'
 * processes, tokens and checkpoints are there. The code for Postgres is loaded only when it is used.
 */
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "../log/contract.ts";
import { mustBeWhole } from "../log/copy.ts";
import { atStart, type LogError } from "../log/log-error.ts";
import { prepareDataDir } from "../log/sqlite/data-dir.ts";
import { acquireLock } from "../log/sqlite/lock.ts";
import { openSqliteLog } from "../log/sqlite/log.ts";

export type OpenLogOptions = {
  dataDir: string;
  /** `postgres://…`; without it the log is in the data directory. */
  url?: string;
  acceptEmpty: boolean;
  /** Also one that another log is being copied into. */
  unfinished?: boolean;
  onError(error: LogError | null): void;
};

/** `close` gives the data directory back, too. */
export async function openLog(options: OpenLogOptions): Promise<Log> {
  const log = await openEngine(options);
  try {
    if (!options.unfinished) await mustBeWhole(log);
    return log;
  } catch (error) {
    await log.close();
    throw error;
  }
}

async function openEngine({ dataDir, url, acceptEmpty, onError }: OpenLogOptions): Promise<Log> {
  if (url === undefined) return openSqliteLog({ dataDir, acceptEmpty, onError });
  try {
    // What SQLite needs of a file system, nothing here needs but the lock.
    prepareDataDir(dataDir, { allowNetworkFileSystem: true });
    const lock = await acquireLock(dataDir);
    try {
      const { mustBeWithoutNodes } = await import("./cluster-care.ts");
      await mustBeWithoutNodes(url);
      const { openPostgresLog } = await import("../log/postgres/log.ts");
      return await openPostgresLog({ url, as: { holder: holderOf(dataDir) }, onError, onClosed: () => lock.release() });
    } catch (error) {
      lock.release();
      throw error;
    }
  } catch (error) {
    throw atStart(error, dataDir);
  }
}

/** Names the data directory: only its next daemon may take the log over without waiting. */
function holderOf(dataDir: string): string {
  const file = join(dataDir, "log-holder");
  if (!existsSync(file)) writeFileSync(file, `${randomUUID()}\n`, { mode: 0o600 });
  return readFileSync(file, "utf8").trim();
}
