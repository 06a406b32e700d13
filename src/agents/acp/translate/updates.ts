// session/update: which variant means what. The table `VARIANTS` is the list of all that are understood.
import type { Draft } from "../../../schema/draft.ts";
import { isRecord, type JsonRecord, own, rec, str } from "../../json.ts";
import { retrying } from "../../translation.ts";
import { blockParts, textOfParts } from "./blocks.ts";
import { commandsChanged, modeChanged, optionsChanged, skillsChanged } from "./config.ts";
import { type Meaning, means, notes, unknown } from "./meaning.ts";
import { type ChunkKind, closeMessage, dropMessage, onChunk, onSessionMessage, onWholeMessage } from "./messages.ts";
import { onPlan, onPlanRemoved, onPlanUpdate } from "./plans.ts";
import type { SessionState, Surroundings } from "./session-state.ts";
import { onTerminalUpdate } from "./terminals.ts";
import { strangeContent } from "./tool-output.ts";
import { closeDenied, lateNews, onToolCall, speakerOf } from "./tools.ts";
import { onStateUpdate } from "./turns.ts";
import { contextUsage, inDollars } from "./usage.ts";

/** `child`: the item a sub-agent's update belongs under, null for the session's own. */
type Handler = (state: SessionState, around: Surroundings, update: JsonRecord, child: string | null) => Meaning;

export const VARIANTS: Record<string, Handler> = {
  agent_message_chunk: (state, around, update, child) => onSpeech(state, around, "agent_message_chunk", update, child),
  agent_thought_chunk: (state, around, update, child) => onSpeech(state, around, "agent_thought_chunk", update, child),
  user_message_chunk: (state, around, update, child) => onChunk(state, around, "user_message_chunk", update, child),
  agent_message: (state, _around, update, child) => onWholeMessage(state, "agent_message", update, child),
  agent_thought: (state, _around, update, child) => onWholeMessage(state, "agent_thought", update, child),
  user_message: (state, _around, update, child) => onWholeMessage(state, "user_message", update, child),
  tool_call: (state, around, update, child) => onCallUpdate(state, around, update, "tool_call", child),
  tool_call_update: (state, around, update, child) => onCallUpdate(state, around, update, "tool_call_update", child),
  tool_call_content_chunk: (state, around, update, child) => onContentChunk(state, around, update, child),
  terminal_update: (state, _around, update) => onTerminalUpdate(state, update, false),
  terminal_output_chunk: (state, _around, update) => onTerminalUpdate(state, update, true),
  plan: (state, _around, update, child) => onPlan(state, update, child),
  plan_update: (state, _around, update, child) => onPlanUpdate(state, update, child),
  plan_removed: (state, _around, update) => onPlanRemoved(state, update),
  available_commands_update: (state, _around, update) =>
    Array.isArray(update.availableCommands)
      ? means([...commandsChanged(state, update.availableCommands), ...skillsChanged(state, rec(update._meta).availableSkills)])
      : unknown("commands that are no list"),
  current_mode_update: (state, around, update) => onModeUpdate(state, around, update),
  config_option_update: (state, around, update) =>
    Array.isArray(update.configOptions)
      ? means(optionsChanged(state, around, update.configOptions))
      : unknown("options that are no list"),
  session_info_update: (state, _around, update) => means(onSessionInfo(state, update)),
  usage_update: (state, _around, update) => onUsage(state, update),
  notice: (_state, _around, update) =>
    notes("notice", {
      severity: str(update.severity) ?? "info",
      title: str(update.title) ?? "",
      description: str(update.description) ?? null,
    }),
  compaction_update: (state, _around, update) => onCompaction(state, update),
  compaction_summary_chunk: (state, _around, update) => onSummaryChunk(state, update),
  state_update: (state, around, update) => onStateUpdate(state, around, update),
  session_message: (state, _around, update) => onSessionMessage(state, update, false),
  session_message_chunk: (state, _around, update) => onSessionMessage(state, update, true),
};

