/**
 * No process of an agent outlives the daemon, not even when the daemon is killed with -9: each process that it starts is recorded in a small file while
 * anything of its family lives, and the next daemon ends what the files still name. A recorded process is ours only when pid and start time both match;
 * names and command lines are never looked at. A daemon that was killed between the start of a process and its record left only the mark: it is looked for, too.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { ProcessRecorder } from "./agent-process.ts";
import { enterCgroup, isCgroupOf, makeCgroup, removeCgroup, sweepCgroups } from "./cgroup.ts";
import { endFamily, type KnownProcess, ProcessFamily, Snapshot } from "./process-family.ts";
import { instanceId, listMarked, newMark, type ProcessMark, readInstance, readMark } from "./process-mark.ts";
import { readProcess, readStartTime, startedSince } from "./process-table.ts";

/** A process that starts more than this is a fork bomb: its control group or its marks have to do. */
const MAX_MEMBERS = 1_000;

/** Arguments are left out of the record on purpose: they may hold secrets. */
interface ProcessRecord {
  pid: number;
  start_time: string;
  command: string;
  /** The `record` of the mark that the process and its descendants carry. */
  mark: string | null;
  cgroup: string | null;
  /** Descendants that were seen. */
  members: { pid: number; start_time: string }[];
  owner_pid: number;
  owner_start_time: string | null;
}

export type ReapOutcome =
  /** It or something of its family ran, and is gone now. */
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
  /** Null where no record names it. */
  command: string | null;
  outcome: ReapOutcome;
}

/** Writes are synchronous: between the start of a process and its record there must be no chance to be interrupted. */
export class ProcessRegistry implements ProcessRecorder {
  readonly #dir: string;
  readonly #ownerStartTime = readStartTime(process.pid);
  readonly #records = new Map<number, ProcessRecord>();
  readonly #instance: string;

  constructor(dir: string) {
    this.#dir = dir;
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    this.#instance = instanceId(dir);
  }

