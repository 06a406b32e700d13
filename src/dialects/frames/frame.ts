// Every frame type with every field it has, and the two envelopes around it.
import type { ArtifactRef } from "../../schema/content.ts";
import type { ProviderEvent } from "../../schema/dialect.ts";
import type { EventDataOf } from "../../schema/event-data.ts";

/** Where the whole output lies, other results beside the text, and a preview of the text. */
export type ToolArtifacts = { artifact_refs: ArtifactRef[]; parts: unknown[]; output: string };

export type FramePayload =
  | { type: "session_started"; input: string }
  | { type: "output_text_delta"; delta: string }
  | { type: "session_ended"; reason: string }
  | { type: "tool_started"; tool_id: string; name: string; args: object; timeout_ms: number | null }
  | { type: "tool_stdout" | "tool_stderr"; tool_id: string; chunk: string }
  | { type: "tool_ended"; tool_id: string; exit_code: number; duration_ms: number; artifacts: ToolArtifacts | null }
  | { type: "tool_failed"; tool_id: string; error: string }
  | ({ type: "provider_event" } & ProviderEvent)
  | {
      type: "checkpoint_created";
      checkpoint_id: string;
      label: string;
      created_at_ms: number;
      files: string[];
      auto: boolean;
      tool_name: string | null;
    }
  | ({ type: "checkpoint_rewound" } & EventDataOf["checkpoint.rewound"])
  | ({ type: "checkpoint_failed" } & EventDataOf["checkpoint.failed"])
  | ({ type: "artifact_written" } & Omit<EventDataOf["artifact.written"], "mime">)
  | ({ type: "skill_catalog_updated" } & EventDataOf["skill.catalog_updated"])
  | ({ type: "skill_loaded" } & EventDataOf["skill.loaded"])
  | ({ type: "skill_invoked" } & EventDataOf["skill.invoked"])
  | ({ type: "skill_warning" } & EventDataOf["skill.warning"])
  | ({ type: "tool_task_spawned"; origin_session_id?: string } & Omit<
      EventDataOf["task.spawned"],
      "actor" | "owner" | "controls" | "origin_session_id"
    >)
  | ({ type: "tool_task_status"; exit_code?: number; started_at_ms?: number; ended_at_ms?: number } & Omit<
      EventDataOf["task.status"],
      "started_at" | "ended_at" | "exit_code" | "signal"
    >)
  | ({ type: "tool_task_output_delta" } & Omit<EventDataOf["task.output"], "offset" | "bytes">)
  | ({ type: "tool_task_stdin_written" } & Omit<EventDataOf["task.stdin"], "actor">)
  | ({ type: "tool_task_resized" } & Omit<EventDataOf["task.resized"], "actor">)
  | ({ type: "tool_task_signalled" } & Omit<EventDataOf["task.signalled"], "actor">)
  | ({ type: "tool_task_cancel_requested" } & Omit<EventDataOf["task.cancel_requested"], "actor">)
  | ({ type: "tool_task_cancelled" } & EventDataOf["task.cancelled"]);

export type FrameType = FramePayload["type"];

export const frameTypes: readonly FrameType[] = [
  "session_started",
  "output_text_delta",
  "session_ended",
  "tool_started",
  "tool_stdout",
  "tool_stderr",
  "tool_ended",
  "tool_failed",
  "provider_event",
  "checkpoint_created",
  "checkpoint_rewound",
  "checkpoint_failed",
  "artifact_written",
  "skill_catalog_updated",
  "skill_loaded",
  "skill_invoked",
  "skill_warning",
  "tool_task_spawned",
  "tool_task_status",
  "tool_task_output_delta",
  "tool_task_stdin_written",
  "tool_task_resized",
  "tool_task_signalled",
  "tool_task_cancel_requested",
  "tool_task_cancelled",
];

/** Session-scoped: `session_id` is the stream, also of a task. */
export type FrameV1 = { id: string; session_id: string; seq: number; timestamp_ms: number };

/** Stream-scoped. Streams of sessions keep `session_id` as another name of `stream_id`. */
export type FrameV2 = {
  id: string;
  stream_kind: string;
  stream_id: string;
  session_id?: string;
  seq: number;
  timestamp_ms: number;
};

export type FrameEnvelope = FrameV1 | FrameV2;
export type Frame = FrameEnvelope & FramePayload;
