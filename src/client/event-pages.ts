// Pages of events, the same for every kind of stream.
import type { UniversalEvent } from "../schema/event.ts";
import type { EventType } from "../schema/event-data.ts";

export type PageOptions = {
  after?: number;
  /** The `epoch` of the page before: another history is refused with `log_changed`. */
  epoch?: string;
  /** Only events before this sequence; with `order: "desc"`, the page that ends there. */
  before?: number;
  limit?: number;
  order?: "asc" | "desc";
  types?: EventType[];
  includeRaw?: boolean;
  /** Another wire format for the events: `messages`, `frames`. */
  dialect?: string;
  /** Of the dialect, where it has several. */
  version?: number;
  signal?: AbortSignal | undefined;
};

/** `next` is the `after` (newest first: the `before`) of the following page. A page may be empty and still have more. */
export type EventsPage = { events: UniversalEvent[]; has_more: boolean; next: number; last_sequence: number; epoch: string };
