/**
 * No agent process outlives the daemon, not even when the daemon is killed with -9: each process group is recorded in a small
 * file while it lives, and the next daemon reaps what the files still name. A process is ours only when pid and start time
 * both match the record; names and command lines are never looked at.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type ProcessRecorder, signalGroup } from "./child-process.ts";
import { instanceId, newMark, type ProcessMark } from "./process-mark.ts";
import {
  descendantsOf,
  listProcesses,
  liveGroup,
  type ProcessRow,
  readProcess,
  readStartTime,
  signalSame,
} from "./process-table.ts";

const POLL_MS = 20;
const AFTER_SIGKILL_MS = 2_000;

/** Arguments are left out of the record on purpose: they may hold secrets. */
interface ProcessRecord {
  pid: number;
  start_time: string;
  command: string;
  /** The `record` of the mark that the process and its descendants carry. */
  mark: string;
  owner_pid: number;
  owner_start_time: string | null;
}

export type ReapOutcome =
  /** It ran, and is gone now. */
  | "killed"
  /** It was signalled but still shows: its record stays, so that the next start tries again. */
  | "survived"
  | "already_gone"
  /** The pid belongs to another process now: not touched. */
  | "recycled"
  /** The daemon that started it still runs: not an orphan, not touched. */
  | "owner_alive"
  /** The file was not a record. */
  | "corrupt";

export interface Reaped {
  /** Null for a corrupt file. */
  pid: number | null;
  command: string | null;
  outcome: ReapOutcome;
}

/** Writes are synchronous: between the start of a process and its record there must be no chance to be interrupted. */
export class ProcessRegistry implements ProcessRecorder {
  readonly #dir: string;
  readonly #ownerStartTime = readStartTime(process.pid);
  readonly #live = new Set<number>();
  readonly #instance: string;

  constructor(dir: string) {
    this.#dir = dir;
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    this.#instance = instanceId(dir);
  }

