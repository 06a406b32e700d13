/** The messages that wait for their turn, in the order they are delivered. The list is replaced when something changes. */
import type { QueuedMessage } from "../snapshot.ts";
import type { ProjectedEvent } from "./event.ts";

export type Queue = readonly QueuedMessage[];

/** The same list when the event does not change the queue. */
export function queueAfter(queue: Queue, event: ProjectedEvent): Queue {
  switch (event.type) {
    case "message.queued":
      return [...queue, { ...event.data, queued_at: event.time }];
    case "message.updated":
      return updated(queue, event.data);
    case "message.removed":
      return without(queue, event.data.message_id);
    case "turn.started":
      return event.data.message_id === undefined ? queue : without(queue, event.data.message_id);
    default:
      return queue;
  }
}

type Change = { message_id: string; text?: string; position?: number; attempts?: number; steering?: string | null };

function updated(queue: Queue, { message_id, text, position, attempts, steering }: Change): Queue {
  const at = queue.findIndex((message) => message.message_id === message_id);
  const before = queue[at];
  if (!before) return queue;
  const message = { ...before, ...(text === undefined ? {} : { text }), ...(attempts === undefined ? {} : { attempts }) };
  if (typeof steering === "string") message.steering = steering;
  else if (steering === null) delete message.steering;
  const others = queue.toSpliced(at, 1);
  return others.toSpliced(Math.min(position ?? at, others.length), 0, message);
}

const without = (queue: Queue, id: string): Queue =>
  queue.some((message) => message.message_id === id) ? queue.filter((message) => message.message_id !== id) : queue;
