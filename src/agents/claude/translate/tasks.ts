// Tasks: sub-agents, long commands, monitors. Each run is one status item beside its tool call; background ones go on after the turn.
import type { Draft } from "../../../schema/draft.ts";
import type { Translation } from "../../contract.ts";
import { bool, type JsonRecord, num, rec, str } from "../../json.ts";
import { mapped, noted } from "../../translation.ts";
import { closeMessage } from "./messages.ts";
import { ADDRESS, type ClaudeState, type TaskState, toolKey } from "./state.ts";
import { setMember } from "./team.ts";

export function taskStarted(state: ClaudeState, frame: JsonRecord, type: string): Translation {
  const id = str(frame.task_id) ?? "";
  const tool = str(frame.tool_use_id) ?? null;
  const background = frame.is_backgrounded === true;
  const call = tool === null ? undefined : state.tools.get(tool);
  const task: TaskState = {
    // A resumed agent keeps its task id and gets a new run id.
    key: `task:${id}:${str(frame.run_id) ?? str(frame.uuid) ?? ""}`,
    tool,
    label: str(frame.description) ?? id,
    background,
    command: str(frame.task_type) === "local_bash" ? (str(call?.input.command) ?? str(frame.description) ?? id) : null,
    member: (call?.name === "SendMessage" ? undefined : str(call?.input.name)) ?? state.roots.get(id)?.member ?? null,
  };
  const drafts: Draft[] = [];
  state.tasks.set(id, task);
  // Kept for good: a message may wake the agent again, and its frames then still name the first call.
  const root = { scope: state.roots.get(id)?.scope ?? tool, member: task.member };
  if (str(frame.task_type) !== "local_bash") state.roots.set(id, root);
  if (background) toBackground(state, id, task, drafts);
  if (background && root.scope !== null) state.background.add(root.scope);
  drafts.push({
    do: "item.start",
    item: {
      key: task.key,
      native_item_id: id,
      parent: tool === null ? null : toolKey(tool),
      kind: "status",
      role: null,
      content: [statusPart(task.label, "running")],
      ...(background ? { outlives_turn: true } : {}),
    },
  });
  if (task.member) setMember(state, task.member, "running", str(frame.subagent_type) ?? null, drafts);
  return mapped(ADDRESS, type, drafts);
}

/** The key of the task that a background command is. Its output is told by the connection, which reads it from a file. */
export const commandKey = (taskId: string): string => `command:${taskId}`;

function toBackground(state: ClaudeState, id: string, task: TaskState, drafts: Draft[]): void {
  task.background = true;
  if (task.command !== null)
    drafts.push({
      do: "task.start",
      key: commandKey(id),
      tool_name: (task.tool === null ? undefined : state.tools.get(task.tool)?.name) ?? "Bash",
      command: task.command,
      ...(task.label === task.command ? {} : { title: task.label }),
      native: { task_id: id },
    });
  if (task.tool === null) return;
  state.background.add(task.tool);
  drafts.push({ do: "item.update", key: toolKey(task.tool), outlives_turn: true });
}

const statusPart = (label: string, detail: string) => ({ type: "status" as const, label, detail });

export function taskProgress(state: ClaudeState, frame: JsonRecord, type: string): Translation {
  const task = state.tasks.get(str(frame.task_id) ?? "");
  if (!task) return noted(ADDRESS, type, "task_progress", rest(frame));
  const detail = str(frame.summary) ?? str(frame.description) ?? "running";
  return mapped(ADDRESS, type, [{ do: "item.update", key: task.key, content: [statusPart(task.label, detail)] }]);
}

export function taskUpdated(state: ClaudeState, frame: JsonRecord, type: string): Translation {
  const id = str(frame.task_id) ?? "";
  const task = state.tasks.get(id);
  if (!task) return noted(ADDRESS, type, "task_updated", rest(frame));
  const patch = rec(frame.patch);
  const drafts: Draft[] = [];
  task.label = str(patch.description) ?? task.label;
  if (bool(patch.is_backgrounded) === true && !task.background) {
    toBackground(state, id, task, drafts);
    drafts.push({ do: "item.update", key: task.key, outlives_turn: true });
  }
  const status = str(patch.error) ?? str(patch.status);
  if (status) drafts.push({ do: "item.update", key: task.key, content: [statusPart(task.label, status)] });
  return mapped(ADDRESS, type, drafts);
}

