// Turns: v1 begins one with our prompt and ends it with the prompt's answer; v2 answers at once and reports the turn by state_update.
import type { Draft } from "../../../schema/draft.ts";
import type { StopReason } from "../../../schema/event-data.ts";
import { arr, isRecord, type JsonRecord, own, rec, records, str } from "../../json.ts";
import { blockParts, textOfParts } from "./blocks.ts";
import { type Fault, faultOf, faultOfText } from "./errors.ts";
import { type Meaning, means, unknown } from "./meaning.ts";
import { closeMessage, flushHeld, refusalItem, settleEcho, userItem } from "./messages.ts";
import { closePlans } from "./plans.ts";
import { type Answer, type RpcError, readError } from "./rpc.ts";
import type { PendingPrompt, SessionState, Surroundings } from "./session-state.ts";
import { cutCalls, cutSubagents } from "./subagents.ts";
import { closeDenied } from "./tools.ts";
import { turnUsage } from "./usage.ts";

/** We sent session/prompt. One that is sent while another runs waits for its turn, as it does in the agent. */
/** An extension that claude-agent-acp and codex-acp share. */
export const STEER = "_session/steering";

/** The agent took a message into its running turn. No agent says it again. */
export function onSteered(state: SessionState, params: JsonRecord, result: JsonRecord): Draft[] {
  if (str(result.outcome) !== "injected") return [];
  return [...closeMessage(state), userItem(state, blockParts(params.prompt))];
}

export function onPromptSent(state: SessionState, around: Surroundings, id: string, params: JsonRecord): Draft[] {
  const parts = blockParts(params.prompt);
  const prompt: PendingPrompt = { id, parts, text: textOfParts(parts) };
  const settled: Draft[] =
    state.replaying === "until_prompt" ? [] : [...flushHeld(state), ...(state.turn === "none" ? closeMessage(state) : [])];
  state.replaying = "no";
  if (state.current !== null) {
    state.queue.push(prompt);
    return [];
  }
  return [
    ...settled,
    ...(state.turn === "agent" ? endTurn(state, around, { stop: "end_turn", error: null }, {}) : []),
    ...begin(state, around, prompt),
  ];
}

function begin(state: SessionState, around: Surroundings, prompt: PendingPrompt): Draft[] {
  state.current = prompt;
  const drafts = startTurn(state, "client");
  if (around.version >= 2) {
    state.awaitingEcho = prompt;
    return drafts;
  }
  return [...drafts, userItem(state, prompt.parts)];
}

export function startTurn(state: SessionState, initiator: "client" | "agent", nativeId?: string): Draft[] {
  if (state.turn !== "none") return [];
  state.turn = initiator;
  state.turns += 1;
  state.silent = true;
  state.origin = null;
  state.turnUsage = null;
  state.faultSeen = null;
  state.ended.clear();
  return [{ do: "turn.start", initiator, ...(nativeId === undefined ? {} : { native_turn_id: nativeId }) }];
}

/** The answer to session/prompt. Null: its turn is over, or has not begun and will end with this. */
export function onPromptAnswer(state: SessionState, around: Surroundings, id: string, answer: Answer): Draft[] | null {
  if (state.current?.id === id) return answered(state, around, answer);
  const waiting = state.queue.find((prompt) => prompt.id === id);
  if (waiting !== undefined) waiting.answer = answer;
  return null;
}

/** Whatever the agent says of it: it was told to stop, and it has stopped. */
const STOPPED: Fault = { stop: "interrupted", error: null };

function answered(state: SessionState, around: Surroundings, answer: Answer): Draft[] {
  if ("error" in answer) return endTurn(state, around, state.cancelSent ? STOPPED : faultWith(state, answer.error), {});
  const result = rec(answer.result);
  if (str(result.stopReason) === undefined && around.version >= 2) return [];
  return endTurn(state, around, endOf(state, around, result), result);
}

/** v2: running, requires_action, idle. */
export function onStateUpdate(state: SessionState, around: Surroundings, update: JsonRecord): Meaning {
  switch (str(update.state)) {
    case "running":
    case "requires_action":
      return means(startTurn(state, state.current === null ? "agent" : "client"));
    case "idle": {
      const drafts = onIdle(state, around, update);
      const strange = update.stopReason === "error" || update.stopReason === null ? null : strangeStop(update.stopReason);
      return strange === null ? means(drafts) : unknown(strange, drafts);
    }
    case "unknown":
      return means();
    default:
      return unknown(`state ${str(update.state) ?? "without a name"}`);
  }
}

function onIdle(state: SessionState, around: Surroundings, update: JsonRecord): Draft[] {
  if (state.turn === "none") return [];
  const lasting = background(state, update.background);
  return [...lasting, ...endTurn(state, around, idleFault(state, around, update), update)];
}

function idleFault(state: SessionState, around: Surroundings, update: JsonRecord): Fault {
  if (update.stopReason !== "error") return endOf(state, around, update);
  return state.cancelSent ? STOPPED : faultWith(state, readError(rec(update.error)));
}

/** v2 names what goes on after the turn: the calls themselves, or the terminals they run in. */
function background(state: SessionState, work: unknown): Draft[] {
  const ids = new Set(
    records(work).flatMap((each) =>
      each.type === "terminal" ? (state.terminals.get(str(each.terminalId) ?? "")?.call ?? []) : (str(each.toolCallId) ?? []),
    ),
  );
  return state.openCalls().flatMap((call): Draft[] => {
    if (!ids.has(call.id)) return [];
    call.lasting = true;
    return [
      { do: "item.update", key: call.key, outlives_turn: true },
      ...(call.resultOpen ? [{ do: "item.update", key: call.resultKey, outlives_turn: true } as const] : []),
    ];
  });
}

