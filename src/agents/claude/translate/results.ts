// The end of a turn: `result`, and the end of the process. An API error is a `success` with `is_error`; each failure is said once.
import type { Draft } from "../../../schema/draft.ts";
import type { ErrorData, StopReason, Usage } from "../../../schema/event-data.ts";
import type { Translation } from "../../contract.ts";
import { isRecord, type JsonRecord, num, rec, str } from "../../json.ts";
import { mapped, noted } from "../../translation.ts";
import { apiError, resultError } from "./errors.ts";
import { closeMessages } from "./messages.ts";
import { ADDRESS, type ClaudeState } from "./state.ts";
import { toolResult } from "./tools.ts";
import { openTurn, steeredWaits } from "./turns.ts";
import { apiUsage, contextOf, modelUsage, usageSum } from "./usage.ts";

const SUBTYPES = new Set([
  "success",
  "error_during_execution",
  "error_max_turns",
  "error_max_budget_usd",
  "error_max_structured_output_retries",
]);

export function result(state: ClaudeState, frame: JsonRecord): Translation {
  const drafts: Draft[] = [];
  const said = str(frame.subtype) ?? "";
  const subtype = SUBTYPES.has(said) ? said : "other";
  // A start that failed before any turn: the connection says why, with the message that could not be sent.
  if (!state.turnOpen && !state.sawInit && frame.is_error === true)
    return noted(ADDRESS, `result/${subtype}`, "startup_failure", {
      errors: frame.errors ?? [],
      reason: frame.startup_failure_reason ?? null,
    });
  if (!state.turnOpen) openTurn(state, frame, drafts);
  closeMessages(state, drafts);
  deferredCall(state, frame, drafts);
  const end = endOf(state, frame);
  answerText(state, frame, end, drafts);
  if (end.error) drafts.push({ do: "error", error: end.error });
  state.turnUsage = usageSum(state.turnUsage, accounting(state, frame, drafts));
  if (end.stop !== "interrupted" && steeredWaits(state)) {
    state.goOn();
    return mapped(ADDRESS, `result/${subtype}`, drafts);
  }
  const usage = state.turnUsage;
  for (const key of state.plans.values()) drafts.push({ do: "item.complete", key });
  drafts.push({
    do: "turn.end",
    stop_reason: end.stop,
    ...(end.stop === "error" && end.error ? { error_code: end.error.code } : {}),
    ...(usage ? { usage } : {}),
  });
  state.endTurn();
  return mapped(ADDRESS, `result/${subtype}`, drafts);
}

const DEFERRED = "A hook deferred this call: it has not run.";

/** A hook put the call off (`permissionDecision: defer`) until the session is resumed: nothing else says what became of it. */
function deferredCall(state: ClaudeState, frame: JsonRecord, drafts: Draft[]): void {
  const id = str(rec(frame.deferred_tool_use).id);
  if (id === undefined || !state.tools.has(state.callName("", id))) return;
  const made: Draft[] = [];
  toolResult(state, { tool_use_id: id, content: DEFERRED, is_error: true }, undefined, "", made);
  drafts.push(...made.map((draft) => ({ ...draft, synthetic: true })));
}

type End = { stop: StopReason; error?: ErrorData };

function endOf(state: ClaudeState, frame: JsonRecord): End {
  const subtype = str(frame.subtype);
  const terminal = str(frame.terminal_reason) ?? "";
  const stop = str(frame.stop_reason);
  if (terminal.startsWith("aborted")) return { stop: "interrupted" };
  if (subtype === "success" && frame.is_error !== true) {
    if (stop === "refusal") return { stop: "refusal" };
    return { stop: stop === "max_tokens" ? "output_length" : "end_turn" };
  }
  if (subtype === "success") {
    if (stop === "refusal" || state.refused) return { stop: "refusal" };
    const error = state.apiError ?? apiError(frame, str(frame.result) ?? "");
    const better = OVERFLOWS.has(terminal) ? { ...error, code: "context_overflow" as const } : error;
    return { stop: STOPS.has(better.code) ? (better.code as StopReason) : "error", error: better };
  }
  if (subtype === "error_during_execution" && terminal === "" && state.interrupted) return { stop: "interrupted" };
  const error = resultError(frame);
  if (STOPS.has(error.code)) return { stop: error.code as StopReason, error };
  return { stop: "error", error: state.apiError ?? error };
}

/** Limits: how a turn ended that reached one has the same word as its error. */
const STOPS: ReadonlySet<string> = new Set(["output_length", "max_turns", "max_budget"] satisfies StopReason[]);

/** Reasons of an end that say that the context is full. */
const OVERFLOWS = new Set(["prompt_too_long", "blocking_limit", "rapid_refill_breaker"]);

