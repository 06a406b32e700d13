// Tasks: sub-agents, long commands, monitors. Each run is one status item beside its tool call; background ones go on after the turn. A sub-agent has its
// prompt and its work under the call too: its status stands where it was reported, so what it does now among the work, and how it ended behind it.
import type { Draft } from "../../../schema/draft.ts";
import type { Translation } from "../../contract.ts";
import { bool, type JsonRecord, num, rec, str } from "../../json.ts";
import { mapped, noted } from "../../translation.ts";
import { closeMessage } from "./messages.ts";
import { settleCall } from "./permissions.ts";
import { outlives } from "./scope.ts";
import { ADDRESS, type ClaudeState, progressKey, type TaskState, toolKey } from "./state.ts";
import { setMember } from "./team.ts";

export function taskStarted(state: ClaudeState, frame: JsonRecord, type: string): Translation {
  const id = str(frame.task_id) ?? "";
  const native = str(frame.tool_use_id);
  const tool = native === undefined ? null : state.callOfTask(native, frame.parent_task_id);
  const background = frame.is_backgrounded === true;
  const call = tool === null ? undefined : state.tools.get(tool);
  const task: TaskState = {
    // A resumed agent keeps its task id and gets a new run id.
    key: `task:${id}:${str(frame.run_id) ?? str(frame.uuid) ?? ""}`,
    tool,
    parent: tool === null ? null : toolKey(state, tool),
    label: str(frame.description) ?? id,
    background,
    outlives: tool !== null && outlives(state, tool),
    command: str(frame.task_type) === "local_bash" ? (str(call?.input.command) ?? str(frame.description) ?? id) : null,
    shown: false,
    agent: str(frame.task_type) !== "local_bash" && tool !== null,
    member: (call?.name === "SendMessage" ? undefined : str(call?.input.name)) ?? state.roots.get(id)?.member ?? null,
  };
  const drafts: Draft[] = [];
  state.tasks.set(id, task);
  // Kept for good: a message may wake the agent again, and its frames then still name the first call.
  const root = { scope: state.roots.get(id)?.scope ?? tool, member: task.member };
  if (str(frame.task_type) !== "local_bash") state.roots.set(id, root);
  if (background) toBackground(state, id, task, drafts);
  // That a sub-agent runs is reported by its call, and its prompt comes now.
  if (!task.agent) show(id, task, "running", drafts);
  if (task.member) setMember(state, task.member, "running", str(frame.subagent_type) ?? null, drafts);
  return mapped(ADDRESS, type, drafts);
}

/** Its row, with what is to be reported now: begun when there is none. */
function show(id: string, task: TaskState, detail: string, drafts: Draft[]): void {
  const content = [statusPart(task.label, detail)];
  if (task.shown) {
    drafts.push({ do: "item.update", key: task.key, content });
    return;
  }
  task.shown = true;
  drafts.push({ do: "item.start", item: statusItem(id, task, task.key, content) });
}

const statusItem = (id: string, task: TaskState, key: string, content: ReturnType<typeof statusPart>[]) => ({
  key,
  native_item_id: id,
  parent: task.parent,
  kind: "status" as const,
  role: null,
  content,
  ...(task.outlives ? { outlives_turn: true } : {}),
});

/** The key of the task that a background command is. Its output is reported by the connection, which reads it from a file. */
export const commandKey = (taskId: string): string => `command:${taskId}`;

function toBackground(state: ClaudeState, id: string, task: TaskState, drafts: Draft[]): void {
  task.background = task.outlives = true;
  if (task.command !== null)
    drafts.push({
      do: "task.start",
      key: commandKey(id),
      tool_name: (task.tool === null ? undefined : state.tools.get(task.tool)?.name) ?? "Bash",
      command: task.command,
      ...(task.label === task.command ? {} : { title: task.label }),
      native: { task_id: id },
    });
  const root = state.roots.get(id)?.scope ?? null;
  for (const call of [task.tool, root]) if (call !== null) state.background.add(call);
  // With it goes what it has begun, and what was begun by agents that it started.
  for (const call of state.tools.keys())
    if (outlives(state, call)) drafts.push({ do: "item.update", key: toolKey(state, call), outlives_turn: true });
  for (const other of state.tasks.values()) {
    if (other.outlives || other.tool === null || !outlives(state, other.tool)) continue;
    other.outlives = true;
    if (other.shown) drafts.push({ do: "item.update", key: other.key, outlives_turn: true });
  }
}