/** Null: a way to stop that is known, or none. */
export const strangeStop = (reason: unknown): string | null =>
  reason === undefined || own(STOPS, str(reason) ?? "") !== undefined ? null : `stop reason ${String(reason)}`;

const STOPS: Record<string, StopReason> = {
  end_turn: "end_turn",
  max_tokens: "output_length",
  max_turn_requests: "max_turns",
  refusal: "refusal",
  cancelled: "interrupted",
};

/** An error that was said as a text before: once is enough, and the text often says more ("Authentication required"). */
function faultWith(state: SessionState, error: RpcError): Fault {
  const { held } = state;
  state.held = null;
  if (held === null || error.message.includes(held.text.trim())) return faultOf(error);
  return faultOf({ ...error, message: `${error.message}: ${held.text.trim()}` });
}

/** How a turn ended; `end_turn` is not always success. */
function endOf(state: SessionState, around: Surroundings, result: JsonRecord): Fault {
  const stop = own(STOPS, str(result.stopReason) ?? "end_turn") ?? "end_turn";
  const { held } = state;
  if (stop === "refusal" && held !== null) {
    state.held = null;
    return { stop, error: null, refusal: held.text };
  }
  if (stop !== "end_turn") return { stop, error: null };
  if (state.cancelSent && (held !== null || state.faultSeen !== null)) return STOPPED;
  // copilot 1.0, codex-acp 2.6: a text that looks like a fault, mostly in a turn that used no tokens.
  if (held !== null && (held.fault === "always" || (held.fault === "no_usage" && !isRecord(result.usage)))) {
    state.held = null;
    return faultOfText(state.faultSeen ?? held.text);
  }
  if (state.faultSeen !== null) return faultOfText(state.faultSeen);
  if (around.quirks.silentTurnIsRefusal && state.silent && usedNoModel(result) && !state.current?.text.startsWith("/")) {
    return { stop: "refusal", error: null };
  }
  return { stop, error: null };
}

const usedNoModel = (result: JsonRecord): boolean => {
  const { quota } = rec(result._meta);
  return isRecord(quota) && arr(quota.model_usage).length === 0;
};

export function endTurn(state: SessionState, around: Surroundings, fault: Fault, result: JsonRecord): Draft[] {
  const cut = fault.stop === "interrupted" || fault.stop === "error";
  const drafts: Draft[] = [
    ...settleEcho(state, "assistant"),
    ...flushHeld(state),
    ...closeMessage(state, cut),
    ...closeDenied(state, around),
    ...closePlans(state),
    ...cutSubagents(state, cut),
  ];
  const usage = turnUsage(state, result);
  if (fault.refusal !== undefined) drafts.push(refusalItem(state, fault.refusal));
  if (fault.error !== null) drafts.push({ do: "error", error: fault.error });
  if (usage !== null && (usage.input_tokens > 0 || usage.output_tokens > 0))
    drafts.push({ do: "event", type: "usage.updated", data: { scope: "turn", ...usage } });
  drafts.push({
    do: "turn.end",
    stop_reason: fault.stop,
    ...(fault.stop === "error" && fault.error !== null ? { error_code: fault.error.code } : {}),
    ...(usage === null ? {} : { usage }),
  });
  cutCalls(state);
  state.turn = "none";
  state.current = null;
  state.origin = null;
  state.retrying = false;
  state.cancelSent = false;
  const next = state.queue.shift();
  if (next !== undefined)
    return [...drafts, ...begin(state, around, next), ...(next.answer === undefined ? [] : answered(state, around, next.answer))];
  const ahead = state.agentTurnAhead;
  state.agentTurnAhead = null;
  return ahead === null ? drafts : [...drafts, ...startTurn(state, "agent", ahead)];
}

/** qwen 0.24: a background task's end wakes the model; the turn is announced before the prompt's own is answered. */
export function onAgentTurn(state: SessionState, id: string): Draft[] {
  if (state.turn === "client") {
    state.agentTurnAhead = id;
    return [];
  }
  return startTurn(state, "agent", id);
}

export function onAgentTurnEnd(state: SessionState, around: Surroundings, reason: unknown): Draft[] {
  state.agentTurnAhead = null;
  const stop = own(STOPS, str(reason) ?? "") ?? "end_turn";
  return state.turn === "agent" ? endTurn(state, around, { stop, error: null }, {}) : [];
}

/** The process is gone: what ran is over, and nobody will say so. */
export function onProcessGone(state: SessionState, around: Surroundings, how: string): Draft[] {
  state.agentTurnAhead = null;
  if (state.turn === "none") return closeMessage(state, true);
  const error = {
    message: `The agent's process ended (${how}) before the turn did. Send the message again.`,
    code: "execution_error" as const,
    details: { error_source: "transport" as const, retryable: true },
  };
  const drafts: Draft[] = [];
  // Each message that waited has a turn, which ends with the process too.
  while (inTurn(state)) drafts.push(...endTurn(state, around, state.cancelSent ? STOPPED : { stop: "error", error }, {}));
  return drafts;
}

const inTurn = ({ turn }: SessionState): boolean => turn !== "none";
