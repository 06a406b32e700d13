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
    case "artifact.written":
      return { type: "artifact_written", ...event.data };
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

/** Only in the stream of the task itself: to a session its tasks are something that happened elsewhere. */
export function taskPayload(event: UniversalEvent): FramePayload | undefined {
  switch (event.type) {
    case "task.spawned":
      return { type: "tool_task_spawned", ...spawnedFields(event.data) };
    case "task.status": {
      const { started_at, ended_at, ...data } = event.data;
      return {
        type: "tool_task_status",
        ...data,
        ...(started_at === undefined ? {} : { started_at_ms: Date.parse(started_at) }),
        ...(ended_at === undefined ? {} : { ended_at_ms: Date.parse(ended_at) }),
      };
    }
    case "task.output": {
      const { offset: _offset, bytes: _bytes, ...data } = event.data;
      return { type: "tool_task_output_delta", ...data };
    }
    case "task.stdin":
      return { type: "tool_task_stdin_written", ...withoutActor(event.data) };
    case "task.resized":
      return { type: "tool_task_resized", ...withoutActor(event.data) };
    case "task.signalled":
      return { type: "tool_task_signalled", ...withoutActor(event.data) };
    case "task.cancel_requested":
      return { type: "tool_task_cancel_requested", ...withoutActor(event.data) };
    case "task.cancelled":
      return { type: "tool_task_cancelled", ...event.data };
    default:
      return undefined;
  }
}

/** Frames have no place for who asked. */
function withoutActor<T extends { actor?: unknown }>({ actor: _, ...data }: T): Omit<T, "actor"> {
  return data;
}

/** Whose process it is, and what can be done with it, is not in the contract of frames. */
function spawnedFields({
  actor: _,
  owner: __,
  controls: ___,
  ...data
}: EventDataOf["task.spawned"]): EventDataOf["task.spawned"] {
  return data;
}
