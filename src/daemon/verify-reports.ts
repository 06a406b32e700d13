// The last report of `verify` for each agent, a file each in the data directory: written by the command, with or without a daemon, and shown by the daemon.
import { mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Compile } from "typebox/compile";
import { onUse } from "../schema/on-use.ts";
import { VerifyReport } from "../schema/session.ts";

const LARGEST_BYTES = 8 * 1024 * 1024;
const validator = onUse(() => Compile(VerifyReport));

const folderOf = (dataDir: string): string => join(dataDir, "verify");
/** Ids of configured agents may be any name. */
const fileOf = (dataDir: string, agent: string): string => join(folderOf(dataDir), `${encodeURIComponent(agent)}.json`);

/** Undefined when there is none, or none this version can read: both are fixed by another run. */
export async function readVerifyReport(dataDir: string, agent: string): Promise<VerifyReport | undefined> {
  try {
    const file = await open(fileOf(dataDir, agent), "r");
    try {
      if ((await file.stat()).size > LARGEST_BYTES) return undefined;
      const value: unknown = JSON.parse(await file.readFile("utf8"));
      return validator().Check(value) && value.agent === agent ? value : undefined;
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

/** Whole or not at all, and never readable by others, not even for a moment. */
export async function writeVerifyReport(dataDir: string, report: VerifyReport): Promise<void> {
  await mkdir(folderOf(dataDir), { recursive: true, mode: 0o700 });
  const file = fileOf(dataDir, report.agent);
  const temporary = `${file}.${process.pid}.tmp`;
  await rm(temporary, { force: true });
  const handle = await open(temporary, "wx", 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(report)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
}
