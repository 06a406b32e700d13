// The event envelope: the one shape that travels over HTTP, SSE and WebSocket.
import Type from "typebox";
import { type EventDataOf, type EventType, eventData } from "./event-data.ts";
import { eventMeanings } from "./event-meanings.ts";

export const eventTypes = Object.keys(eventData) as EventType[];

const envelope = {
  event_id: Type.String({ description: "evt_ + a time-ordered id, unique in the world" }),
  sequence: Type.Integer({ minimum: 1, description: "1, 2, 3 … per session, no gaps ever" }),
  time: Type.String({ description: "RFC 3339, milliseconds, UTC" }),
  session_id: Type.String({ description: "Id of the session." }),
  native_session_id: Type.Union([Type.String(), Type.Null()], {
    description: "The agent's own id of the conversation; null until the agent gave one.",
  }),
  synthetic: Type.Boolean({ description: "true exactly when source is daemon" }),
  source: Type.Enum(["agent", "daemon"], { description: "Who says it: the agent, or the daemon on its behalf." }),
};

export const EventSource = envelope.source;
export type EventSource = Type.Static<typeof EventSource>;

/** One event of a given type. `raw` is always present; null unless asked for with include_raw. */
export type EventOf<T extends EventType> = {
  event_id: string;
  sequence: number;
  time: string;
  session_id: string;
  native_session_id: string | null;
  synthetic: boolean;
  source: EventSource;
  type: T;
  data: EventDataOf[T];
  raw: unknown;
};

export type UniversalEvent = { [T in EventType]: EventOf<T> }[EventType];

const eventSchema = (type: EventType) =>
  Type.Object(
    {
      ...envelope,
      type: Type.Literal(type),
      data: eventData[type],
      raw: Type.Unknown({ description: "The native message it was made from; null unless asked for with `include_raw`." }),
    },
    { title: type, description: eventMeanings[type] },
  );

/** One schema per event type, so that a consumer can pick the one it needs. */
export const eventSchemas = Object.fromEntries(eventTypes.map((type) => [type, eventSchema(type)])) as {
  [T in EventType]: ReturnType<typeof eventSchema>;
};

/** All of them. `Type.Static` of a 44-way union is slow to check, so the static type is `UniversalEvent` above and a test holds the two together. */
export const Event = Type.Union(Object.values(eventSchemas), { title: "UniversalEvent" });
