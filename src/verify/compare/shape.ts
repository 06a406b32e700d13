/**
 * The shape of a session's story: what a client sees that does not ask which agent it talks to, one line an event. Items stand where they began, as they were
 * in the end. Left out is what depends on the moment (ids, times, words, how text was cut into deltas) and what agents say about themselves (settings, usage,
 * notices).
 */
import type { UniversalEvent } from "../../schema/event.ts";
import type { Item } from "../../schema/item.ts";

export function shapeOf(events: readonly UniversalEvent[]): string[] {
  const shape: string[] = [];
  const begun = new Map<string, number>();
  for (const event of events) {
    if (event.type === "item.started") begun.set(event.data.item.item_id, shape.push("item") - 1);
    if (event.type === "item.completed") {
      const { item } = event.data;
      shape[begun.get(item.item_id) ?? shape.length] = `item ${itemShape(item)}`;
    }
    const line = lineOf(event);
    if (line !== null) shape.push(line);
  }
  return shape;
}

function lineOf(event: UniversalEvent): string | null {
  switch (event.type) {
    case "turn.started":
      return `${event.type} ${event.data.initiator}`;
    case "turn.ended":
      return `${event.type} ${event.data.stop_reason}${event.data.error_code ? ` ${event.data.error_code}` : ""}`;
    case "item.removed":
      return event.type;
    case "permission.requested":
      return `${event.type} ${event.data.metadata.options.map(({ kind }) => kind).join(",")}`;
    case "permission.resolved":
    case "question.requested":
    case "question.resolved":
      return `${event.type} ${event.data.status}`;
    case "error":
      return `${event.type} ${event.data.code}`;
    case "auth.status":
      return event.data.status === "ok" ? null : `${event.type} ${event.data.status}`;
    case "session.compacted":
    case "session.ended":
      return event.type === "session.ended" ? `${event.type} ${event.data.reason}` : event.type;
    default:
      return null;
  }
}

/** Kind, role, parts, kind of tool, and the status where it is not the usual one. */
function itemShape({ kind, role, content, status }: Item): string {
  const parts = content.map((part) => part.type).join("+");
  const tool = content.flatMap((part) => (part.type === "tool_call" && part.tool_kind ? [part.tool_kind] : []));
  return [`${kind}/${role ?? "-"}`, `[${parts}]`, ...tool, ...(status === "completed" ? [] : [status])].join(" ");
}
