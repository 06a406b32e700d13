// What came of a turn: its end, its items, and the text a person would read. Folds events; asks the daemon nothing.
import type { UniversalEvent } from "../schema/event.ts";
import type { ErrorCode, StopReason, Usage } from "../schema/event-data.ts";
import type { Item } from "../schema/item.ts";
import { ItemProjection } from "../schema/projection/item-projection.ts";
import { DragomanError } from "./error.ts";

export type TurnOutcome = {
  turn_id: string;
  stop_reason: StopReason;
  error_code: ErrorCode | null;
  usage: Usage | null;
  /** The text of the turn's last message of the agent. */
  text: string;
  items: Item[];
  error: string | null;
};

export type TurnWanted = {
  turn_id: string;
  /** The message it begins with; without it, known when the events report that it was queued. */
  message_id?: string | undefined;
};

/**
 * Reads to the end of the turn, or of the one its message was steered into. Throws `stream_ended` when the events end before it does, and `message_removed` when somebody
 * took the message out of the queue.
 */
export async function turnOutcome(
  wanted: TurnWanted,
  events: AsyncIterable<UniversalEvent>,
  onEvent: (event: UniversalEvent) => void = () => {},
): Promise<TurnOutcome> {
  const fold = new ItemProjection();
  let { turn_id: turnId, message_id: messageId } = wanted;
  let error: string | null = null;
  for await (const event of events) {
    onEvent(event);
    fold.apply(event);
    if (event.type === "error") error = event.data.message;
    if (event.type === "message.queued" && event.data.turn_id === turnId) messageId ??= event.data.message_id;
    if (event.type === "message.removed" && event.data.message_id === messageId) {
      const { reason, turn_id } = event.data;
      if (reason === "steered") turnId = turn_id ?? turnId;
      else if (reason !== "session_ended")
        throw new DragomanError("message_removed", "The message was removed from the queue before its turn began.");
    }
    if (event.type !== "turn.ended") continue;
    if (event.data.turn_id !== turnId) {
      // What went wrong in the turn before is not the fault of this one.
      error = null;
      continue;
    }
    const items = fold.items().filter((item) => item.turn_id === turnId);
    const { stop_reason, error_code, usage } = event.data;
    return {
      turn_id: turnId,
      stop_reason,
      error_code: error_code ?? null,
      usage: usage ?? null,
      text: finalText(items),
      items,
      error,
    };
  }
  throw new DragomanError("stream_ended", error ?? "The session ended before the turn did.");
}

/** The last message the agent itself wrote: sub-agents' words hang under a parent and do not count. */
export function finalText(items: readonly Item[]): string {
  const message = items.findLast((item) => item.kind === "message" && item.role === "assistant" && item.parent_id === null);
  return message?.content.map((part) => (part.type === "text" || part.type === "refusal" ? part.text : "")).join("") ?? "";
}
