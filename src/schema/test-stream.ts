/** A stream of events with a right envelope, for tests of the rules. */
import type { UniversalEvent } from "./event.ts";
import type { EventDataOf, EventType } from "./event-data.ts";

/** Type, data, and who says it: the agent, unless given otherwise. */
export type Told = { [T in EventType]: [T, EventDataOf[T], ...("agent" | "daemon")[]] }[EventType];

export const streamOfEvents = (...told: Told[]): UniversalEvent[] =>
  told.map(([type, data, source = "agent"], index) => ({
    event_id: `evt_${index + 1}`,
    sequence: index + 1,
    time: "2026-01-01T00:00:00.000Z",
    session_id: "s",
    native_session_id: null,
    synthetic: source === "daemon",
    source,
    type,
    data,
    raw: null,
  })) as UniversalEvent[];
