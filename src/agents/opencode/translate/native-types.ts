// Every native message type of OpenCode's server, what becomes of it, and whether it was seen from the real binary or is known from its OpenAPI document
// only. The coverage page is made from this table; a test compares it with what the server says about itself.
import type { EventType } from "../../../schema/event-data.ts";
import { live, type NativeTypeTable, notedLive, notedTyped, row, typed } from "../../kit/native-types.ts";

const ITEM: EventType[] = ["item.started", "item.delta", "item.updated", "item.completed"];
const TOOL: EventType[] = ["item.started", "item.updated", "item.delta", "item.completed"];
const ASKED: EventType[] = ["permission.requested", "session.status"];
const QUESTION: EventType[] = ["question.requested", "session.status"];
const noise = "some fifty at the start of an instance: one notice a directory";

/** Events of `/event` and `/global/event`. */
export const EVENT_TYPES: NativeTypeTable = {
  "catalog.updated": notedLive(noise),
  "command.executed": notedLive("sent after the run"),
  "file.edited": notedLive("the change itself is a file_ref of its tool result"),
  "file.watcher.updated": notedLive(),
  "global.disposed": row("noted", "live")(["agent.notice", "turn.ended"]),
  "installation.update-available": notedTyped(),
  "installation.updated": notedTyped(),
  "integration.connection.updated": notedTyped(),
  "integration.updated": notedLive(noise),
  "lsp.updated": notedLive(),
  "mcp.browser.open.failed": notedTyped(),
  "mcp.tools.changed": notedLive(),
  "message.part.delta": live(["item.delta"], "a part never announced makes a stub start"),
  "message.part.removed": live(["item.removed", "item.started", "item.completed"], "a finished message is replaced"),
  "message.part.updated": live([...ITEM, "step.started", "step.ended", "session.status"], "see the parts"),
  "message.removed": live(["item.removed"]),
  "message.updated": live(["item.started", "item.completed", "error", "session.updated"], "final only with time.completed"),
  "models-dev.refreshed": notedTyped(),
  "permission.asked": live(ASKED),
  "permission.replied": live(["permission.resolved"], "whoever replied"),
  "permission.v2.asked": live(ASKED, "sessions of /api"),
  "permission.v2.replied": live(["permission.resolved"]),
  "plugin.added": notedLive(noise),
  "project.directories.updated": notedTyped(),
  "project.updated": notedLive(),
  "pty.created": notedLive(),
  "pty.deleted": notedLive(),
  "pty.exited": notedLive(),
  "pty.updated": notedLive(),
  "question.asked": live(QUESTION),
  "question.rejected": live(["question.resolved"]),
  "question.replied": live(["question.resolved"]),
  "question.v2.asked": live(QUESTION, "sessions of /api"),
  "question.v2.rejected": typed(["question.resolved"]),
  "question.v2.replied": live(["question.resolved"]),
  "reference.updated": notedLive(noise),
  "server.connected": live(),
  "server.heartbeat": row("heartbeat", "live")(),
  "server.instance.disposed": row("noted", "live")(["agent.notice", "turn.ended"]),
  "session.compacted": live(["session.compacted", "session.status"]),
  "session.created": live(["session.updated"], "of a sub-agent: its items hang under the task call"),
  "session.deleted": row("noted", "live")(["agent.notice", "turn.ended", "error", "permission.resolved", "question.resolved"]),
  "session.diff": live(["session.updated"], "empty but after a revert"),
  "session.error": live(["error", "turn.ended"], "once a fault; an overflow only when compaction does not help"),
  "session.idle": live([], "the twin of status idle"),
  "session.next.agent.switched": live(["config.changed"]),
  "session.next.compaction.delta": typed([], "part of the summary"),
  "session.next.compaction.ended": typed(["session.compacted"]),
  "session.next.compaction.started": typed(["session.status"]),
  "session.next.context.updated": notedTyped(),
  "session.next.model.switched": live(["config.changed"]),
  "session.next.moved": typed(["session.updated"]),
  "session.next.prompt.admitted": live(["turn.started"]),
  "session.next.prompted": live(["turn.started", "item.started", "item.completed"]),
  "session.next.reasoning.delta": live(["item.delta"]),
  "session.next.reasoning.ended": live(ITEM),
  "session.next.reasoning.started": live(["item.started"]),
  "session.next.retried": typed(["session.status"]),
  "session.next.revert.cleared": live(["item.started", "item.completed"], "the reverted items return"),
  "session.next.revert.committed": typed(),
  "session.next.revert.staged": live(["item.removed"]),
  "session.next.shell.ended": typed(TOOL),
  "session.next.shell.started": typed(TOOL),
  "session.next.step.ended": live(["step.ended", "item.completed", "turn.ended"], "a turn ends with the last step"),
  "session.next.step.failed": live(["step.ended", "item.completed", "error", "turn.ended"]),
  "session.next.step.started": live(["item.started", "step.started"]),
  "session.next.synthetic": typed(["item.started", "item.completed"]),
  "session.next.text.delta": live(["item.delta"]),
  "session.next.text.ended": live(ITEM),
  "session.next.text.started": live(["item.started"]),
  "session.next.tool.called": live(TOOL),
  "session.next.tool.failed": typed(TOOL),
  "session.next.tool.input.delta": live(["item.delta"]),
  "session.next.tool.input.ended": live(["item.updated"]),
  "session.next.tool.input.started": live(["item.started"]),
  "session.next.tool.progress": typed(["item.started", "item.delta"]),
  "session.next.tool.success": live(TOOL),
  "session.status": live(["turn.started", "turn.ended", "session.status"], "idle comes twice after an error"),
  "session.updated": live(["session.updated", "config.changed", "usage.updated", "item.removed"], "a revert mark removes items"),
  sync: live([], "repeats the event before it"),
  "todo.updated": live(["item.started", "item.updated"], "one plan a turn"),
  "tui.command.execute": notedLive(),
  "tui.prompt.append": notedLive(),
  "tui.session.select": notedLive(),
  "tui.toast.show": notedLive(),
  "vcs.branch.updated": notedLive(),
  "workspace.failed": notedTyped(),
  "workspace.ready": notedTyped(),
  "workspace.status": notedTyped(),
  "worktree.failed": notedTyped(),
  "worktree.ready": notedLive(),
};

