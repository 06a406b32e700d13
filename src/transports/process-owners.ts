/**
 * For whom a process runs: the agent and, where a process serves one session alone, the session. Read from the environment the daemon gave it, and kept
 * after its end, since descendants may outlive it. `findOwner` recognises any process that came from one of them. Not here: what that forbids.
 */
import type { Socket } from "node:net";
import { cgroupRecord } from "./cgroup.ts";
import { peerOf } from "./peer-process.ts";
import type { KnownProcess } from "./process-family.ts";
import { formatMark, type ProcessMark, parseMark, readMark } from "./process-mark.ts";
import { type ProcessRow, readProcess } from "./process-table.ts";

/** Set by the daemon for every process of an agent; the second only where a process serves one session. */
export const AGENT_VARIABLE = "DRAGOMAN_AGENT";
export const SESSION_VARIABLE = "DRAGOMAN_SESSION_ID";

export type ProcessOwner = {
  agent: string | null;
  /** Null: the process serves several sessions, or it is not known which one. */
  session_id: string | null;
  /**
   * `descent`: a parent, grandparent … is a process the daemon started, or it was seen as a descendant of one, or is in its control group. `mark`: only its environment, or that of a parent, says so; it can have been changed
   * to name another process of the daemon, but not to name none.
   */
  known_by: "descent" | "mark";
};

type Started = {
  pid: number;
  startTime: string | null;
  mark: ProcessMark;
  agent: string | null;
  session_id: string | null;
  members(): readonly KnownProcess[];
};

/** Records stay known for this many starts. */
const REMEMBERED = 10_000;
const DEEPEST = 128;

const byRecord = new Map<string, Started>();
const byPid = new Map<number, Started>();

/** Called once for each process that the daemon starts and records. */
export function noteOwner(
  child: { pid: number; startTime: string | null; mark: ProcessMark },
  env: NodeJS.ProcessEnv,
  members: Started["members"],
): void {
  const started: Started = { ...child, agent: env[AGENT_VARIABLE] ?? null, session_id: env[SESSION_VARIABLE] ?? null, members };
  byRecord.set(child.mark.record, started);
  byPid.set(child.pid, started);
  const [oldest] = byRecord.values();
  if (byRecord.size <= REMEMBERED || !oldest) return;
  byRecord.delete(oldest.mark.record);
  if (byPid.get(oldest.pid) === oldest) byPid.delete(oldest.pid);
}

/** For whom this process runs, when it came from an agent of this instance; null when nothing says so. */
export function findOwner(pid: number, instance: string): ProcessOwner | null {
  const line = ancestorsOf(pid);
  for (const row of line) {
    const started = startedAs(row) ?? seenBelow(row) ?? inCgroupOf(row);
    if (started?.mark.instance === instance) return ownerOf(started, "descent");
  }
  for (const { pid } of line) {
    const mark = readMark(pid);
    if (mark?.instance === instance) return ownerOf(byRecord.get(mark.record), "mark");
  }
  return null;
}

function startedAs({ pid, startTime }: ProcessRow): Started | undefined {
  const started = byPid.get(pid);
  return started?.startTime === startTime ? started : undefined;
}

/** It left its parents and perhaps dropped its mark, but was seen before that. */
function seenBelow({ pid, startTime }: ProcessRow): Started | undefined {
  for (const started of byPid.values())
    if (started.members().some((known) => known.pid === pid && known.startTime === startTime)) return started;
  return undefined;
}

function inCgroupOf({ pid }: ProcessRow): Started | undefined {
  const record = cgroupRecord(pid);
  return record === null ? undefined : byRecord.get(record);
}

/** The mark of the agent, of whatever daemon, whose process is at the other end of the connection; undefined when nothing says so. */
export async function agentMarkOf(socket: Socket): Promise<string | undefined> {
  const peer = await peerOf(socket);
  if (peer.kind !== "process") return undefined;
  const mark = ancestorsOf(peer.pid)
    .map(({ pid }) => readMark(pid))
    .find((each) => each !== null);
  return mark ? formatMark(mark) : undefined;
}

/** The same for the text of a mark, as a client passes it on. */
export function ownerOfMark(text: string, instance: string): ProcessOwner | null {
  const mark = parseMark(text);
  return mark?.instance === instance ? ownerOf(byRecord.get(mark.record), "mark") : null;
}

const ownerOf = (started: Started | undefined, known_by: ProcessOwner["known_by"]): ProcessOwner => ({
  agent: started?.agent ?? null,
  session_id: started?.session_id ?? null,
  known_by,
});

/** The process, its parent and so on; without init, and without the daemon: what the daemon itself does is no agent's doing. */
function ancestorsOf(pid: number): ProcessRow[] {
  const line: ProcessRow[] = [];
  for (let at = pid; at > 1 && at !== process.pid && line.length < DEEPEST; ) {
    const row = readProcess(at);
    if (row === null) break;
    line.push(row);
    at = row.ppid;
  }
  return line;
}
