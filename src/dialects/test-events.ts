// Events for tests of dialects: any type, with data of its own.
import type { EventOf } from "../schema/event.ts";
import type { EventDataOf, EventType } from "../schema/event-data.ts";
import type { Item } from "../schema/item.ts";

export const eventOf = <T extends EventType>(type: T, data: EventDataOf[T], sequence = 7): EventOf<T> => ({
  event_id: `evt_${sequence}`,
  sequence,
  time: "2030-01-01T00:00:00.250Z",
  session_id: "s1",
  native_session_id: "native-1",
  synthetic: false,
  source: "agent",
  type,
  data,
  raw: null,
});

export const itemOf = (fields: Partial<Item>): Item => ({
  item_id: "itm_1",
  native_item_id: "n1",
  parent_id: null,
  kind: "message",
  role: "assistant",
  content: [],
  status: "completed",
  turn_id: "turn_1",
  started_at: "2030-01-01T00:00:00.000Z",
  completed_at: "2030-01-01T00:00:00.100Z",
  ...fields,
});
