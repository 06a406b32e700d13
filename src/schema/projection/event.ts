/** The part of an event that projections read: the same whether it comes from the log, from the wire or from the writer. */
import type { EventDataOf, EventType } from "../event-data.ts";

export type ProjectedEventOf<T extends EventType> = {
  type: T;
  data: EventDataOf[T];
  sequence: number;
  time: string;
  native_session_id: string | null;
};

export type ProjectedEvent = { [T in EventType]: ProjectedEventOf<T> }[EventType];
