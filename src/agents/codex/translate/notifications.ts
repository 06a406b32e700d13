// Every notification the server can send, and what it means. `native-types.ts` states the same as a table for people; a test holds them together.
import type { Draft } from "../../../schema/draft.ts";
import { type JsonRecord, rec, str } from "../../json.ts";
import { configChanged, limits, mcpStatus, settingsChanged } from "./config.ts";
import { itemCompleted, itemStarted, outputDelta, patchUpdated, resultKey, textDelta } from "./items.ts";
import { messageItem } from "./message-items.ts";
import { rawItemDrafts } from "./raw-items.ts";
import { activity, childrenOf } from "./subagents.ts";
import type { Thread } from "./thread.ts";
import type { Threads } from "./threads.ts";
import { isTool } from "./tool-items.ts";
import { errorNotified, implicitTurn, leaveChild, planUpdated, tokenUsage, turnCompleted, turnStarted } from "./turns.ts";

/** `note`: understood, without universal meaning; shown as agent.notice. `unknown`: the method is known but not what is in it. */
export type Meaning = { drafts?: Draft[]; note?: { name: string; detail?: unknown }; unknown?: string };
type Handler = (params: JsonRecord, thread: Thread, threads: Threads) => Meaning;

const nothing: Handler = () => ({});
const event = (draft: Extract<Draft, { do: "event" }>): Meaning => ({ drafts: [draft] });

/** Everything but the ids that say whose it is. */
function detailOf(params: JsonRecord): JsonRecord {
  const { threadId: _, turnId: __, ...detail } = params;
  return detail;
}

const note =
  (name: string, pick: (params: JsonRecord) => unknown = detailOf): Handler =>
  (params) => ({ note: { name, detail: pick(params) } });

const knownItem = (type: string | undefined): boolean =>
  type !== undefined && (isTool(type) || type === "subAgentActivity" || messageItem(type) !== undefined);

const item =
  (phase: "started" | "completed"): Handler =>
  (params, thread, threads) => {
    const type = str(rec(params.item).type);
    const opened = implicitTurn(thread, str(params.turnId));
    if (!knownItem(type))
      return { drafts: [...opened, ...unknownItem(thread, params, phase)], unknown: `item type ${type ?? "missing"}` };
    const children = childrenOf(thread, params);
    const child = children.ids[0] === undefined ? undefined : threads.get(children.ids[0]);
    const drafts =
      type === "subAgentActivity"
        ? activity(thread, params, phase, child)
        : phase === "started"
          ? itemStarted(thread, params)
          : itemCompleted(thread, params);
    for (const id of children.ids) threads.link(id, thread, children.spawnKey);
    return { drafts: [...opened, ...drafts] };
  };

/** A variant of a newer version: shown whole, as JSON. */
function unknownItem(thread: Thread, params: JsonRecord, phase: "started" | "completed"): Draft[] {
  if (phase === "started") return [];
  const shown = rec(params.item);
  const key = thread.keyOf(str(params.turnId) ?? "", `unknown:${str(shown.id) ?? ""}`);
  return [
    {
      do: "item.add",
      item: { key, native_item_id: str(shown.id) ?? null, kind: "unknown", role: null, content: [{ type: "json", json: shown }] },
    },
  ];
}

const inTurn =
  (handler: (thread: Thread, params: JsonRecord) => Draft[]): Handler =>
  (params, thread) => ({ drafts: [...implicitTurn(thread, str(params.turnId)), ...handler(thread, params)] });

const error: Handler = (params, thread) => {
  if (thread.child !== null) return { note: { name: "subagent_error", detail: { agent: thread.id, ...detailOf(params) } } };
  return { drafts: errorNotified(thread, params) };
};

const completedTurn: Handler = (params, thread, threads) => {
  const drafts = turnCompleted(thread, rec(params.turn));
  const left = thread.child === null ? [...threads.descendants(thread)].flatMap(leaveChild) : [];
  return { drafts: [...left, ...drafts] };
};

/** The server repeats the same diff several times a turn. */
const turnDiff: Handler = (params, thread) => {
  const diff = str(params.diff) ?? "";
  if (diff === thread.lastDiff) return {};
  thread.lastDiff = diff;
  return { note: { name: "turn_diff", detail: { diff } } };
};

