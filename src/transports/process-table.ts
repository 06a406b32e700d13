/**
 * Who is running: pid, group, session and start time, from /proc on Linux and `ps` elsewhere. Pids are recycled, so a
 * process is only the same one when its start time is the same too. It never looks at names or command lines.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { isAbsolute, relative, sep } from "node:path";
import { setImmediate } from "node:timers/promises";

export interface ProcessRow {
  pid: number;
  ppid: number;
  pgid: number;
  /** Session id; null where the system does not say. */
  sid: number | null;
  /** A zombie is dead: only its parent has not yet looked. */
  zombie: boolean;
  /** Opaque; equal for the same process only. On Linux it names the boot too, since ticks start over with each boot. */
  startTime: string;
}

const onLinux = process.platform === "linux";
let bootIdCache: string | undefined;

/** The process with this pid, or null when there is none (or the system does not let us see it). */
export function readProcess(pid: number): ProcessRow | null {
  if (!Number.isSafeInteger(pid) || pid <= 0) return null;
  return onLinux ? readProcStat(pid) : (readPs(["-p", String(pid)])[0] ?? null);
}

/** Start time of a live process, null when unknown. */
export function readStartTime(pid: number): string | null {
  return readProcess(pid)?.startTime ?? null;
}

/** Whether its working directory is this one or lies below it. False where the system does not say. */
export function worksIn(pid: number, directory: string): boolean {
  try {
    const path = relative(directory, readlinkSync(`/proc/${pid}/cwd`));
    return path === "" || (path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path));
  } catch {
    return false;
  }
}

/** Throws when it cannot look (no descriptor left): an incomplete table would say that somebody is gone who is not. */
export function listProcesses(): ProcessRow[] {
  return onLinux ? readProcStats(listPids()) : readPs(["-ax"]);
}

/** Processes read in one turn of the event loop: half a millisecond. */
const PORTION = 32;

/** The same, some at a time: for who is in no hurry, so that nobody else waits. `spent` gets the milliseconds of each portion. */
export async function listProcessesInPortions(spent: (ms: number) => void): Promise<ProcessRow[]> {
  const timed = <T>(work: () => T): T => {
    const began = performance.now();
    const result = work();
    spent(performance.now() - began);
    return result;
  };
  if (!onLinux) return timed(listProcesses);
  const pids = timed(listPids);
  const rows: ProcessRow[] = [];
  for (let at = 0; at < pids.length; at += PORTION) {
    rows.push(...timed(() => readProcStats(pids.slice(at, at + PORTION))));
    await setImmediate();
  }
  return rows;
}

const listPids = (): number[] =>
  readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .map(Number);

const readProcStats = (pids: readonly number[]): ProcessRow[] =>
  pids.map((pid) => readProcStat(pid, true)).filter((row) => row !== null);

/**
 * Live processes of the group that this leader started. When the leader is dead, a member counts only if it is also of the leader's
 * session (agents are session leaders) and not older. When the pid has another start time by now, the group is a stranger's.
 */
export function liveGroup(leader: { pid: number; startTime: string }, table: readonly ProcessRow[]): ProcessRow[] {
  const holder = table.find((row) => row.pid === leader.pid);
  if (holder !== undefined && holder.startTime !== leader.startTime) return [];
  return table.filter((row) => {
    if (row.pgid !== leader.pid || row.zombie) return false;
    if (row.pid === leader.pid) return true;
    return (row.sid === null || row.sid === leader.pid) && startedSince(row.startTime, leader.startTime);
  });
}

/** Children, their children and so on, of these processes; dead ones left out, and the given ones too. */
export function descendantsOf(pids: Iterable<number>, table: readonly ProcessRow[]): ProcessRow[] {
  const family = new Set(pids);
  const found: ProcessRow[] = [];
  for (let grew = true; grew; ) {
    const next = table.filter((row) => family.has(row.ppid) && !family.has(row.pid));
    for (const row of next) family.add(row.pid);
    found.push(...next.filter((row) => !row.zombie));
    grew = next.length > 0;
  }
  return found;
}

/** Signals this very process, not another one that got its pid meanwhile. False when it is gone. */
export function signalSame(row: ProcessRow, signal: NodeJS.Signals): boolean {
  const now = readProcess(row.pid);
  if (now === null || now.zombie || now.startTime !== row.startTime) return false;
  try {
    return process.kill(row.pid, signal);
  } catch {
    return false;
  }
}

/** True when `startTime` is surely not earlier than `since`; false when they cannot be compared. */
export function startedSince(startTime: string, since: string): boolean {
  const a = comparable(startTime);
  const b = comparable(since);
  return a !== null && b !== null && a.epoch === b.epoch && a.at >= b.at;
}

function readProcStat(pid: number, mustSee = false): ProcessRow | null {
  try {
    return parseProcStat(pid, readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (mustSee && (code === "EMFILE" || code === "ENFILE")) throw error;
    return null;
  }
}

/** The command name (second field) may hold spaces and brackets: fields are counted after the last one. */
export function parseProcStat(pid: number, stat: string): ProcessRow | null {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, ppid, pgid, sid] = fields;
  const ticks = fields[19];
  if (state === undefined || pgid === undefined || sid === undefined || ticks === undefined) return null;
  return {
    pid,
    ppid: Number(ppid),
    pgid: Number(pgid),
    sid: Number(sid),
    zombie: state === "Z" || state === "X",
    startTime: `${bootId()}/${ticks}`,
  };
}

function bootId(): string {
  if (bootIdCache === undefined) {
    try {
      bootIdCache = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
    } catch {
      bootIdCache = "boot";
    }
  }
  return bootIdCache;
}

function readPs(select: string[]): ProcessRow[] {
  try {
    const out = execFileSync("ps", [...select, "-o", "pid=,ppid=,pgid=,stat=,lstart="], {
      encoding: "utf8",
      env: { ...process.env, LC_ALL: "C", TZ: "UTC" },
      stdio: ["ignore", "pipe", "ignore"],
    });
    return out.split("\n").flatMap((line) => parsePsLine(line) ?? []);
  } catch {
    return [];
  }
}

/** One line of `ps -o pid=,ppid=,pgid=,stat=,lstart=`. */
export function parsePsLine(line: string): ProcessRow | null {
  const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S.*?)\s*$/.exec(line);
  const [, pid, ppid, pgid, stat, lstart] = match ?? [];
  if (pid === undefined || pgid === undefined || stat === undefined || lstart === undefined) return null;
  return {
    pid: Number(pid),
    ppid: Number(ppid),
    pgid: Number(pgid),
    sid: null,
    zombie: stat.startsWith("Z"),
    startTime: lstart,
  };
}

function comparable(startTime: string): { epoch: string; at: number } | null {
  const slash = startTime.lastIndexOf("/");
  const at = slash === -1 ? Date.parse(`${startTime} UTC`) : Number(startTime.slice(slash + 1));
  return Number.isNaN(at) ? null : { epoch: slash === -1 ? "clock" : startTime.slice(0, slash), at };
}
