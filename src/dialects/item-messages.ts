// Items as messages: whole ones when they are complete, their growth before.
import type { EventOf } from "../schema/event.ts";
import type { Item } from "../schema/item.ts";
import { speakerOf } from "../schema/speaker.ts";
import type { MessageContext } from "./message-context.ts";
import { unifiedContent } from "./unified-content.ts";
import type { Said, UnifiedContent } from "./unified-message.ts";

type ItemEvent = EventOf<"item.started"> | EventOf<"item.updated"> | EventOf<"item.completed">;

export function itemMessage(
  event: ItemEvent | EventOf<"item.delta"> | EventOf<"item.removed">,
  context: Pick<MessageContext, "roleOf" | "visibilityOf">,
): Said {
  switch (event.type) {
    case "item.delta":
      return delta(event, context);
    case "item.removed":
      return { type: "session_lifecycle", subtype: "message_removed", metadata: { ...event.data } };
    case "item.completed":
      return { ...whole(event.data.item), ...common(event.data.item) };
    case "item.started":
    case "item.updated":
      return { ...growing(event.data.item, event.type), ...common(event.data.item) };
    default:
      return event satisfies never;
  }
}

function whole(item: Item): Pick<Said, "type" | "subtype"> {
  switch (item.kind) {
    case "message":
      if (item.role === "user") return { type: "user_message", subtype: speakerOf(item) === "task" ? "task" : "message" };
      return item.role === "assistant"
        ? { type: "assistant", subtype: "message" }
        : { type: "status_change", subtype: "system_message" };
    case "tool_call":
      return { type: "assistant", subtype: "tool_use" };
    case "tool_result":
      return { type: "tool_use_summary", subtype: "tool_result" };
    case "system":
      return { type: "status_change", subtype: "system_message" };
    case "status":
      return { type: "status_change", subtype: item.content.some((part) => part.type === "plan") ? "plan" : "status" };
    case "unknown":
      return { type: "unknown", subtype: "item" };
    default:
      return item.kind satisfies never;
  }
}

/** A call is reported as soon as it is known, before it runs; everything else that grows is a stream event. */
function growing(item: Item, subtype: string): Pick<Said, "type" | "subtype"> {
  if (item.kind === "tool_call") return { type: "tool_progress", subtype: "pending" };
  if (item.kind === "tool_result") return { type: "tool_progress", subtype: "running" };
  return { type: "stream_event", subtype };
}

function common(item: Item): Omit<Said, "type"> {
  const call = item.content.find((part) => part.type === "tool_call" || part.type === "tool_result");
  return {
    role: item.role ?? "system",
    content: item.content.map(unifiedContent),
    parent_id: item.parent_id,
    metadata: {
      item_id: item.item_id,
      native_item_id: item.native_item_id,
      turn_id: item.turn_id,
      kind: item.kind,
      status: item.status,
      is_error: item.status === "failed",
      started_at: item.started_at,
      completed_at: item.completed_at,
      ...(call ? { tool_use_id: call.call_id } : {}),
    },
  };
}

function delta({ data }: EventOf<"item.delta">, context: Pick<MessageContext, "roleOf" | "visibilityOf">): Said {
  const { item_id, native_item_id, part_index, part_type } = data;
  const metadata = { item_id, native_item_id, part_index, part_type, delta: data.delta };
  const stream = (subtype: string, content: UnifiedContent, more: Record<string, unknown> = {}): Said => ({
    type: "stream_event",
    subtype,
    role: context.roleOf(item_id),
    content: [content],
    metadata: { ...metadata, ...more },
  });
  switch (part_type) {
    case "text":
      return stream("text_delta", { type: "text", text: data.delta });
    case "refusal":
      return stream("refusal_delta", { type: "refusal", refusal: data.delta });
    case "reasoning":
      return stream(
        "thinking_delta",
        { type: "thinking", thinking: data.delta, visibility: data.visibility ?? context.visibilityOf(item_id, part_index) },
        // Both flags: pages written for older messages look for one or the other.
        { reasoning: true, thought: true },
      );
    case "tool_arguments":
      return { type: "stream_event", subtype: "input_json_delta", role: "assistant", metadata };
    case "tool_output":
      return {
        type: "tool_progress",
        subtype: "output_delta",
        role: "tool",
        metadata: { ...metadata, output: data.delta, ...(data.stream === undefined ? {} : { stream: data.stream }) },
      };
    default:
      return part_type satisfies never;
  }
}