  newMark(): ProcessMark {
    return newMark(this.#instance);
  }

  /** Without a known start time it could never be told from a stranger, so it is not recorded. */
  register(child: { pid: number; startTime: string | null; command: string; mark: ProcessMark }): void {
    this.#live.add(child.pid);
    if (child.startTime === null) return;
    const record: ProcessRecord = {
      pid: child.pid,
      start_time: child.startTime,
      command: child.command,
      mark: child.mark.record,
      owner_pid: process.pid,
      owner_start_time: this.#ownerStartTime,
    };
    const path = join(this.#dir, `${child.pid}.json`);
    writeFileSync(`${path}.tmp`, `${JSON.stringify(record)}\n`, { mode: 0o600 });
    renameSync(`${path}.tmp`, path);
  }

  release(pid: number): void {
    this.#live.delete(pid);
    remove(join(this.#dir, `${pid}.json`));
  }

  /** For the last moment of a dying daemon (`process.on("exit")`): SIGKILL to every group that is still registered. */
  killAllNow(): void {
    for (const pid of this.#live) {
      signalGroup(pid, "SIGKILL");
      this.release(pid);
    }
  }
}

/** Kills what an earlier daemon left behind: SIGTERM to each group, SIGKILL after the grace. Call it before anything is spawned. */
export async function reapOrphans(dir: string, options: { graceMs?: number } = {}): Promise<Reaped[]> {
  const reaped: Reaped[] = [];
  const targets: ProcessRecord[] = [];
  const table = listProcesses();
  for (const path of recordFiles(dir)) {
    const record = readRecord(path);
    const outcome = record === null ? "corrupt" : judge(record, table);
    if (record !== null && outcome === "kill") {
      targets.push(record);
      continue;
    }
    if (outcome !== "owner_alive") remove(path);
    if (outcome !== "kill") reaped.push({ pid: record?.pid ?? null, command: record?.command ?? null, outcome });
  }
  const survivors = await killGroups(targets, options.graceMs ?? 1_000);
  for (const record of targets) {
    const survived = survivors.includes(record);
    if (!survived) for (const end of ["json", "json.tmp"]) remove(join(dir, `${record.pid}.${end}`));
    reaped.push({ pid: record.pid, command: record.command, outcome: survived ? "survived" : "killed" });
  }
  return reaped;
}

function judge(
  record: ProcessRecord,
  table: readonly ProcessRow[],
): Exclude<ReapOutcome, "killed" | "survived" | "corrupt"> | "kill" {
  const owner = readProcess(record.owner_pid);
  if (owner !== null && !owner.zombie && owner.startTime === record.owner_start_time) return "owner_alive";
  if (liveMembers(record, table).length > 0) return "kill";
  const holder = table.find((row) => row.pid === record.pid);
  return holder !== undefined && holder.startTime !== record.start_time ? "recycled" : "already_gone";
}

function liveMembers(record: ProcessRecord, table: readonly ProcessRow[]): ProcessRow[] {
  return liveGroup({ pid: record.pid, startTime: record.start_time }, table);
}

/** One recorded group, with the descendants that left it for a session of their own. */
interface Target {
  record: ProcessRecord;
  strays: ProcessRow[];
}

/** Returns those that are still there. All groups share one look at the process table per poll. */
async function killGroups(records: readonly ProcessRecord[], graceMs: number): Promise<ProcessRecord[]> {
  const table = records.length === 0 ? [] : listProcesses();
  let left: Target[] = records.map((record) => {
    const members = liveMembers(record, table).map(({ pid }) => pid);
    return { record, strays: descendantsOf(members, table) };
  });
  for (const [signal, patience] of [
    ["SIGTERM", graceMs],
    ["SIGKILL", AFTER_SIGKILL_MS],
  ] as const) {
    for (const target of left) signalTarget(target, signal);
    const deadline = Date.now() + patience;
    for (left = stillAlive(left); left.length > 0 && Date.now() < deadline; left = stillAlive(left)) await delay(POLL_MS);
  }
  return left.map(({ record }) => record);
}

function signalTarget({ record, strays }: Target, signal: NodeJS.Signals): void {
  if (liveMembers(record, listProcesses()).length > 0) signalGroup(record.pid, signal);
  for (const stray of strays) signalSame(stray, signal);
}

function stillAlive(targets: readonly Target[]): Target[] {
  if (targets.length === 0) return [];
  const table = listProcesses();
  const alive = new Set(table.flatMap((row) => (row.zombie ? [] : [`${row.pid} ${row.startTime}`])));
  return targets.filter(
    ({ record, strays }) =>
      liveMembers(record, table).length > 0 || strays.some((row) => alive.has(`${row.pid} ${row.startTime}`)),
  );
}

/** Only names that we give: a mistaken directory must not lose its files. A `.tmp` is a record whose rename was cut off. */
function recordFiles(dir: string): string[] {
  try {
    return readdirSync(dir)
      .filter((name) => /^[0-9]+\.json(\.tmp)?$/.test(name))
      .map((name) => join(dir, name));
  } catch {
    return [];
  }
}

function readRecord(path: string): ProcessRecord | null {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    return isRecord(value) && basename(path).startsWith(`${value.pid}.json`) ? value : null;
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is ProcessRecord {
  if (typeof value !== "object" || value === null) return false;
  if (!("pid" in value && "start_time" in value && "command" in value)) return false;
  if (!("owner_pid" in value && "owner_start_time" in value)) return false;
  return (
    Number.isSafeInteger(value.pid) &&
    Number(value.pid) > 1 &&
    typeof value.start_time === "string" &&
    typeof value.command === "string" &&
    Number.isSafeInteger(value.owner_pid) &&
    (value.owner_start_time === null || typeof value.owner_start_time === "string")
  );
}

function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // A folder, or not ours to remove: the next start sees it again and judges it again.
  }
}
