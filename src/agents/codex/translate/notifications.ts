/** Every notification the server can send: one row says what it means, which events it makes, and whether it was seen. */
import type { Draft } from "../../../schema/draft.ts";
import type { EventType } from "../../../schema/event-data.ts";
import { rec, str } from "../../json.ts";
import {
  type HandledRow,
  handled,
  live,
  type NativeTypeTable,
  notedLive,
  notedTyped,
  row,
  typed,
} from "../../kit/native-types.ts";
import { configChanged, limits, mcpStatus, settingsChanged } from "./config.ts";
import { compactedBefore, mcpProgress, outputDelta, patchUpdated, textDelta } from "./items.ts";
import {
  authUrl,
  completedTurn,
  detailOf,
  error,
  event,
  goalCleared,
  goalUpdated,
  gone,
  type Handler,
  inStep,
  inTurn,
  item,
  loginDone,
  messageDelta,
  note,
  nothing,
  rawItem,
  reverted,
  reviewed,
  turnDiff,
} from "./notified.ts";
import { planUpdated, turnStarted } from "./turns.ts";
import { tokenUsage } from "./usage.ts";

const ITEM: EventType[] = ["item.started", "item.completed"];
const GONE = row("noted", "live")(["turn.ended", "agent.notice"], "a turn that ran is interrupted");

