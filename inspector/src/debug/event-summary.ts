// One line about an event.
import type { UniversalEvent } from "../../../src/schema/event.ts";
import type { Item } from "../../../src/schema/item.ts";

export function summaryOf(event: UniversalEvent): string {
  switch (event.type) {
    case "item.started":
    case "item.updated":
    case "item.completed":
      return `${event.data.item.kind} ${event.data.item.status} ${textOf(event.data.item)}`;
    case "item.delta":
      return `${event.data.part_type} ${JSON.stringify(event.data.delta)}`;
    case "session.status":
      return [event.data.status, event.data.detail].filter(Boolean).join(": ");
    case "turn.ended":
      return [event.data.stop_reason, event.data.error_code].filter(Boolean).join(" ");
    case "permission.requested":
    case "permission.resolved":
      return `${event.data.status}: ${event.data.action}`;
    case "question.requested":
    case "question.resolved":
      return `${event.data.status}: ${event.data.prompt}`;
    case "error":
      return `${event.data.code}: ${event.data.message}`;
    case "agent.unparsed":
      return event.data.error;
    default:
      return JSON.stringify(event.data).slice(0, 200);
  }
}

function textOf(item: Item): string {
  const part = item.content[0];
  if (!part) return "";
  if (part.type === "tool_call") return `${part.name} ${part.title ?? ""}`;
  if (part.type === "tool_result") return part.output.slice(0, 120);
  return "text" in part && part.text ? part.text.slice(0, 120) : part.type;
}
