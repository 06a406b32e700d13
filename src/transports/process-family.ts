/**
 * One process that the daemon started and everything that came from it: its group, its descendants, those that were seen as such before they were
 * re-parented, those that carry its mark, and those in its control group. Never found by name or command line. It ends them; it does not start anything.
 */
import { setTimeout as delay } from "node:timers/promises";
import { cgroupMembers, killCgroup } from "./cgroup.ts";
import { readMark } from "./process-mark.ts";
import { descendantsOf, listProcesses, liveGroup, type ProcessRow, signalSame, startedSince } from "./process-table.ts";

const POLL_MS = 20;
const AFTER_SIGKILL_MS = 2_000;
/** A look at all processes costs milliseconds: families that end at the same time share one. */
const SHARED_LOOK_MS = 10;

/** A process that is distinguished from a later one with the same pid. */
export interface KnownProcess {
  pid: number;
  startTime: string;
}

export interface FamilyOrigin {
  leader: KnownProcess;
  /** The `record` of the leader's mark; null for a process without one. */
  record: string | null;
  /** Path of its control group, if it has one. */
  cgroup: string | null;
  /** Members seen earlier. */
  members?: readonly KnownProcess[];
}

export class ProcessFamily {
  readonly leader: KnownProcess;
  readonly #record: string | null;
  readonly #cgroup: string | null;
  #members: Map<number, KnownProcess>;
  /** When it was last looked for. */
  lookedAt = Number.NEGATIVE_INFINITY;

  constructor({ leader, record, cgroup, members = [] }: FamilyOrigin) {
    this.leader = leader;
    this.#record = record;
    this.#cgroup = cgroup;
    this.#members = new Map(members.map((known) => [known.pid, known]));
  }

  /** Seen at the last look, without the leader. */
  get members(): KnownProcess[] {
    return [...this.#members.values()];
  }

  /** One more process that was started for the same: it belongs here though it descends from none of them. */
  adopt(process: KnownProcess): void {
    this.#members.set(process.pid, process);
    // A look that began before it was there must not forget it.
    this.lookedAt = performance.now();
  }

  /** Finds who is there. `grew`: somebody was not known before. `marked`: also by mark, which reads the environment of every younger process. */
  look(snapshot: Snapshot, marked: boolean): { live: ProcessRow[]; grew: boolean } {
    const { table } = snapshot;
    this.lookedAt = performance.now();
    const group = liveGroup(this.leader, table);
    const known = table.filter((row) => !row.zombie && this.#members.get(row.pid)?.startTime === row.startTime);
    const inCgroup = new Set(this.#cgroup === null ? [] : cgroupMembers(this.#cgroup));
    const roots = table.filter((row) => !row.zombie && (inCgroup.has(row.pid) || (marked && this.#marks(row, snapshot))));
    const found = new Map<number, ProcessRow>();
    const add = (rows: readonly ProcessRow[]): void => {
      for (const row of rows) found.set(row.pid, row);
    };
    add([...group, ...known, ...roots]);
    for (const row of [...found.values()]) if (row.pid !== this.leader.pid) add(liveGroup(row, table));
    add(descendantsOf(found.keys(), table));
    const live = [...found.values()];
    const others = live.filter(({ pid }) => pid !== this.leader.pid);
    const grew = others.some((row) => this.#members.get(row.pid)?.startTime !== row.startTime);
    this.#members = new Map(others.map(({ pid, startTime }) => [pid, { pid, startTime }]));
    return { live, grew };
  }

  killCgroup(): void {
    if (this.#cgroup !== null) killCgroup(this.#cgroup);
  }

  #marks(row: ProcessRow, snapshot: Snapshot): boolean {
    if (this.#record === null || !startedSince(row.startTime, this.leader.startTime)) return false;
    return snapshot.markOf(row.pid) === this.#record;
  }
}

/** All processes at one moment, marks read when first asked for. Without init and ourselves: a daemon that an agent started must not end itself. */
export class Snapshot {
  readonly table: readonly ProcessRow[];
  readonly at = performance.now();
  readonly #marks = new Map<number, string | null>();

  constructor(rows: readonly ProcessRow[] = listProcesses()) {
    this.table = rows.filter(({ pid }) => pid > 1 && pid !== process.pid);
  }

  markOf(pid: number): string | null {
    const known = this.#marks.get(pid);
    if (known !== undefined) return known;
    const mark = readMark(pid)?.record ?? null;
    this.#marks.set(pid, mark);
    return mark;
  }
}

let shared: Snapshot | null = null;

function recentSnapshot(): Snapshot {
  if (shared === null || performance.now() - shared.at > SHARED_LOOK_MS) shared = new Snapshot();
  return shared;
}

export interface EndOptions {
  /** Between SIGTERM and SIGKILL. */
  graceMs: number;
  /** Which of them to end; all by default. */
  only?(row: ProcessRow): boolean;
}

/** SIGTERM to each, SIGKILL after the grace, also to those that appear meanwhile. Resolves with those that are still there. */
export async function endFamily(family: ProcessFamily, { graceMs, only }: EndOptions): Promise<KnownProcess[]> {
  let left: readonly KnownProcess[] = [...family.members, family.leader];
  for (const [signal, patience] of [
    ["SIGTERM", graceMs],
    ["SIGKILL", AFTER_SIGKILL_MS],
  ] as const) {
    if (signal === "SIGKILL" && only === undefined) family.killCgroup();
    const told = new Set<string>();
    for (const deadline = Date.now() + patience; ; await delay(POLL_MS)) {
      const found = membersNow(family, only);
      for (const row of found ?? []) {
        const id = `${row.pid} ${row.startTime}`;
        if (told.has(id)) continue;
        told.add(id);
        signalSame(row, signal);
      }
      left = found ?? left;
      if (left.length === 0) return [];
      if (Date.now() >= deadline) break;
    }
  }
  return [...left];
}

/**
 * Pids are listed first and read then: a process that forks and exits in between shows neither itself nor its child. So "nobody" is asked twice. Null: it
 * cannot be seen now (no descriptor is left).
 */
function membersNow(family: ProcessFamily, only: EndOptions["only"] = () => true): ProcessRow[] | null {
  try {
    const first = family.look(recentSnapshot(), true).live.filter(only);
    return first.length > 0 ? first : family.look(new Snapshot(), true).live.filter(only);
  } catch {
    return null;
  }
}
