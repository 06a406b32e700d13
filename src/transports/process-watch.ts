/**
 * Looks at the families of all running agents from time to time, so that a descendant is known (and recorded) before its parent dies. One look serves all.
 * Often while agents talk, seldom while they are silent, never more than a small share of the time, and in portions: with hundreds of processes a look takes
 * many milliseconds, for which no agent should be kept waiting.
 */
import { setImmediate } from "node:timers/promises";
import { type ProcessFamily, Snapshot } from "./process-family.ts";
import { listProcessesInPortions } from "./process-table.ts";

const BUSY_MS = 1_000;
const QUIET_MS = 10_000;
/** The pause after a look is at least this many times as long as the look took. */
const COST_RATIO = 50;

export interface Watched {
  family: ProcessFamily;
  /** Called when a look found somebody new. */
  onGrowth(family: ProcessFamily): void;
}

const watched = new Map<Watched, { active: boolean }>();
let timer: NodeJS.Timeout | null = null;
let dueAt = 0;
let lastCostMs = 0;
let looking = false;

export function watchFamily(one: Watched): void {
  watched.set(one, { active: true });
  schedule(BUSY_MS);
}

export function unwatchFamily(one: Watched): void {
  watched.delete(one);
  if (watched.size > 0 || timer === null) return;
  clearTimeout(timer);
  timer = null;
}

/** It sent or got something: it may be starting processes. */
export function noteActivity(one: Watched): void {
  const state = watched.get(one);
  if (state === undefined || state.active) return;
  state.active = true;
  schedule(BUSY_MS);
}

function schedule(ms: number): void {
  const at = performance.now() + Math.max(ms, lastCostMs * COST_RATIO);
  if (timer !== null && dueAt <= at) return;
  if (timer !== null) clearTimeout(timer);
  dueAt = at;
  timer = setTimeout(() => void lookAround(), at - performance.now()).unref();
}

async function lookAround(): Promise<void> {
  timer = null;
  if (looking) return;
  looking = true;
  let busy = false;
  lastCostMs = 0;
  const since = performance.now();
  try {
    const snapshot = new Snapshot(await listProcessesInPortions(spend));
    for (const [one, state] of watched) {
      busy ||= state.active;
      state.active = false;
      const began = performance.now();
      // Whoever has looked meanwhile has seen more than is in this snapshot.
      if (one.family.lookedAt > since) continue;
      if (one.family.look(snapshot, false).grew) one.onGrowth(one.family);
      spend(performance.now() - began);
      await setImmediate();
    }
  } catch {
    // No descriptor is left: the next look may see more.
  }
  looking = false;
  if (watched.size > 0) schedule(busy ? BUSY_MS : QUIET_MS);
}

/** Of the event loop's time. */
function spend(ms: number): void {
  lastCostMs += ms;
}
