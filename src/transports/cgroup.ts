/**
 * A control group (cgroup v2) for each recorded process, where the system lets us make one: then its descendants are known whatever they do, also those that
 * left group and session and dropped their mark. Everything here may fail and then changes nothing. It sets no limits.
 */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const PREFIX = "dragoman-";
/** Set by a person who wants none, and by tests that must do without. */
const OFF_VARIABLE = "DRAGOMAN_NO_CGROUP";

/** Our own group, below which we make others; null where there is no cgroup v2. */
function ownGroup(): string | null {
  if (process.platform !== "linux" || process.env[OFF_VARIABLE]) return null;
  try {
    const mount = /^\S+ \S+ \S+ \S+ (\S+) [^\n]* - cgroup2 /m.exec(readFileSync("/proc/self/mountinfo", "utf8"))?.[1];
    const own = /^0::(\/\S*)$/m.exec(readFileSync("/proc/self/cgroup", "utf8"))?.[1];
    // A path with `..` lies outside of what this namespace can see.
    return mount === undefined || own === undefined || own.includes("..") ? null : join(mount, own);
  } catch {
    return null;
  }
}

/** Makes a group for this record, if it has none yet. Its path, or null where that is not allowed. */
export function makeCgroup(record: string): string | null {
  const parent = ownGroup();
  if (parent === null) return null;
  const path = join(parent, `${PREFIX}${record}`);
  try {
    mkdirSync(path, { recursive: true });
    return path;
  } catch {
    return null;
  }
}

/** Moves the process into the group of this record, made if need be. Its path, or null where that is not allowed. */
export function enterCgroup(record: string, pid: number): string | null {
  const path = makeCgroup(record);
  if (path === null) return null;
  try {
    writeFileSync(join(path, "cgroup.procs"), String(pid));
    return path;
  } catch {
    removeCgroup(path);
    return null;
  }
}

/**
 * The same program, started by a shell that first goes into the group: nothing that it starts in its first moment is outside. A process that we move ourselves may
 * have had children before, and those that dropped their mark and their parent would never be found.
 */
export function startedInCgroup(path: string, command: string, args: readonly string[]): [string, string[]] {
  return ["/bin/sh", ["-c", '{ echo 0 >"$1/cgroup.procs"; } 2>/dev/null; shift; exec "$@"', "sh", path, command, ...args]];
}

/** The record whose group this process is in, whoever made that; null when it is in none. */
export function cgroupRecord(pid: number): string | null {
  try {
    return /\/dragoman-([0-9a-f]{32})(?:\/|$)/m.exec(readFileSync(`/proc/${pid}/cgroup`, "latin1"))?.[1] ?? null;
  } catch {
    return null;
  }
}

/** Pids of its members, zombies included. */
export function cgroupMembers(path: string): number[] {
  try {
    return readFileSync(join(path, "cgroup.procs"), "latin1")
      .split("\n")
      .map(Number)
      .filter((pid) => pid > 1);
  } catch {
    return [];
  }
}

/** SIGKILL to all of them at once, which no fork outruns; not when we are one of them ourselves. */
export function killCgroup(path: string): void {
  if (cgroupMembers(path).includes(process.pid)) return;
  try {
    writeFileSync(join(path, "cgroup.kill"), "1");
  } catch {
    // Linux before 5.14, or it is gone: each is signalled by itself.
  }
}

/** Removes it when nobody is in it any more. */
export function removeCgroup(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // Somebody is in it, or it is gone.
  }
}

/** True for a path that `enterCgroup` could have made for this record: a damaged file must not point us at strangers. */
export function isCgroupOf(record: string, path: string): boolean {
  return path.startsWith("/") && path.endsWith(`/${PREFIX}${record}`) && !path.includes("/../");
}

/** A group is made before its process enters it, and other daemons make theirs beside ours. */
const NEWBORN_MS = 60_000;

/** Removes the empty groups that daemons left which were killed and never started again. */
export function sweepCgroups(): void {
  const parent = ownGroup();
  if (parent === null) return;
  try {
    for (const name of readdirSync(parent)) {
      if (!/^dragoman-[0-9a-f]{32}$/.test(name)) continue;
      const path = join(parent, name);
      const made = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY;
      if (Date.now() - made > NEWBORN_MS) removeCgroup(path);
    }
  } catch {
    // Not readable: then none was made here.
  }
}