/** The guardian decides in the person's place: asked and answered in one. */
const reviewed: Handler = (params, thread) => {
  const { status, rationale, riskLevel } = rec(params.review);
  const target = str(params.targetItemId);
  const action = rec(params.action);
  const key = `review:${str(params.reviewId) ?? ""}`;
  const approved = status === "approved";
  const itemKey = target === undefined ? null : thread.keyOf(str(params.turnId) ?? "", target);
  return {
    drafts: [
      {
        do: "permission.request",
        key,
        action: `${str(action.type) ?? "action"}: ${str(action.command) ?? str(action.tool) ?? ""}`.trim(),
        tool_name: str(action.type) ?? "action",
        input: action,
        call_id: target ?? null,
        item: itemKey,
        ...(str(riskLevel) ? { reason: `risk ${str(riskLevel)}` } : {}),
        options: [],
        native: null,
      },
      {
        do: "permission.resolve",
        key,
        status: approved ? "approved" : "denied",
        resolved_by: "policy",
        reply: approved ? "once" : "reject",
        message: str(rationale) ?? str(status) ?? "",
      },
    ],
  };
};

const reverted: Handler = (_, thread) => {
  const keys = thread.revertBefore === null ? [] : thread.dropFrom(thread.revertBefore);
  thread.revertBefore = null;
  const drafts = keys.flatMap((key): Draft[] => [
    { do: "item.remove", key: resultKey(key), reason: "reverted" },
    { do: "item.remove", key, reason: "reverted" },
  ]);
  return { drafts, note: { name: "thread_reverted" } };
};

const authUrl: Handler = (params) => {
  const url = str(params.authUrl);
  const message = str(params.error) ?? `${str(params.providerId) ?? "provider"}: ${str(params.status) ?? "changed"}`;
  return event({
    do: "event",
    type: "auth.status",
    data: { status: str(params.error) ? "failed" : "in_progress", message, ...(url ? { url } : {}) },
  });
};

const loginDone: Handler = (params) =>
  event({
    do: "event",
    type: "auth.status",
    data: {
      status: params.success === true ? "ok" : "failed",
      ...(str(params.error) ? { message: str(params.error) ?? "" } : {}),
    },
  });

/** codex 0.166 clears a goal after every resume, though there never was one. */
const goalCleared: Handler = (_, thread) => {
  const had = thread.goal;
  thread.goal = false;
  return had ? { note: { name: "goal_cleared" } } : {};
};

const goalUpdated: Handler = (params, thread) => {
  thread.goal = true;
  return { note: { name: "goal_updated", detail: params.goal } };
};

const rawItem: Handler = (params, thread) => {
  const drafts = rawItemDrafts(thread, params);
  return drafts ? { drafts } : { unknown: `raw item type ${str(rec(params.item).type) ?? "missing"}` };
};