/** The run is over. For a background call this is the end of the call too. */
export function taskNotification(state: ClaudeState, frame: JsonRecord, type: string): Translation {
  const id = str(frame.task_id) ?? "";
  const task = state.tasks.get(id);
  if (!task) return noted(ADDRESS, type, "task_notification", rest(frame));
  state.tasks.delete(id);
  const outcome = str(frame.status) ?? "completed";
  const status = outcome === "completed" ? "completed" : "failed";
  const label = str(frame.summary) || task.label;
  const drafts: Draft[] = [];
  const scope = state.roots.get(id)?.scope ?? null;
  const last = scope === null ? undefined : state.messages.get(scope);
  if (last && !last.streamed) closeMessage(state, last, drafts);
  // Where its output lies is a temporary path, for Claude alone: it stands in the native message.
  drafts.push({ do: "item.complete", key: task.key, status, content: [statusPart(label, outcome)] });
  if (task.background && task.command !== null) drafts.push(commandEnd(id, outcome, label));
  if (task.background && task.tool !== null) {
    state.background.delete(task.tool);
    if (scope !== null) state.background.delete(scope);
    state.tools.delete(task.tool);
    drafts.push({ do: "item.complete", key: toolKey(task.tool), status });
  }
  if (task.member) setMember(state, task.member, status === "completed" ? "idle" : outcome, null, drafts);
  return mapped(ADDRESS, type, drafts);
}

/** 2.1.325 tells the exit code in the summary alone. */
function commandEnd(id: string, outcome: string, summary: string): Draft {
  const code = /\bexit code (\d{1,3})\b/.exec(summary)?.[1];
  const key = commandKey(id);
  if (outcome === "completed" || code !== undefined)
    return { do: "task.end", key, status: "exited", ...(code === undefined ? {} : { exit_code: Number(code) }) };
  return outcome === "stopped" || outcome === "killed"
    ? { do: "task.end", key, status: "stopped" }
    : { do: "task.end", key, status: "failed", error: summary };
}

/** `tool_progress`: a call that runs long. 2.1.325 puts the real id of a heartbeat into `parent_tool_use_id`. */
export function toolProgress(state: ClaudeState, frame: JsonRecord): Translation {
  const heartbeat = frame.heartbeat === true;
  const tool = str(heartbeat ? (frame.parent_tool_use_id ?? frame.tool_use_id) : frame.tool_use_id) ?? "";
  const seconds = Math.round(num(frame.elapsed_time_seconds) ?? 0);
  const retry = rec(frame.subagent_retry);
  const name = str(frame.tool_name) ?? "tool";
  const detail =
    num(retry.attempt) === undefined
      ? `running for ${seconds} s`
      : `retry ${num(retry.attempt)} of ${num(retry.max_retries) ?? "?"}: ${str(retry.error_category) ?? "error"}`;
  const task = [...state.tasks.values()].find((entry) => entry.tool === tool);
  if (task)
    return mapped(ADDRESS, "tool_progress", [{ do: "item.update", key: task.key, content: [statusPart(task.label, detail)] }]);
  if (!state.tools.has(tool)) return noted(ADDRESS, "tool_progress", "tool_progress", rest(frame));
  return mapped(ADDRESS, "tool_progress", [
    {
      do: "item.start",
      item: { key: `progress:${tool}`, parent: toolKey(tool), kind: "status", role: null, content: [statusPart(name, detail)] },
    },
  ]);
}

/** A frame's own fields, without the envelope. */
export function rest(frame: JsonRecord): JsonRecord {
  const { type: _, subtype: __, uuid: ___, session_id: ____, ...fields } = frame;
  return fields;
}
