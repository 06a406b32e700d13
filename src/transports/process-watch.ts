/**
 * Looks at the families of all running agents from time to time, so that a descendant is known (and recorded) before its parent dies. One look serves all.
 * Often while agents talk, seldom while they are silent, and never more than a small share of the time.
 */
import { type ProcessFamily, Snapshot } from "./process-family.ts";

const BUSY_MS = 1_000;
const QUIET_MS = 10_000;
/** The pause after a look is at least this many times as long as the look took. */
const COST_RATIO = 50;

export interface Watched {
  family: ProcessFamily;
  /** Told when a look found somebody new. */
  onGrowth(family: ProcessFamily): void;
}

const watched = new Map<Watched, { active: boolean }>();
let timer: NodeJS.Timeout | null = null;
let dueAt = 0;
let lastCostMs = 0;

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

/** It said or was told something: it may be starting processes. */
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
  timer = setTimeout(lookAround, at - performance.now()).unref();
}

function lookAround(): void {
  timer = null;
  const began = performance.now();
  const snapshot = new Snapshot();
  let busy = false;
  for (const [one, state] of watched) {
    busy ||= state.active;
    state.active = false;
    if (one.family.look(snapshot, false).grew) one.onGrowth(one.family);
  }
  lastCostMs = performance.now() - began;
  if (watched.size > 0) schedule(busy ? BUSY_MS : QUIET_MS);
}