/** What only the result says: structured output, and the text when nothing else showed it (`--output-format json`). */
function answerText(state: ClaudeState, frame: JsonRecord, end: End, drafts: Draft[]): void {
  const key = state.newKey("answer", str(frame.uuid));
  const add = (content: Extract<Draft, { do: "item.add" }>["item"]["content"] & object): void => {
    drafts.push({ do: "item.add", item: { key, kind: "message", role: "assistant", content } });
  };
  const structured = frame.structured_output;
  const text = str(frame.result) ?? "";
  if (structured !== undefined && structured !== null) add([{ type: "json", json: structured }]);
  else if (end.stop === "refusal" && !state.refusalShown && frame.is_error === true && text !== "")
    add([{ type: "refusal", text }]);
  else if (end.stop === "end_turn" && !state.shown && text !== "") add([{ type: "text", text }]);
}

/** `usage` is the turn's, the totals are the session's: the turn's cost is what the total grew by. */
function accounting(state: ClaudeState, frame: JsonRecord, drafts: Draft[]): Usage | null {
  const total = num(frame.total_cost_usd);
  const since = frame.model_usage_since_last_result;
  const spent = isRecord(since)
    ? Object.values(since).reduce((sum: number, model) => sum + (isRecord(model) ? (num(model.costUSD) ?? 0) : 0), 0)
    : undefined;
  const before = state.totalCost ?? (holdsEarlierTurns(state, frame) ? undefined : 0);
  const cost = spent ?? (total === undefined || before === undefined ? undefined : Math.max(0, total - before));
  if (total !== undefined) state.totalCost = total;
  const session = modelUsage(frame.modelUsage);
  if (session)
    drafts.push({
      do: "event",
      type: "usage.updated",
      data: {
        scope: "session",
        ...session,
        ...(total === undefined ? {} : { cost_usd: total }),
        ...(state.contextUsed === null ? {} : { context_used: state.contextUsed }),
      },
    });
  const usage = apiUsage(frame.usage);
  if (!usage) return null;
  return { ...usage, ...(cost === undefined ? {} : { cost_usd: cost }) };
}

/**
 * Some versions begin a resumed process with the totals of the session, others with 0, and none of them says which. One model cannot have taken more
 * tokens than the turn unless sub-agents did: then the first total is not the turn's cost. A turn that failed does not count its last answer.
 */
function holdsEarlierTurns(state: ClaudeState, frame: JsonRecord): boolean {
  if (frame.subtype !== "success" || state.roots.size > 0 || !isRecord(frame.modelUsage)) return false;
  const turn = apiUsage(frame.usage);
  const models = Object.values(frame.modelUsage).map((model) => modelUsage({ model }));
  return turn !== null && models.some((model) => model !== null && contextOf(model) > contextOf(turn));
}

/** The process, or the SDK's query, is over. A turn still open was cut short. */
export function exited(state: ClaudeState, data: unknown): Translation {
  const info = isRecord(data) ? data : {};
  const drafts: Draft[] = [];
  if (state.plain) drafts.push({ do: "item.complete", key: state.plain });
  const thrown = info.$sdk === "thrown" ? (str(info.message) ?? "The query failed.") : null;
  const code = num(info.code);
  const signal = str(info.signal);
  if (state.turnOpen) {
    // What was still being written was cut, unless it is the plain text of `-p`, which ends with the process.
    if (!state.plain) for (const message of state.messages.values()) message.aborted = true;
    closeMessages(state, drafts);
    // 143 and 130: somebody asked it to end (SIGTERM, SIGINT); the SDK throws then.
    const asked =
      code === 143 || code === 130 || signal === "SIGTERM" || signal === "SIGINT" || /aborted by user/.test(thrown ?? "");
    const gentle = asked || (thrown === null && code === 0) || info.$sdk === "done";
    if (gentle) drafts.push({ do: "turn.end", stop_reason: state.plain ? "end_turn" : "interrupted" });
    else drafts.push(...crash(state, thrown ?? exitText(state, code, signal)));
    state.endTurn();
  }
  return mapped(ADDRESS, "exit", drafts);
}

function crash(state: ClaudeState, message: string): Draft[] {
  const error: ErrorData = state.apiError ?? {
    message,
    code: "execution_error",
    details: { error_source: "agent", native_code: null, retryable: false },
  };
  return [
    { do: "error", error },
    { do: "turn.end", stop_reason: "error", error_code: error.code },
  ];
}

function exitText(state: ClaudeState, code: number | undefined, signal: string | undefined): string {
  const how = signal ? `was ended by ${signal}` : `exited with code ${code ?? "unknown"}`;
  const said = state.stderr.filter((line) => line.trim() !== "").join("\n");
  return said === "" ? `Claude Code ${how} before the turn was over.` : `Claude Code ${how}: ${said}`;
}
