// session/update: which variant means what. The table `VARIANTS` is the list of all that are understood.
import type { Draft } from "../../../schema/draft.ts";
import { isRecord, type JsonRecord, own, rec, str } from "../../json.ts";
import { retrying } from "../../translation.ts";
import { blockParts, textOfParts } from "./blocks.ts";
import { commandsChanged, modeChanged, optionsChanged } from "./config.ts";
import { type Meaning, means, notes, unknown } from "./meaning.ts";
import { closeMessage, onChunk, onSessionMessage, onWholeMessage } from "./messages.ts";
import { onPlan, onPlanRemoved, onPlanUpdate } from "./plans.ts";
import type { SessionState, Surroundings } from "./session-state.ts";
import { onTerminalUpdate } from "./terminals.ts";
import { closeDenied, onToolCall } from "./tools.ts";
import { onStateUpdate } from "./turns.ts";
import { contextUsage } from "./usage.ts";

/** `child`: the item a sub-agent's update belongs under, null for the session's own. */
type Handler = (state: SessionState, around: Surroundings, update: JsonRecord, child: string | null) => Meaning;

export const VARIANTS: Record<string, Handler> = {
  agent_message_chunk: (state, around, update, child) =>
    before(closeDenied(state, around), onChunk(state, around, "agent_message_chunk", update, child)),
  agent_thought_chunk: (state, around, update, child) =>
    before(closeDenied(state, around), onChunk(state, around, "agent_thought_chunk", update, child)),
  user_message_chunk: (state, around, update, child) => onChunk(state, around, "user_message_chunk", update, child),
  agent_message: (state, _around, update) => onWholeMessage(state, "agent_message", update),
  agent_thought: (state, _around, update) => onWholeMessage(state, "agent_thought", update),
  user_message: (state, _around, update) => onWholeMessage(state, "user_message", update),
  tool_call: (state, around, update, child) => means(onToolCall(state, around, update, "tool_call", child)),
  tool_call_update: (state, around, update, child) => means(onToolCall(state, around, update, "tool_call_update", child)),
  tool_call_content_chunk: (state, around, update, child) => means(onContentChunk(state, around, update, child)),
  terminal_update: (state, _around, update) => means(onTerminalUpdate(state, update, false)),
  terminal_output_chunk: (state, _around, update) => means(onTerminalUpdate(state, update, true)),
  plan: (state, _around, update) => onPlan(state, update),
  plan_update: (state, _around, update) => onPlanUpdate(state, update),
  plan_removed: (state, _around, update) => onPlanRemoved(state, update),
  available_commands_update: (state, _around, update) => means(commandsChanged(state, update.availableCommands)),
  current_mode_update: (state, around, update) => onModeUpdate(state, around, update),
  config_option_update: (state, around, update) => means(optionsChanged(state, around, update.configOptions)),
  session_info_update: (state, _around, update) => means(onSessionInfo(state, update)),
  usage_update: (state, _around, update) =>
    means([...(state.message?.native === null ? closeMessage(state) : []), ...contextUsage(state, update)]),
  notice: (_state, _around, update) =>
    notes("notice", {
      severity: str(update.severity) ?? "info",
      title: str(update.title) ?? "",
      description: str(update.description) ?? null,
    }),
  compaction_update: (state, _around, update) => means(onCompaction(state, update)),
  compaction_summary_chunk: (state, _around, update) => means(onSummaryChunk(state, update)),
  state_update: (state, around, update) => means(onStateUpdate(state, around, update)),
  session_message: (_state, _around, update) => onSessionMessage(update, false),
  session_message_chunk: (_state, _around, update) => onSessionMessage(update, true),
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

/** Settings of a sub-agent are not the session's. */
const OWN_ONLY = new Set([
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
  if (child !== null && OWN_ONLY.has(variant)) return notes("subagent_update", { variant, session: state.id });
  return handler(state, around, update, child);
}

const before = (drafts: Draft[], meaning: Meaning): Meaning =>
  drafts.length === 0 ? meaning : { ...meaning, drafts: [...drafts, ...meaning.drafts] };

function onModeUpdate(state: SessionState, around: Surroundings, update: JsonRecord): Meaning {
  const mode = str(update.currentModeId);
  return mode === undefined ? unknown("mode update without a mode") : means(modeChanged(state, around, mode));
}

function onContentChunk(state: SessionState, around: Surroundings, update: JsonRecord, child: string | null): Draft[] {
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
  return onToolCall(state, around, { toolCallId: update.toolCallId, content, status: "in_progress" }, "tool_call_update", child);
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
    return [retrying(detail, Number(/(\d+)\/\d+/.exec(str(fault.message) ?? "")?.[1] ?? Number.NaN))];
  }
  const status = str(rec(codex.threadStatus).type);
  if (state.retrying && status === "active") {
    state.retrying = false;
    return [{ do: "status", status: { status: "running" } }];
  }
  return [];
}

function onCompaction(state: SessionState, update: JsonRecord): Draft[] {
  const id = str(update.compactionId) ?? "";
  const known = state.compactions.get(id) ?? { done: false, summary: "" };
  state.compactions.set(id, known);
  const status = str(update.status);
  if (status === "in_progress") return known.done ? [] : [{ do: "status", status: { status: "compacting" } }];
  // claude 0.99 says completed twice.
  if (known.done) return [];
  known.done = true;
  const running: Draft = { do: "status", status: { status: "running" } };
  if (status === "failed") {
    const message = str(update.error) ?? "The agent could not compact the session.";
    return [{ do: "event", type: "agent.notice", data: { name: "compaction_failed", detail: message } }, running];
  }
  if (status !== "completed") return [running];
  const summary = textOfParts(blockParts(update.summary)) || known.summary;
  const trigger = /^\/(?:compact|compress|summari[sz]e)/.test(state.current?.text ?? "") ? "manual" : "auto";
  return [{ do: "event", type: "session.compacted", data: { trigger, ...(summary === "" ? {} : { summary }) } }, running];
}

function onSummaryChunk(state: SessionState, update: JsonRecord): Draft[] {
  const id = str(update.compactionId) ?? "";
  const known = state.compactions.get(id) ?? { done: false, summary: "" };
  known.summary += textOfParts(blockParts([update.content]));
  state.compactions.set(id, known);
  return [];
}
