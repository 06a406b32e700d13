/** Moves the log of a daemon between its data directory and a Postgres, there and back, while no daemon uses either. The original stays as it is. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import type { Log } from "../log/contract.ts";
import { type Copied, copyLog } from "../log/copy.ts";
import { LogError } from "../log/log-error.ts";
import { CARRIED_KINDS } from "../session/carried-memory.ts";
import { SNAPSHOT } from "../session/snapshots.ts";
import { openLog } from "./open-log.ts";

export type MigrateOptions = { from: string; to: string; onStream?(done: number, all: number): void };

/** `from` and `to`: a data directory, or `postgres://…`. */
export async function migrateLog({ from, to, onStream }: MigrateOptions): Promise<Copied> {
  if (!isUrl(from) && !existsSync(from))
    throw new LogError("data_dir_unreadable", `There is no data directory ${from}.`, { path: from });
  // Of this copy: one that was killed may begin again at once.
  const holder = `migrate ${createHash("sha256").update(`${from}\n${to}`).digest("hex")}`;
  const source = await open(from, holder);
  try {
    const target = await open(to, holder);
    try {
      return await copyLog({
        from: source,
        to: target,
        notOfWriters: [SNAPSHOT, ...CARRIED_KINDS],
        ...(onStream ? { onStream } : {}),
      });
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

export const isUrl = (place: string): boolean => /^postgres(ql)?:/.test(place);

async function open(place: string, holder: string): Promise<Log> {
  if (!isUrl(place)) return openLog({ dataDir: place, acceptEmpty: false, unfinished: true, onError: () => undefined });
  const { openPostgresLog } = await import("../log/postgres/log.ts");
  const { mustBeWithoutNodes } = await import("./cluster-care.ts");
  try {
    await mustBeWithoutNodes(place);
    const { DRAGOMAN_ARTIFACTS: artifacts } = process.env;
    const bucket = artifacts === undefined ? undefined : (await import("../log/postgres/s3.ts")).s3From(artifacts, process.env);
    return await openPostgresLog({ url: place, as: { holder }, bucket });
  } catch (error) {
    if (!(error instanceof LogError) || error.code !== "data_dir_locked") throw error;
    throw new LogError(error.code, `${error.message} A log is moved only while no daemon uses it.`, error.details, error);
  }
}
