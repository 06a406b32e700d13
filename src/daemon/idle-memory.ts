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
export function giveMemoryBack(everyMs = LOOK_MS): () => void {
  let seen = performance.eventLoopUtilization();
  // The start is work, too.
  let due = COLLECTIONS;
  const look = (): void => {
    const { utilization } = performance.eventLoopUtilization(seen);
    if (utilization >= BUSY) due = COLLECTIONS;
    else if (due > 0 && utilization < QUIET && process.memoryUsage().heapUsed < MAX_HEAP_BYTES) {
      collectGarbage();
      due--;
    }
    // What the collection needed is no work of the daemon.
    seen = performance.eventLoopUtilization();
  };
  const timer = setInterval(look, everyMs).unref();
  return () => clearInterval(timer);
}

let collector: (() => void) | undefined;

function collectGarbage(): void {
  if (!collector) {
    // Only contexts that are made after this have the function.
    setFlagsFromString("--expose-gc");
    collector = runInNewContext("gc") as () => void;
  }
  collector();
}
