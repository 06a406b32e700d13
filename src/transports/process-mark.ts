/**
 * The mark that every process of an agent carries in its environment: `DRAGOMAN_PROCESS=<instance>:<record>`. Descendants inherit it, also through setsid
 * and a double fork, so they are recognised when neither parent nor group shows where they come from. A process can drop its mark: a mark proves that a
 * process came from an agent, its absence proves nothing.
 */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const PROCESS_MARK_VARIABLE = "DRAGOMAN_PROCESS";

export interface ProcessMark {
  /** Of the data directory, see `instanceId`. */
  instance: string;
  /** Of the process record: one for each process that the daemon itself started. */
  record: string;
}

/** Name of the file with the id of the data directory. */
const INSTANCE = "instance";
const ID = /^[0-9a-f]{32}$/;
const IN_PS = new RegExp(`^\\s*(\\d+) .*\\b${PROCESS_MARK_VARIABLE}=([0-9a-f]{32}:[0-9a-f]{32})(?: |$)`);

const newId = (): string => randomBytes(16).toString("hex");

/** The id of the data directory that this folder of process records belongs to; made at first use. */
export function instanceId(processDir: string): string {
  const path = join(processDir, INSTANCE);
  const known = readInstance(processDir);
  if (known !== null) return known;
  mkdirSync(processDir, { recursive: true, mode: 0o700 });
  const id = newId();
  try {
    writeFileSync(path, `${id}\n`, { mode: 0o600, flag: "wx" });
    return id;
  } catch {
    // Somebody else was faster, or the file is damaged: then it is replaced.
    const made = readInstance(processDir);
    if (made === null) writeFileSync(path, `${id}\n`, { mode: 0o600 });
    return made ?? id;
  }
}

/** Null while it has none. */
export function readInstance(processDir: string): string | null {
  try {
    const id = readFileSync(join(processDir, INSTANCE), "latin1").trim();
    return ID.test(id) ? id : null;
  } catch {
    return null;
  }
}

/** A mark that no other process has and nobody can guess. */
export function newMark(instance: string): ProcessMark {
  return { instance, record: newId() };
}

export function formatMark({ instance, record }: ProcessMark): string {
  return `${instance}:${record}`;
}

/** Null for anything that `formatMark` does not write. */
export function parseMark(text: string): ProcessMark | null {
  const [instance, record, more] = text.split(":");
  if (instance === undefined || record === undefined || more !== undefined) return null;
  return ID.test(instance) && ID.test(record) ? { instance, record } : null;
}

/** The mark of a live process; null when it has none, is gone, or belongs to another user. */
export function readMark(pid: number): ProcessMark | null {
  if (!Number.isSafeInteger(pid) || pid <= 0) return null;
  if (process.platform !== "linux") return listPs(["-p", String(pid)]).get(pid) ?? null;
  try {
    return markIn(readFileSync(`/proc/${pid}/environ`, "latin1"));
  } catch {
    return null;
  }
}

/** All live processes that carry a mark, with their marks. On macOS the system hides the environment of its own programs. */
export function listMarked(): Map<number, ProcessMark> {
  if (process.platform !== "linux") return listPs(["-ax"]);
  const found = new Map<number, ProcessMark>();
  for (const name of readdirSync("/proc")) {
    if (!/^[0-9]+$/.test(name)) continue;
    const mark = readMark(Number(name));
    if (mark !== null) found.set(Number(name), mark);
  }
  return found;
}

/** Pids of the live processes that carry the mark of this record. */
export function findMarked(record: string): number[] {
  return [...listMarked()].flatMap(([pid, mark]) => (mark.record === record ? [pid] : []));
}

/** `environ`: the variables of a process, each ended by a NUL. */
function markIn(environ: string): ProcessMark | null {
  const start = `${PROCESS_MARK_VARIABLE}=`;
  for (let at = environ.indexOf(start); at !== -1; at = environ.indexOf(start, at + 1)) {
    if (at > 0 && environ[at - 1] !== "\0") continue;
    const end = environ.indexOf("\0", at);
    const mark = parseMark(environ.slice(at + start.length, end === -1 ? undefined : end));
    if (mark !== null) return mark;
  }
  return null;
}

function listPs(select: string[]): Map<number, ProcessMark> {
  const found = new Map<number, ProcessMark>();
  try {
    const table = execFileSync("ps", [...select, "-E", "-ww", "-o", "pid=,command="], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      maxBuffer: 64 * 1024 * 1024,
    });
    for (const line of table.split("\n")) {
      const [, pid, text] = IN_PS.exec(line) ?? [];
      const mark = text === undefined ? null : parseMark(text);
      if (mark !== null) found.set(Number(pid), mark);
    }
  } catch {
    // No `ps`, or nobody there: nothing is known.
  }
  return found;
}
