/**
 * Gives memory back when the daemon has worked and then rests. V8 collects only when something asks for more, and keeps the room for new objects as large as the busiest moment
 * needed it: a daemon that is open all day would keep what its first busy minute took. Not for programs that embed the daemon: their process is theirs.
 */
import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const LOOK_MS = 10_000;
/** Shares of the time between two looks in which the event loop had something to do. */
const BUSY = 0.05;
const QUIET = 0.02;
/** V8 makes the room for new objects smaller by halves, and only where little was allocated before. */
const COLLECTIONS = 2;
/** To collect in a larger heap would hold up whoever comes just then. */
const MAX_HEAP_BYTES = 256 * 1024 * 1024;

/** What it returns ends it. */
export function giveMemoryBack(): () => void {
  const worked = workedShare();
  const rested = restWatch();
  const look = (): void => {
    if (!rested(worked())) return;
    collectGarbage();
    // What the collection needed is no work of the daemon.
    worked();
  };
  const timer = setInterval(look, LOOK_MS).unref();
  return () => clearInterval(timer);
}

/** Each call: the share of the time since the call before in which the event loop had something to do. */
export function workedShare(): () => number {
  let seen = performance.eventLoopUtilization();
  return () => {
    const before = seen;
    seen = performance.eventLoopUtilization();
    return performance.eventLoopUtilization(seen, before).utilization;
  };
}

/** Each call is a look, given the share that was worked since the look before: whether to collect now. */
export function restWatch(): (worked: number) => boolean {
  // The start is work, too.
  let due = COLLECTIONS;
  return (worked) => {
    if (worked >= BUSY) due = COLLECTIONS;
    else if (due > 0 && worked < QUIET && process.memoryUsage().heapUsed < MAX_HEAP_BYTES) {
      due--;
      return true;
    }
    return false;
  };
}

let collector: (() => void) | undefined;

export function collectGarbage(): void {
  if (!collector) {
    // Only contexts that are made after this have the function.
    setFlagsFromString("--expose-gc");
    collector = runInNewContext("gc") as () => void;
  }
  collector();
}