  newMark(): ProcessMark {
    return newMark(this.#instance);
  }

  prepareGroup(mark: ProcessMark): string | null {
    return makeCgroup(mark.record);
  }

  /** Without a known start time it could never be distinguished from a stranger, so it is not recorded. */
  register(child: { pid: number; startTime: string | null; command: string; mark: ProcessMark }): { cgroup: string | null } {
    if (child.startTime === null) return { cgroup: null };
    const cgroup = enterCgroup(child.mark.record, child.pid);
    const record: ProcessRecord = {
      pid: child.pid,
      start_time: child.startTime,
      command: child.command,
      mark: child.mark.record,
      cgroup,
      members: [],
      owner_pid: process.pid,
      owner_start_time: this.#ownerStartTime,
    };
    this.#records.set(child.pid, record);
    this.#write(record);
    return { cgroup };
  }

  noteMembers(pid: number, members: readonly KnownProcess[]): void {
    const record = this.#records.get(pid);
    if (record === undefined) return;
    record.members = members.slice(0, MAX_MEMBERS).map((known) => ({ pid: known.pid, start_time: known.startTime }));
    try {
      this.#write(record);
    } catch {
      // The disk is full. The older record stands, and marks are found without it.
    }
  }

  release(pid: number): void {
    const cgroup = this.#records.get(pid)?.cgroup ?? null;
    this.#records.delete(pid);
    remove(join(this.#dir, `${pid}.json`));
    if (cgroup !== null) removeCgroup(cgroup);
  }

  #write(record: ProcessRecord): void {
    const path = join(this.#dir, `${record.pid}.json`);
    writeFileSync(`${path}.tmp`, `${JSON.stringify(record)}\n`, { mode: 0o600 });
    renameSync(`${path}.tmp`, path);
  }
}

/** Ends what an earlier daemon left behind: SIGTERM to each, SIGKILL after the grace. Call it before anything is spawned. */
export async function reapOrphans(dir: string, options: { graceMs?: number } = {}): Promise<Reaped[]> {
  const files = recordFiles(dir);
  const snapshot = files.length === 0 ? null : new Snapshot();
  const marks = new Set<string | null>();
  const reaped = await Promise.all(
    files.map(async (path): Promise<Reaped> => {
      const record = readRecord(path);
      marks.add(record?.mark ?? null);
      if (record === null || snapshot === null) {
        remove(path);
        return { pid: null, command: null, outcome: "corrupt" };
      }
      const outcome = await settle(record, snapshot, options.graceMs ?? 1_000);
      if (outcome !== "owner_alive" && outcome !== "survived") {
        remove(path);
        if (record.cgroup !== null) removeCgroup(record.cgroup);
      }
      return { pid: record.pid, command: record.command, outcome };
    }),
  );
  // What a living daemon starts at this moment has no record yet either.
  const ours = reaped.every(({ outcome }) => outcome !== "owner_alive");
  const unrecorded = ours ? await reapUnrecorded(dir, marks, options.graceMs ?? 1_000) : [];
  sweepCgroups();
  return [...reaped, ...unrecorded];
}

/** Ends what carries a mark of this directory that no record names. A daemon that was itself started by such a process spares all that carry the same mark. */
async function reapUnrecorded(dir: string, recorded: ReadonlySet<string | null>, graceMs: number): Promise<Reaped[]> {
  const instance = readInstance(dir);
  if (instance === null) return [];
  const own = readMark(process.pid)?.record;
  const marked = listMarked();
  const oldest = new Map<string, KnownProcess>();
  for (const { pid, startTime, zombie } of marked.size === 0 ? [] : new Snapshot().table) {
    const mark = zombie ? undefined : marked.get(pid);
    if (mark?.instance !== instance || mark.record === own || recorded.has(mark.record)) continue;
    const known = oldest.get(mark.record);
    if (known === undefined || startedSince(known.startTime, startTime)) oldest.set(mark.record, { pid, startTime });
  }
  return Promise.all(
    [...oldest].map(async ([record, leader]): Promise<Reaped> => {
      const left = await endFamily(new ProcessFamily({ leader, record, cgroup: null }), { graceMs });
      return { pid: leader.pid, command: null, outcome: left.length === 0 ? "killed" : "survived" };
    }),
  );
}

async function settle(record: ProcessRecord, snapshot: Snapshot, graceMs: number): Promise<Exclude<ReapOutcome, "corrupt">> {
  const owner = readProcess(record.owner_pid);
  if (owner !== null && !owner.zombie && owner.startTime === record.owner_start_time) return "owner_alive";
  const family = new ProcessFamily({
    leader: { pid: record.pid, startTime: record.start_time },
    record: record.mark,
    cgroup: record.cgroup,
    members: record.members.map(({ pid, start_time }) => ({ pid, startTime: start_time })),
  });
  if (family.look(snapshot, true).live.length > 0)
    return (await endFamily(family, { graceMs })).length === 0 ? "killed" : "survived";
  const holder = snapshot.table.find((row) => row.pid === record.pid);
  return holder !== undefined && holder.startTime !== record.start_time ? "recycled" : "already_gone";
}

/** Only names that we give: a mistaken directory must not lose its files. A `.tmp` is a record whose rename was cut off. */
function recordFiles(dir: string): string[] {
  try {
    const names = readdirSync(dir).filter((name) => /^[0-9]+\.json(\.tmp)?$/.test(name));
    return names.map((name) => join(dir, name));
  } catch {
    return [];
  }
}

function readRecord(path: string): ProcessRecord | null {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    const record = typeof value === "object" && value !== null ? toRecord(value) : null;
    return record !== null && basename(path).startsWith(`${record.pid}.json`) ? record : null;
  } catch {
    return null;
  }
}

/** Null for what is not a record. Records of earlier versions have no mark and no members. */
function toRecord(value: object): ProcessRecord | null {
  const fields: Partial<Record<keyof ProcessRecord, unknown>> = value;
  const { pid, start_time, command, owner_pid, owner_start_time } = fields;
  if (!isPid(pid) || typeof start_time !== "string" || typeof command !== "string") return null;
  if (typeof owner_pid !== "number" || !Number.isSafeInteger(owner_pid)) return null;
  if (owner_start_time !== null && typeof owner_start_time !== "string") return null;
  const mark = typeof fields.mark === "string" ? fields.mark : null;
  const cgroup = mark !== null && typeof fields.cgroup === "string" && isCgroupOf(mark, fields.cgroup) ? fields.cgroup : null;
  const members = Array.isArray(fields.members) ? fields.members.filter(isMember) : [];
  return { pid, start_time, command, mark, cgroup, members, owner_pid, owner_start_time };
}

const isPid = (value: unknown): value is number => typeof value === "number" && Number.isSafeInteger(value) && value > 1;

function isMember(value: unknown): value is { pid: number; start_time: string } {
  if (typeof value !== "object" || value === null || !("pid" in value && "start_time" in value)) return false;
  return isPid(value.pid) && typeof value.start_time === "string";
}

function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // A folder, or not ours to remove: the next start sees it again and judges it again.
  }
}
