// When a turn begins and which of our messages it took. Every native turn starts with `init`; a turn nobody asked for is the agent's own.
import type { Draft } from "../../../schema/draft.ts";
import { arr, type JsonRecord } from "../../json.ts";
import type { ClaudeState } from "./state.ts";

/** A message went to the CLI: it starts a turn, or waits for the one that runs. */
export function messageSent(state: ClaudeState, drafts: Draft[]): void {
  if (state.turnOpen) return;
  state.turnOpen = true;
  state.turns += 1;
  drafts.push({ do: "turn.start", initiator: "client" });
}

/** `init` (or a result without one): the CLI works on what it took from the queue. */
export function openTurn(state: ClaudeState, frame: JsonRecord, drafts: Draft[]): void {
  const taken = takeMessages(state, frame);
  state.between = false;
  if (state.turnOpen) return;
  const first = state.turns === 0;
  state.turnOpen = true;
  state.turns += 1;
  // The first turn of a process without a message on stdin is that of a prompt on the command line.
  drafts.push({ do: "turn.start", initiator: taken || first ? "client" : "agent" });
}

/** All queued messages are merged into one turn; with uuids the CLI shows which. */
export function takeMessages(state: ClaudeState, frame: JsonRecord): boolean {
  const before = state.waiting.length;
  const named = new Set(arr(frame.user_message_uuids));
  const tellsUuids = state.sawLifecycle || named.size > 0;
  state.waiting = state.waiting.filter((message) => message.uuid !== null && tellsUuids && !named.has(message.uuid));
  return state.waiting.length < before;
}

/**
 * Sent while the turn ran and not taken yet. 2.1: what comes while text streams is not folded in; the CLI makes a native turn of it when this one is over. For
 * the person it steered the turn that ran, and that turn's id was returned to them: it goes on. Only the CLI's own word on each message counts, so that no turn
 * waits for a message that was taken long ago.
 */
export const steeredWaits = ({ sawLifecycle, waiting }: ClaudeState): boolean =>
  sawLifecycle && waiting.some(({ uuid }) => uuid !== null);

/** The turn went on for messages that will not be taken: no result will end it. */
export function nothingFollows(state: ClaudeState, drafts: Draft[]): void {
  for (const key of state.plans.values()) drafts.push({ do: "item.complete", key });
  drafts.push({
    do: "turn.end",
    stop_reason: state.interrupted ? "interrupted" : "end_turn",
    ...(state.turnUsage ? { usage: state.turnUsage } : {}),
  });
  state.endTurn();
}