/** Variants that make up the history: what a replay repeats. */
const HISTORY = new Set([
  "agent_message_chunk",
  "agent_thought_chunk",
  "user_message_chunk",
  "agent_message",
  "agent_thought",
  "user_message",
  "tool_call",
  "tool_call_update",
  "tool_call_content_chunk",
  "terminal_update",
  "terminal_output_chunk",
  "plan",
  "plan_update",
  "plan_removed",
  "state_update",
  "compaction_update",
  "compaction_summary_chunk",
  "session_message",
  "session_message_chunk",
]);

/** Settings of a sub-agent are not the session's, and neither is its context. */
const OWN_ONLY = new Set([
  "compaction_update",
  "compaction_summary_chunk",
  "available_commands_update",
  "current_mode_update",
  "config_option_update",
  "session_info_update",
  "usage_update",
  "state_update",
]);

export function onUpdate(state: SessionState, around: Surroundings, update: JsonRecord, child: string | null): Meaning {
  const variant = str(update.sessionUpdate) ?? "";
  const handler = own(VARIANTS, variant);
  if (handler === undefined) return unknown(`session update ${variant || "without a name"}`);
  if (state.replaying !== "no" && HISTORY.has(variant)) {
    // The session has shown this before; a replay is recognised and not reported twice.
    const callId = str(update.toolCallId);
    if (callId !== undefined) state.replayed.add(callId);
    return means();
  }
  if (child !== null && OWN_ONLY.has(variant)) return notes("subagent_update", { variant, session: state.id, update });
  return handler(state, around, update, child);
}

const before = (drafts: Draft[], meaning: Meaning): Meaning =>
  drafts.length === 0 ? meaning : { ...meaning, drafts: [...drafts, ...meaning.drafts] };

function onSpeech(state: SessionState, around: Surroundings, kind: ChunkKind, update: JsonRecord, child: string | null): Meaning {
  const denied = closeDenied(state, around);
  return before(denied, onChunk(state, around, kind, update, child ?? speakerOf(state, around, update)));
}

function onModeUpdate(state: SessionState, around: Surroundings, update: JsonRecord): Meaning {
  const mode = str(update.currentModeId);
  return mode === undefined ? unknown("mode update without a mode") : means(modeChanged(state, around, mode));
}

/** Or not said at all. */
const isA = (value: unknown, type: "string" | "list"): boolean =>
  value === undefined || value === null || (type === "list" ? Array.isArray(value) : typeof value === type);

const CALL_STATES: ReadonlySet<unknown> = new Set([
  undefined,
  null,
  "pending",
  "in_progress",
  "paused",
  "completed",
  "failed",
  "cancelled",
]);

/** What is understood of it is told, also when something else in it is not. */
function onCallUpdate(
  state: SessionState,
  around: Surroundings,
  update: JsonRecord,
  sighting: "tool_call" | "tool_call_update",
  child: string | null,
): Meaning {
  if (str(update.toolCallId) === undefined) return unknown("tool call without an id");
  const late = lateNews(state, update, sighting);
  if (late !== null) return notes("late_tool_result", late);
  const drafts = onToolCall(state, around, update, sighting, child);
  const strange = [
    ...(CALL_STATES.has(update.status) ? [] : [`status ${String(update.status)} of a tool call`]),
    ...["title", "name", "kind"].flatMap((field) =>
      isA(update[field], "string") ? [] : `${field} of a tool call that is no text`,
    ),
    ...(isA(update.locations, "list") ? [] : ["locations of a tool call that are no list"]),
    ...strangeContent(update.content),
  ];
  return strange.length === 0 ? means(drafts) : unknown(strange.join(", "), drafts);
}