const ENDS = new Set(["completed", "failed", "stopped", "killed"]);

const statusPart = (label: string, detail: string) => ({ type: "status" as const, label, detail });

export function taskProgress(state: ClaudeState, frame: JsonRecord, type: string): Translation {
  const id = str(frame.task_id) ?? "";
  const task = state.tasks.get(id);
  if (!task) return noted(ADDRESS, type, "task_progress", rest(frame));
  const drafts: Draft[] = [];
  show(id, task, str(frame.summary) ?? str(frame.description) ?? "running", drafts);
  return mapped(ADDRESS, type, drafts);
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
    if (task.shown) drafts.push({ do: "item.update", key: task.key, outlives_turn: true });
  }
  // The end of a sub-agent is reported by its notification, behind its work.
  const told = task.agent && ENDS.has(str(patch.status) ?? "") ? undefined : str(patch.status);
  const status = str(patch.error) ?? told;
  if (status) show(id, task, status, drafts);
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
  if (task.background && scope !== null && status === "failed") cutCalls(state, scope, drafts);
  // Where its output lies is a temporary path, for Claude alone: it stands in the native message.
  const content = [statusPart(label, outcome)];
  if (!task.agent) drafts.push({ do: "item.complete", key: task.key, status, content });
  else {
    if (task.shown) drafts.push({ do: "item.complete", key: task.key, status });
    const key = `${task.key}:end`;
    drafts.push({ do: "item.start", item: statusItem(id, task, key, content) }, { do: "item.complete", key, status });
  }
  if (task.background && task.command !== null) drafts.push(commandEnd(id, outcome, label));
  if (task.background && task.tool !== null) {
    state.background.delete(task.tool);
    if (scope !== null) state.background.delete(scope);
    state.tools.delete(task.tool);
    drafts.push({ do: "item.complete", key: toolKey(state, task.tool), status });
  }
  if (task.member) setMember(state, task.member, status === "completed" ? "idle" : outcome, null, drafts);
  return mapped(ADDRESS, type, drafts);
}

/** A background agent that was stopped answers none of its open calls, and waits for no person. Agents that it left in the background go on. */
function cutCalls(state: ClaudeState, scope: string, drafts: Draft[]): void {
  const open = [...state.tools].reverse().filter(([, call]) => call.scope === scope);
  for (const [id] of open) {
    if (state.background.has(id)) continue;
    cutCalls(state, id, drafts);
    settleCall(state, id, true, drafts);
    state.tools.delete(id);
    drafts.push({ do: "item.complete", key: toolKey(state, id), status: "failed" });
  }
}

/** 2.1.325 reports the exit code in the summary alone. */
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
  const named = str(heartbeat ? (frame.parent_tool_use_id ?? frame.tool_use_id) : frame.tool_use_id) ?? "";
  const tool = heartbeat ? named : state.callName(state.scopeOf(frame), named);
  const seconds = Math.round(num(frame.elapsed_time_seconds) ?? 0);
  const retry = rec(frame.subagent_retry);
  const name = str(frame.tool_name) ?? "tool";
  const detail =
    num(retry.attempt) === undefined
      ? `running for ${seconds} s`
      : `retry ${num(retry.attempt)} of ${num(retry.max_retries) ?? "?"}: ${str(retry.error_category) ?? "error"}`;
  const [id, task] = [...state.tasks].find(([, entry]) => entry.tool === tool) ?? [];
  if (id !== undefined && task) {
    const drafts: Draft[] = [];
    show(id, task, detail, drafts);
    return mapped(ADDRESS, "tool_progress", drafts);
  }
  if (!state.tools.has(tool)) return noted(ADDRESS, "tool_progress", "tool_progress", rest(frame));
  return mapped(ADDRESS, "tool_progress", [
    {
      do: "item.start",
      item: {
        key: progressKey(state, tool),
        parent: toolKey(state, tool),
        kind: "status",
        role: null,
        content: [statusPart(name, detail)],
      },
    },
  ]);
}

/** A frame's own fields, without the envelope. */
export function rest(frame: JsonRecord): JsonRecord {
  const { type: _, subtype: __, uuid: ___, session_id: ____, ...fields } = frame;
  return fields;
}