export const NOTIFICATION_TYPES: NativeTypeTable<HandledRow<Handler>> = {
  error: handled(error, live(["error", "session.status"], "willRetry is retrying; the final one is reported once")),
  "thread/started": handled(
    (params, thread) => {
      const { name, cwd } = rec(params.thread);
      thread.cwd = str(cwd) ?? thread.cwd;
      const title: Draft[] = str(name) ? [{ do: "event", type: "session.updated", data: { title: str(name) ?? "" } }] : [];
      return { drafts: thread.child === null ? [{ do: "native_session", id: thread.id }, ...title] : [] };
    },
    live(["session.updated"]),
  ),
  "thread/status/changed": handled(nothing, live(["session.status"], "follows from turns and open requests")),
  "thread/readState/changed": handled(note("read_state"), notedLive()),
  "thread/archived": handled(gone("thread_archived"), GONE),
  "thread/deleted": handled(
    gone("thread_deleted", { forGood: true }),
    row("noted", "live")(["turn.ended", "error", "agent.notice"], "a turn that ran is interrupted"),
  ),
  "thread/unarchived": handled(note("thread_unarchived"), notedLive()),
  "thread/closed": handled(gone("thread_closed"), GONE),
  "thread/reverted": handled(reverted, row("noted", "live")(["item.removed", "agent.notice"])),
  "skills/changed": handled(note("skills_changed"), notedLive()),
  "thread/name/updated": handled(
    (params) => event({ do: "event", type: "session.updated", data: { title: str(params.threadName) ?? "" } }),
    live(["session.updated"]),
  ),
  "thread/attachment/updated": handled(note("attachment_updated"), notedLive()),
  "thread/goal/updated": handled(goalUpdated, notedLive()),
  "thread/prediction/updated": handled(note("prediction_updated"), notedTyped()),
  "thread/goal/cleared": handled(
    goalCleared,
    live(["agent.notice"], "sent after every resume: reported only when there was a goal"),
  ),
  "thread/queue/changed": handled(note("queue_changed"), notedLive()),
  "project/changed": handled(note("project_changed"), notedLive()),
  "thread/project/updated": handled(note("project_updated"), notedLive()),
  "thread/environment/connected": handled(note("environment_connected"), notedTyped()),
  "thread/environment/disconnected": handled(note("environment_disconnected"), notedTyped()),
  "thread/settings/updated": handled(
    (params, thread) => ({ drafts: settingsChanged(thread, rec(params.threadSettings)) }),
    live(["config.changed"]),
  ),
  "thread/tokenUsage/updated": handled(
    (params, thread, threads) => ({ drafts: tokenUsage(thread, params, threads) }),
    live(["usage.updated", "step.ended"]),
  ),
  "turn/started": handled((params, thread) => ({ drafts: turnStarted(thread, rec(params.turn)) }), live(["turn.started"])),
  "hook/started": handled(
    note("hook_started", (params) => params.run),
    notedLive(),
  ),
  "turn/completed": handled(completedTurn, live(["turn.ended", "error", "item.completed"])),
  "hook/completed": handled(
    note("hook_completed", (params) => params.run),
    notedLive(),
  ),
  "turn/diff/updated": handled(turnDiff, notedLive("the same diff again is not repeated")),
  "turn/plan/updated": handled(inTurn(planUpdated), live(["item.started", "item.updated"])),
  "item/started": handled(
    item("started"),
    live(["step.started", "item.started"], "a step begins with what the model does first"),
  ),
  "item/autoApprovalReview/started": handled(note("approval_review_started"), notedLive()),
  "item/autoApprovalReview/completed": handled(
    reviewed,
    live(["permission.requested", "permission.resolved"], "resolved by policy"),
  ),
  "autoApprovalReview/strictReviewRequired": handled(note("strict_review_required"), notedTyped()),
  "item/completed": handled(item("completed"), live(["item.completed"])),
  "rawResponseItem/completed": handled(rawItem, live(ITEM, "tool calls for which there is no item")),
  "rawResponse/completed": handled(nothing, live([], "repeats thread/tokenUsage/updated")),
  "item/agentMessage/delta": handled(messageDelta, live(["item.delta"])),
  "item/plan/delta": handled(
    inStep((thread, params) => textDelta(thread, params, "plan")),
    live(["item.delta"]),
  ),
  "command/exec/outputDelta": handled(
    note("command_output", ({ processId, stream }) => ({ processId, stream })),
    notedLive("answers a request we never send"),
  ),
  "process/outputDelta": handled(
    note("process_output", ({ processHandle, stream }) => ({ processHandle, stream })),
    notedLive("answers a request we never send"),
  ),
  "process/exited": handled(
    note("process_exited", ({ processHandle, exitCode }) => ({ processHandle, exitCode })),
    notedLive("answers a request we never send"),
  ),
  "item/commandExecution/outputDelta": handled(
    inTurn((thread, params) => outputDelta(thread, params, "commandExecution")),
    live(["item.started", "item.delta"]),
  ),
  "item/commandExecution/terminalInteraction": handled(note("terminal_interaction"), notedLive()),
  "item/fileChange/outputDelta": handled(
    inTurn((thread, params) => outputDelta(thread, params, "fileChange")),
    typed(["item.started", "item.delta"]),
  ),
  "item/fileChange/patchUpdated": handled(inStep(patchUpdated), live(["item.started", "item.updated"])),
  // The translator itself: requests are known per process, not per thread.
  "serverRequest/resolved": handled(nothing, live(["permission.resolved", "question.resolved"])),
  "item/mcpToolCall/progress": handled(
    inTurn(mcpProgress),
    typed(["item.started", "item.updated"], "a status under the call; declared, never sent by 0.166"),
  ),
  "mcpServer/oauthLogin/completed": handled(note("mcp_login"), notedTyped()),
  "mcpServer/startupStatus/updated": handled(
    (params, thread) => ({ drafts: mcpStatus(thread, params) }),
    live(["config.changed"]),
  ),
  "mcpServer/event/stream/notification": handled(note("mcp_event"), notedTyped()),
  "account/updated": handled(
    (params) => event({ do: "event", type: "auth.status", data: { status: params.authMode ? "ok" : "required" } }),
    typed(["auth.status"]),
  ),
  "account/gatewayOAuth/changed": handled(authUrl, typed(["auth.status"])),
  "account/rateLimits/updated": handled(
    (params) => ({ drafts: limits(params) }),
    live(["limits.updated"], "nothing when all its fields are null"),
  ),
  "app/list/updated": handled(
    note("apps_updated", () => undefined),
    notedTyped(),
  ),
  "remoteControl/status/changed": handled(note("remote_control"), notedLive()),
  "externalAgentConfig/import/progress": handled(note("import_progress"), notedTyped()),
  "externalAgentConfig/import/completed": handled(note("import_completed"), notedTyped()),
  "fs/changed": handled(note("files_changed"), notedLive()),
  "item/reasoning/summaryTextDelta": handled(
    inStep((thread, params) => textDelta(thread, params, "reasoning")),
    live(["item.delta"]),
  ),
  "item/reasoning/summaryPartAdded": handled(nothing, live([], "its first delta says the same")),
  "item/reasoning/textDelta": handled(
    inStep((thread, params) => textDelta(thread, params, "reasoning")),
    live(["item.delta"]),
  ),
  "thread/compacted": handled((_, thread) => ({ drafts: compactedBefore(thread) }), typed(["session.compacted"], "legacy name")),
  "model/rerouted": handled(
    (params, thread) => ({
      drafts: configChanged(thread, { model: str(params.toModel) ?? null }),
      note: { name: "model_rerouted", detail: detailOf(params) },
    }),
    row("noted", "live")(["config.changed", "agent.notice"]),
  ),
  "model/verification": handled(note("model_verification"), notedLive()),
  "modelProvider/authRecoveryStarted": handled(
    (params) => event({ do: "event", type: "auth.status", data: { status: "in_progress", message: str(params.message) ?? "" } }),
    typed(["auth.status"]),
  ),
  "modelProvider/authRecoveryCompleted": handled(
    (params) => event({ do: "event", type: "auth.status", data: { status: "ok", message: str(params.message) ?? "" } }),
    typed(["auth.status"]),
  ),
  "turn/moderationMetadata": handled(note("moderation_metadata"), notedLive()),
  "model/safetyBuffering/updated": handled(note("safety_buffering"), notedLive()),
  warning: handled(note("warning"), notedLive()),
  guardianWarning: handled(note("guardian_warning"), notedLive()),
  deprecationNotice: handled(note("deprecation"), notedLive()),
  configWarning: handled(note("config_warning"), notedLive()),
  "fuzzyFileSearch/sessionUpdated": handled(
    note("file_search", ({ sessionId, query }) => ({ sessionId, query })),
    notedLive(),
  ),
  "fuzzyFileSearch/sessionCompleted": handled(note("file_search_completed"), notedLive()),
  "thread/realtime/started": handled(note("realtime_started"), notedTyped()),
  "thread/realtime/itemAdded": handled(note("realtime_item_added"), notedTyped()),
  "thread/realtime/item/started": handled(note("realtime_item_started"), notedTyped()),
  "thread/realtime/item/transcript/delta": handled(note("realtime_item_transcript"), notedTyped()),
  "thread/realtime/item/completed": handled(note("realtime_item_completed"), notedTyped()),
  "thread/realtime/transcript/delta": handled(note("realtime_transcript"), notedTyped()),
  "thread/realtime/transcript/done": handled(note("realtime_transcript_done"), notedTyped()),
  "thread/realtime/outputAudio/delta": handled(
    note("realtime_audio", () => undefined),
    notedTyped(),
  ),
  "thread/realtime/sdp": handled(
    note("realtime_sdp", () => undefined),
    notedTyped(),
  ),
  "thread/realtime/error": handled(note("realtime_error"), notedTyped()),
  "thread/realtime/closed": handled(note("realtime_closed"), notedTyped()),
  "windows/worldWritableWarning": handled(note("world_writable_warning"), notedTyped()),
  "windowsSandbox/setupCompleted": handled(note("windows_sandbox_setup"), notedTyped()),
  "account/login/completed": handled(loginDone, typed(["auth.status"])),
};