function onContentChunk(state: SessionState, around: Surroundings, update: JsonRecord, child: string | null): Meaning {
  const call = state.calls.get(str(update.toolCallId) ?? "");
  const piece = rec(update.content);
  const known = call?.state === "open" ? call.content : [];
  const last = known.at(-1);
  const text = str(rec(piece.content).text);
  const lastText = str(rec(last?.content).text);
  const content =
    text !== undefined && lastText !== undefined && piece.type === "content" && last?.type === "content"
      ? [...known.slice(0, -1), { type: "content", content: { type: "text", text: lastText + text } }]
      : [...known, piece];
  const whole = { toolCallId: update.toolCallId, content, status: "in_progress" };
  return onCallUpdate(state, around, whole, "tool_call_update", child);
}

function onUsage(state: SessionState, update: JsonRecord): Meaning {
  const drafts = [...(state.message?.native === null ? closeMessage(state) : []), ...contextUsage(state, update)];
  const { currency } = rec(update.cost);
  // The schema counts in dollars, and nobody knows the rate.
  if (!isRecord(update.cost) || inDollars(update.cost) || !state.isNews("cost", update.cost)) return means(drafts);
  return typeof currency === "string" ? notes("cost", update.cost, drafts) : unknown("cost without an amount", drafts);
}

function onSessionInfo(state: SessionState, update: JsonRecord): Draft[] {
  const drafts = onCodexInfo(state, rec(rec(update._meta).codex));
  if (update.title === undefined || !state.isNews("title", update.title)) return drafts;
  return [...drafts, { do: "event", type: "session.updated", data: { title: str(update.title) ?? "" } }];
}

/** codex-acp 2.6: retries and the last fault ride on session_info_update. */
function onCodexInfo(state: SessionState, codex: JsonRecord): Draft[] {
  const fault = codex.error;
  if (isRecord(fault)) {
    const detail = str(fault.additionalDetails) ?? str(fault.message) ?? "";
    if (fault.willRetry !== true) {
      state.faultSeen = str(fault.message) ?? detail;
      return [];
    }
    state.retrying = true;
    return [...dropMessage(state), retrying(detail, Number(/(\d+)\/\d+/.exec(str(fault.message) ?? "")?.[1] ?? Number.NaN))];
  }
  const status = str(rec(codex.threadStatus).type);
  if (state.retrying && status === "active") {
    state.retrying = false;
    return [{ do: "status", status: { status: "running" } }];
  }
  return [];
}

function onCompaction(state: SessionState, update: JsonRecord): Meaning {
  const id = str(update.compactionId) ?? "";
  const known = state.compactions.get(id) ?? { done: false, summary: "" };
  state.compactions.set(id, known);
  const status = str(update.status);
  if (status === "in_progress") return means(known.done ? [] : [{ do: "status", status: { status: "compacting" } }]);
  if (status !== "completed" && status !== "failed" && status !== "cancelled")
    return unknown(`compaction of status ${status ?? "none"}`);
  const summary = textOfParts(blockParts(update.summary)) || known.summary;
  // claude 0.99 says completed twice.
  if (known.done) return moreSummary(known, summary);
  known.done = true;
  known.summary = summary;
  const running: Draft = { do: "status", status: { status: "running" } };
  if (status === "failed")
    return notes("compaction_failed", str(update.error) ?? "The agent could not compact the session.", [running]);
  if (status === "cancelled") return means([running]);
  const trigger = /^\/(?:compact|compress|summari[sz]e)/.test(state.current?.text ?? "") ? "manual" : "auto";
  return means([{ do: "event", type: "session.compacted", data: { trigger, ...(summary === "" ? {} : { summary }) } }, running]);
}

/** A compaction is told once: what comes after it has no other place. */
function moreSummary(known: { summary: string }, summary: string): Meaning {
  if (summary === "" || known.summary.includes(summary)) return means();
  known.summary = summary;
  return notes("compaction_summary", summary);
}

function onSummaryChunk(state: SessionState, update: JsonRecord): Meaning {
  const id = str(update.compactionId) ?? "";
  const known = state.compactions.get(id) ?? { done: false, summary: "" };
  const text = textOfParts(blockParts([update.content]));
  state.compactions.set(id, known);
  if (known.done) return moreSummary(known, text);
  known.summary += text;
  return means();
}
