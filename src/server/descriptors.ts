// How many files and sockets this process may have open, and whether that is enough. Nothing else is loaded here: it is asked before anything else is.
import { readFileSync } from "node:fs";

/** The code, the database and an agent or two. Loading alone takes over 200 at once. */
const NEEDED = 256;

/** Infinity where the system does not say. */
export function descriptorLimit(): number {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1"))?.[1];
    return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** What to do when there are too few; null when there are enough. */
export function descriptorAdvice(limit = descriptorLimit()): string | null {
  if (limit >= NEEDED) return null;
  return `Only ${limit} files and connections may be open here, and the daemon needs at least ${NEEDED}. Raise the limit first: ulimit -n 4096 (in a systemd unit: LimitNOFILE=4096).`;
}
