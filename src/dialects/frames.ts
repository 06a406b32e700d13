/**
 * The frames dialect: exactly one frame an event, `seq` = `sequence` - 1, so that frames have no gaps either. The envelope is stream-scoped and keeps
 * `session_id` as an alias. What has no frame type of its own is a `provider_event`: nothing is dropped.
 */
import type { ContentPart } from "../schema/content.ts";
import type { EventOf, UniversalEvent } from "../schema/event.ts";
import type { Item } from "../schema/item.ts";
import { parsed } from "./unified-content.ts";

export type Frame = {
  id: string;
  stream_kind: "session" | "task";
  stream_id: string;
  session_id: string;
  seq: number;
  timestamp_ms: number;
  type: string;
  [field: string]: unknown;
};

type Payload = { type: string; [field: string]: unknown };

/** As the server calls it: the JSON of an event, the JSON of its frame. */
export const framesDialect = (eventJson: string): string[] => [JSON.stringify(frameOf(JSON.parse(eventJson) as UniversalEvent))];

export function frameOf(event: UniversalEvent): Frame {
  return {
    id: event.event_id,
    stream_kind: isOfTask(event) ? "task" : "session",
    stream_id: event.session_id,
    session_id: event.session_id,
    seq: event.sequence - 1,
    timestamp_ms: Date.parse(event.time),
    ...payloadOf(event),
  };
}

/** The stream of a task has its id in the place of a session; a session that started one tells of it under its own. */
const isOfTask = ({ data, session_id }: UniversalEvent): boolean => "task_id" in data && data.task_id === session_id;

function payloadOf(event: UniversalEvent): Payload {
  switch (event.type) {
    case "session.started":
      return { type: "session_started", input: "" };
    case "session.ended":
      return { type: "session_ended", reason: event.data.reason };
    case "item.started":
      return started(event.data.item) ?? providerEvent(event);
    case "item.delta":
      return delta(event) ?? providerEvent(event);
    case "item.completed":
      return ended(event.data.item) ?? providerEvent(event);
    case "checkpoint.created": {
      const { created_at, ...data } = event.data;
      return { type: "checkpoint_created", ...data, created_at_ms: Date.parse(created_at) };
    }
    case "checkpoint.rewound":
      return { type: "checkpoint_rewound", ...event.data };
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
      return taskPayload(event) ?? providerEvent(event);
  }
}

function taskPayload(event: UniversalEvent): Payload | undefined {
  switch (event.type) {
    case "task.spawned":
      return { type: "tool_task_spawned", ...withoutActor(event.data) };
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

/** Every frame type of a call carries the id the agent gave it: the only one that its call, its output and its end have in common. */
const toolId = (item: Item, callId: string): string => item.native_item_id ?? callId;

function started(item: Item): Payload | undefined {
  const call = item.content.find((part): part is PartOf<"tool_call"> => part.type === "tool_call");
  if (item.kind !== "tool_call" || !call) return undefined;
  return {
    type: "tool_started",
    tool_id: toolId(item, call.call_id),
    name: call.name,
    args: argsOf(call.arguments),
    timeout_ms: null,
  };
}

function delta({ data }: EventOf<"item.delta">): Payload | undefined {
  if (data.part_type === "text") return { type: "output_text_delta", delta: data.delta };
  if (data.part_type !== "tool_output") return undefined;
  return { type: "tool_stdout", tool_id: data.native_item_id ?? data.item_id, chunk: data.delta };
}

/** A tool that ran to an end has ended, whatever its exit code; one that could not is failed. */
function ended(item: Item): Payload | undefined {
  const result = item.content.find((part): part is PartOf<"tool_result"> => part.type === "tool_result");
  if (item.kind !== "tool_result" || !result) return undefined;
  const tool_id = toolId(item, result.call_id);
  const exit = result.exit_code ?? null;
  if ((result.is_error || item.status === "failed") && exit === null)
    return { type: "tool_failed", tool_id, error: result.output };
  return {
    type: "tool_ended",
    tool_id,
    exit_code: exit ?? 0,
    duration_ms: Math.round(result.duration_ms ?? span(item)),
    artifacts: artifactsOf(item, result),
  };
}

type PartOf<T extends ContentPart["type"]> = Extract<ContentPart, { type: T }>;

function artifactsOf(item: Item, result: PartOf<"tool_result">): { refs: unknown[]; output: string } {
  const rest = item.content.filter((part) => part !== result);
  return { refs: [...(result.artifact ? [result.artifact] : []), ...rest], output: result.output };
}

const span = ({ started_at, completed_at }: Item): number =>
  completed_at === null ? 0 : Math.max(0, Date.parse(completed_at) - Date.parse(started_at));

function argsOf(json: string): object {
  const value = parsed(json);
  return typeof value === "object" && value !== null ? value : { value };
}

function providerEvent(event: UniversalEvent): Payload {
  const unparsed = event.type === "agent.unparsed";
  return {
    type: "provider_event",
    provider: "dragoman",
    status: unparsed ? "invalid_json" : "event",
    event_name: event.type,
    data: event.data,
    raw: event.raw === null || event.raw === undefined ? null : JSON.stringify(event.raw),
    errors: unparsed ? [event.data.error] : [],
    response_errors: [],
  };
}
