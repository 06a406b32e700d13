// `system/*` frames.
import type { Draft } from "../../../schema/draft.ts";
import type { Translation } from "../../contract.ts";
import { int, type JsonRecord, num, rec, str } from "../../json.ts";
import { heartbeat, mapped, noted, retrying, unparsed } from "../../translation.ts";
import { refusalItem, systemItem } from "./assistant.ts";
import { commandsChanged, initDrafts, modeChanged, modelChanged } from "./config.ts";
import { HEARTBEAT_SYSTEM, NOTED_SYSTEM } from "./internal-frames.ts";
import { closeMessages } from "./messages.ts";
import { permissionChoices } from "./permissions.ts";
import { retract } from "./retraction.ts";
import { ADDRESS, type ClaudeState, toolKey } from "./state.ts";
import { rest, taskNotification, taskProgress, taskStarted, taskUpdated } from "./tasks.ts";
import { toolAction } from "./tool-kinds.ts";
import { openTurn } from "./turns.ts";

const NOTED = new Set(NOTED_SYSTEM);
const HEARTBEATS = new Set(HEARTBEAT_SYSTEM);

export function system(state: ClaudeState, frame: JsonRecord): Translation {
  const subtype = str(frame.subtype) ?? "";
  const type = `system/${subtype}`;
  const drafts: Draft[] = [];
  switch (subtype) {
    case "init":
      state.sawInit = true;
      openTurn(state, frame, drafts);
      initDrafts(state, frame, drafts);
      return mapped(ADDRESS, type, drafts);
    case "status":
      status(state, frame, drafts);
      return mapped(ADDRESS, type, drafts);
    case "api_retry":
    case "api_error":
      return mapped(ADDRESS, type, [retried(state, frame)]);
    case "compact_boundary":
      compacted(frame, drafts);
      return mapped(ADDRESS, type, drafts);
    // What these two say is already known from turns, requests and task frames.
    case "session_state_changed":
    case "background_tasks_changed":
      return mapped(ADDRESS, type);
    case "session_title_changed":
      return mapped(ADDRESS, type, [{ do: "event", type: "session.updated", data: { title: str(frame.title) ?? "" } }]);
    case "commands_changed":
      commandsChanged(state, frame.commands, drafts);
      return mapped(ADDRESS, type, drafts);
    case "permission_denied":
      return mapped(ADDRESS, type, denied(state, frame));
    case "informational":
    case "local_command_output":
      systemItem(state, localText(str(frame.content) ?? ""), str(frame.uuid), "", drafts);
      return mapped(ADDRESS, type, drafts);
    case "elicitation_complete":
      return mapped(ADDRESS, type);
    case "task_started":
      return taskStarted(state, frame, type);
    case "task_progress":
      return taskProgress(state, frame, type);
    case "task_updated":
      return taskUpdated(state, frame, type);
    case "task_notification":
      return taskNotification(state, frame, type);
    case "model_fallback":
    case "model_consent_fallback":
    case "model_refusal_fallback":
    case "model_refusal_no_fallback":
      modelSwitch(state, frame, subtype, drafts);
      return mapped(ADDRESS, type, drafts);
    default:
      if (NOTED.has(subtype)) return noted(ADDRESS, type, subtype, rest(frame));
      if (HEARTBEATS.has(subtype)) return heartbeat(ADDRESS, type);
      return unparsed(ADDRESS, "system/unknown", `unknown system subtype ${subtype || "(none)"}`);
  }
}

const localText = (content: string): string => content.replace(/<\/?local-command-(?:stdout|stderr)>/g, "").trim();

function status(state: ClaudeState, frame: JsonRecord, drafts: Draft[]): void {
  modeChanged(state, frame.permissionMode, drafts);
  const value = frame.status;
  if (value === "compacting") drafts.push({ do: "status", status: { status: "compacting" } });
  else if (state.turnOpen) drafts.push({ do: "status", status: { status: "running" } });
  if (value === "requesting") state.retrying = false;
  const failure = str(frame.compact_error);
  if (frame.compact_result === "failed")
    drafts.push({ do: "event", type: "agent.notice", data: { name: "compaction_failed", detail: failure ?? "unknown" } });
}

function retried(state: ClaudeState, frame: JsonRecord): Draft {
  state.retrying = true;
  const error = rec(frame.error);
  const attempt = int(frame.attempt) ?? int(frame.retry_attempt);
  const code = num(frame.error_status) ?? num(error.status);
  const what = str(frame.error) ?? str(error.message) ?? "error";
  const wait = num(frame.retry_delay_ms) ?? num(frame.retry_in_ms);
  const detail = [
    code === undefined ? what : `${what} (HTTP ${code})`,
    attempt === undefined ? "" : `attempt ${attempt} of ${num(frame.max_retries) ?? "?"}`,
    wait === undefined ? "" : `next in ${Math.round(wait)} ms`,
  ];
  return retrying(detail.filter(Boolean).join(", "), attempt);
}

function compacted(frame: JsonRecord, drafts: Draft[]): void {
  const meta = rec(frame.compact_metadata);
  const trigger = meta.trigger === "auto" ? "auto" : meta.trigger === "manual" ? "manual" : "unknown";
  const before = num(meta.pre_tokens);
  const after = num(meta.post_tokens);
  drafts.push({
    do: "event",
    type: "session.compacted",
    data: {
      trigger,
      ...(before === undefined ? {} : { pre_tokens: before }),
      ...(after === undefined ? {} : { post_tokens: after }),
    },
  });
}

/** A rule or the mode refused without asking anybody. */
function denied(state: ClaudeState, frame: JsonRecord): Draft[] {
  const call = state.callName(state.scopeOfAgent(frame.agent_id), str(frame.tool_use_id) ?? "");
  const name = str(frame.tool_name) ?? "unknown";
  const input = state.tools.get(call)?.input ?? {};
  const reason = str(frame.decision_reason);
  const message = str(frame.message);
  const key = `denied:${call}`;
  return [
    {
      do: "permission.request",
      key,
      action: toolAction(name, input),
      tool_name: name,
      input,
      call_id: call,
      item: toolKey(state, call),
      ...(reason ? { reason } : {}),
      options: permissionChoices([]).offered,
      native: null,
    },
    { do: "permission.resolve", key, status: "denied", resolved_by: "policy", reply: "reject", ...(message ? { message } : {}) },
  ];
}

/** Another model takes over: overload, refusal, consent. What the first one said may be taken back. */
function modelSwitch(state: ClaudeState, frame: JsonRecord, subtype: string, drafts: Draft[]): void {
  retract(state, frame.retracted_message_uuids, drafts);
  const text = str(frame.content) ?? "";
  if (subtype === "model_refusal_no_fallback") {
    closeMessages(state, drafts);
    refusalItem(state, text, str(frame.uuid), drafts);
    return;
  }
  modelChanged(state, frame.direction === "revert" ? frame.original_model : frame.fallback_model, drafts);
  systemItem(state, text, str(frame.uuid), "", drafts);
}
