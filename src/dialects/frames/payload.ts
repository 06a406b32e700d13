// Events whose frame is their data: checkpoints, artifacts, skills, and in a task's own stream the task.
import type { UniversalEvent } from "../../schema/event.ts";
import type { EventDataOf } from "../../schema/event-data.ts";
import type { FramePayload } from "./frame.ts";
import { uuidOf } from "./uuid.ts";

/** Undefined: the event has no frame type of its own. */
export function plainPayload(event: UniversalEvent): FramePayload | undefined {
  switch (event.type) {
    case "checkpoint.created": {
      const { checkpoint_id, label, created_at, files, auto, tool_name } = event.data;
      return {
        type: "checkpoint_created",
        checkpoint_id: uuidOf(checkpoint_id),
        label,
        created_at_ms: Date.parse(created_at),
        files,
        auto,
        tool_name,
      };
    }
    case "checkpoint.rewound":
      return { type: "checkpoint_rewound", ...event.data, checkpoint_id: uuidOf(event.data.checkpoint_id) };
    case "checkpoint.failed":
      return { type: "checkpoint_failed", ...event.data };
    case "artifact.written": {
      const { mime: _, ...data } = event.data;
      return { type: "artifact_written", ...data };
    }
    case "skill.catalog_updated":
      return { type: "skill_catalog_updated", ...event.data };
    case "skill.loaded":
      return { type: "skill_loaded", ...event.data };
    case "skill.invoked":
      return { type: "skill_invoked", ...event.data };
    case "skill.warning":
      return { type: "skill_warning", ...event.data };
    default:
      return undefined;
  }
}

/** Only in the stream of the task itself: to a session its tasks are something that happened elsewhere. `id`: how ids are written in this version. */
export function taskPayload(event: UniversalEvent, id: (id: string) => string): FramePayload | undefined {
  switch (event.type) {
    case "task.spawned": {
      // Whose process it is, and what can be done with it, is not in the contract of frames.
      const { actor: _, owner: __, controls: ___, origin_session_id: origin, ...data } = event.data;
      const origin_session_id = origin === null || origin === undefined ? {} : { origin_session_id: id(origin) };
      return { type: "tool_task_spawned", ...data, task_id: id(data.task_id), ...origin_session_id };
    }
    case "task.status":
      return statusPayload(event.data, id);
    case "task.output": {
      const { offset: _offset, bytes: _bytes, ...data } = event.data;
      return { type: "tool_task_output_delta", ...data, task_id: id(data.task_id) };
    }
    case "task.stdin":
      return { type: "tool_task_stdin_written", ...ownFields(event.data, id) };
    case "task.resized":
      return { type: "tool_task_resized", ...ownFields(event.data, id) };
    case "task.signalled":
      return { type: "tool_task_signalled", ...ownFields(event.data, id) };
    case "task.cancel_requested":
      return { type: "tool_task_cancel_requested", ...ownFields(event.data, id) };
    case "task.cancelled": {
      const { wall_time_ms, ...data } = event.data;
      const time = wall_time_ms === undefined ? {} : { wall_time_ms: Math.max(0, Math.round(wall_time_ms)) };
      return { type: "tool_task_cancelled", ...data, task_id: id(data.task_id), ...time };
    }
    default:
      return undefined;
  }
}

/** An end by a signal has no exit code, and frames have no place for the signal but the error. */
function statusPayload(data: EventDataOf["task.status"], id: (id: string) => string): FramePayload {
  const { started_at, ended_at, exit_code, signal, error, task_id, ...rest } = data;
  const ended = error ?? (typeof signal === "string" ? `It was ended by ${signal}.` : undefined);
  return {
    type: "tool_task_status",
    task_id: id(task_id),
    ...rest,
    ...(typeof exit_code === "number" ? { exit_code } : {}),
    ...(started_at === undefined ? {} : { started_at_ms: Date.parse(started_at) }),
    ...(ended_at === undefined ? {} : { ended_at_ms: Date.parse(ended_at) }),
    ...(ended === undefined ? {} : { error: ended }),
  };
}

/** Frames have no place for who asked. */
function ownFields<T extends { task_id: string; actor?: unknown }>(
  { actor: _, ...data }: T,
  id: (id: string) => string,
): Omit<T, "actor"> {
  return { ...data, task_id: id(data.task_id) };
}