/** Parts of a message. */
export const PART_TYPES: NativeTypeTable = {
  agent: live(["item.updated"], "a mention, as a status part"),
  compaction: live(["session.status"], "on a user message that is no item"),
  file: live(["item.started", "item.updated"], "image, audio, resource or file_ref"),
  patch: live(["item.updated"], "file_ref parts"),
  reasoning: live(ITEM),
  retry: typed(["session.status"]),
  snapshot: typed(["item.updated"], "file_ref"),
  "step-finish": live(["step.ended"]),
  "step-start": live(["step.started"]),
  subtask: live(["item.started"]),
  text: live(ITEM, "a synthetic text of the user's message is a system item"),
  tool: live(TOOL, "see the tool states"),
};

export const TOOL_STATES: NativeTypeTable = {
  pending: live(["item.started"]),
  running: live(["item.updated", "item.delta"], "bash streams its output"),
  completed: live(["item.completed"], "tool_call and tool_result"),
  error: live(["item.completed"], "both failed"),
};

export const SESSION_STATUSES: NativeTypeTable = {
  idle: live(["turn.ended"]),
  busy: live(["turn.started"]),
  retry: live(["session.status"]),
};

/** Native error names and their canonical codes. */
export const ERROR_CODES: Record<string, string> = {
  APIError: "api_error; provider_auth for 401 and 403, rate_limit for 429, context_overflow for 413",
  ContentFilterError: "api_error; the turn ends as refusal",
  ContextOverflowError: "context_overflow",
  MessageAbortedError: "aborted; the turn ends as interrupted",
  MessageOutputLengthError: "output_length",
  ProviderAuthError: "provider_auth",
  StructuredOutputError: "execution_error",
  UnknownError: "unknown",
};

/** Rows that are no events: what we asked, what was answered, what the process said. */
export const OTHER_TYPES: NativeTypeTable = {
  "request of a session": live(["turn.started"], "prompts open a turn; everything else is only recorded"),
  answer: live(["permission.resolved", "question.resolved", "session.updated", "item.started", "error", "turn.ended"]),
  "transport-error": live(["error", "turn.ended"]),
  comment: row("heartbeat", "live")([], "/api/event beats with comments"),
  stderr: live(),
  exit: live(["error", "turn.ended"], "the server is started again"),
};