export const NOTIFICATIONS: Record<string, Handler> = {
  error,
  "thread/started": (params, thread) => {
    const { name, cwd } = rec(params.thread);
    thread.cwd = str(cwd) ?? thread.cwd;
    const title: Draft[] = str(name) ? [{ do: "event", type: "session.updated", data: { title: str(name) ?? "" } }] : [];
    return { drafts: thread.child === null ? [{ do: "native_session", id: thread.id }, ...title] : [] };
  },
  "thread/status/changed": nothing,
  "thread/readState/changed": note("read_state"),
  "thread/archived": note("thread_archived"),
  "thread/deleted": note("thread_deleted"),
  "thread/unarchived": note("thread_unarchived"),
  "thread/closed": note("thread_closed"),
  "thread/reverted": reverted,
  "skills/changed": note("skills_changed"),
  "thread/name/updated": (params) =>
    event({ do: "event", type: "session.updated", data: { title: str(params.threadName) ?? "" } }),
  "thread/attachment/updated": note("attachment_updated"),
  "thread/goal/updated": goalUpdated,
  "thread/prediction/updated": note("prediction_updated"),
  "thread/goal/cleared": goalCleared,
  "thread/queue/changed": note("queue_changed"),
  "project/changed": note("project_changed"),
  "thread/project/updated": note("project_updated"),
  "thread/environment/connected": note("environment_connected"),
  "thread/environment/disconnected": note("environment_disconnected"),
  "thread/settings/updated": (params, thread) => ({ drafts: settingsChanged(thread, rec(params.threadSettings)) }),
  "thread/tokenUsage/updated": (params, thread) => ({ drafts: tokenUsage(thread, params) }),
  "turn/started": (params, thread) => ({ drafts: turnStarted(thread, rec(params.turn)) }),
  "hook/started": note("hook_started", (params) => params.run),
  "turn/completed": completedTurn,
  "hook/completed": note("hook_completed", (params) => params.run),
  "turn/diff/updated": turnDiff,
  "turn/plan/updated": inTurn(planUpdated),
  "item/started": item("started"),
  "item/autoApprovalReview/started": note("approval_review_started"),
  "item/autoApprovalReview/completed": reviewed,
  "autoApprovalReview/strictReviewRequired": note("strict_review_required"),
  "item/completed": item("completed"),
  "rawResponseItem/completed": rawItem,
  "rawResponse/completed": nothing,
  "item/agentMessage/delta": inTurn((thread, params) => textDelta(thread, params, "agentMessage")),
  "item/plan/delta": inTurn((thread, params) => textDelta(thread, params, "plan")),
  "command/exec/outputDelta": note("command_output", ({ processId, stream }) => ({ processId, stream })),
  "process/outputDelta": note("process_output", ({ processHandle, stream }) => ({ processHandle, stream })),
  "process/exited": note("process_exited", ({ processHandle, exitCode }) => ({ processHandle, exitCode })),
  "item/commandExecution/outputDelta": inTurn((thread, params) => outputDelta(thread, params, "commandExecution")),
  "item/commandExecution/terminalInteraction": note("terminal_interaction"),
  "item/fileChange/outputDelta": inTurn((thread, params) => outputDelta(thread, params, "fileChange")),
  "item/fileChange/patchUpdated": inTurn(patchUpdated),
  "serverRequest/resolved": nothing, // The translator itself: requests are known per process, not per thread.
  "item/mcpToolCall/progress": note("mcp_progress"),
  "mcpServer/oauthLogin/completed": note("mcp_login"),
  "mcpServer/startupStatus/updated": (params, thread) => ({ drafts: mcpStatus(thread, params) }),
  "mcpServer/event/stream/notification": note("mcp_event"),
  "account/updated": (params) =>
    event({ do: "event", type: "auth.status", data: { status: params.authMode ? "ok" : "required" } }),
  "account/gatewayOAuth/changed": authUrl,
  "account/rateLimits/updated": (params) => ({ drafts: limits(params) }),
  "app/list/updated": note("apps_updated", () => undefined),
  "remoteControl/status/changed": note("remote_control"),
  "externalAgentConfig/import/progress": note("import_progress"),
  "externalAgentConfig/import/completed": note("import_completed"),
  "fs/changed": note("files_changed"),
  "item/reasoning/summaryTextDelta": inTurn((thread, params) => textDelta(thread, params, "reasoning")),
  "item/reasoning/summaryPartAdded": nothing,
  "item/reasoning/textDelta": inTurn((thread, params) => textDelta(thread, params, "reasoning")),
  "thread/compacted": () => event({ do: "event", type: "session.compacted", data: { trigger: "unknown" } }),
  "model/rerouted": (params, thread) => ({
    drafts: configChanged(thread, { model: str(params.toModel) ?? null }),
    note: { name: "model_rerouted", detail: detailOf(params) },
  }),
  "model/verification": note("model_verification"),
  "modelProvider/authRecoveryStarted": (params) =>
    event({ do: "event", type: "auth.status", data: { status: "in_progress", message: str(params.message) ?? "" } }),
  "modelProvider/authRecoveryCompleted": (params) =>
    event({ do: "event", type: "auth.status", data: { status: "ok", message: str(params.message) ?? "" } }),
  "turn/moderationMetadata": note("moderation_metadata"),
  "model/safetyBuffering/updated": note("safety_buffering"),
  warning: note("warning"),
  guardianWarning: note("guardian_warning"),
  deprecationNotice: note("deprecation"),
  configWarning: note("config_warning"),
  "fuzzyFileSearch/sessionUpdated": note("file_search", ({ sessionId, query }) => ({ sessionId, query })),
  "fuzzyFileSearch/sessionCompleted": note("file_search_completed"),
  "thread/realtime/started": note("realtime_started"),
  "thread/realtime/itemAdded": note("realtime_item_added"),
  "thread/realtime/item/started": note("realtime_item_started"),
  "thread/realtime/item/transcript/delta": note("realtime_item_transcript"),
  "thread/realtime/item/completed": note("realtime_item_completed"),
  "thread/realtime/transcript/delta": note("realtime_transcript"),
  "thread/realtime/transcript/done": note("realtime_transcript_done"),
  "thread/realtime/outputAudio/delta": note("realtime_audio", () => undefined),
  "thread/realtime/sdp": note("realtime_sdp", () => undefined),
  "thread/realtime/error": note("realtime_error"),
  "thread/realtime/closed": note("realtime_closed"),
  "windows/worldWritableWarning": note("world_writable_warning"),
  "windowsSandbox/setupCompleted": note("windows_sandbox_setup"),
  "account/login/completed": loginDone,
};
