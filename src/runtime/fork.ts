/**
 * A new conversation from the beginning of another one. Any record may be the last: calls and the turn that are open at that point are closed, so that the fork is
 * balanced. Files are not touched.
 */
import type { JournalRecord } from "./records.ts";
import { RuntimeState } from "./state.ts";

export interface ForkOptions {
  /** How many records of the original the fork has; received bytes do not count: they change nothing. */
  readonly records: number;
  readonly sessionId: string;
  readonly now: number;
}

/** The records of the fork's journal. */
export function fork(original: readonly JournalRecord[], options: ForkOptions): JournalRecord[] {
  const kept = beginning(original, options.records);
  const state = RuntimeState.from(kept);
  const time = options.now;
  const records: JournalRecord[] = [...kept];
  for (const call of state.calls.values()) {
    if (call.status !== "started") continue;
    const output = "The conversation was forked while this ran: whether it was done is not known.";
    const ended = { is_error: true, note: "state_unknown", exit_code: null, duration_ms: 0, artifacts: [] };
    records.push({ type: "call.finished", time, call: call.key, output, ...ended });
  }
  for (const { message_id } of state.queue) records.push({ type: "message.removed", time, message_id, why: "removed" });
  if (state.turn !== null) {
    const message = "The conversation was forked in the middle of this turn.";
    records.push({ type: "turn.ended", time, turn_id: state.turn.id, reason: "interrupted", error_code: null, message });
  }
  if (state.opened) records.push({ type: "session.opened", time, session_id: options.sessionId, settings: state.settings });
  return records;
}

function beginning(records: readonly JournalRecord[], count: number): readonly JournalRecord[] {
  let counted = 0;
  const end = records.findIndex(({ type }) => type !== "received" && ++counted > count);
  return end === -1 ? records : records.slice(0, end);
}

/**
 * The beginning of a journal up to request `n`, with its turn open: opened and resumed, the loop goes on from there with a living model. Throws when there is no
 * such request.
 */
export function untilRequest(records: readonly JournalRecord[], n: number): JournalRecord[] {
  const at = records.findIndex((record) => record.type === "request.sent" && record.n === n);
  if (at === -1) throw new Error(`The journal has no request ${n}: it has ${RuntimeState.from(records).requests}.`);
  return records.slice(0, at);
}
