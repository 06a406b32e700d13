/**
 * The state of a session at one sequence, as it is sent and stored: what `SessionProjection` writes and reads. Not here: how events make it
 * (projection/), and finished items, which have pages of their own.
 */
import Type from "typebox";
import { Actor } from "./actor.ts";
import {
  ConfigChanged,
  MessageQueued,
  PermissionData,
  PermissionMode,
  QuestionData,
  SessionEnded,
  SessionStatusName,
  Usage,
} from "./event-data.ts";
import { Item } from "./item.ts";
import { SNAPSHOT_VERSION } from "./snapshot-version.ts";

const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const text = Type.String();

/** A message that waits for its turn. */
export const QueuedMessage = Type.Intersect([MessageQueued, Type.Object({ queued_at: text })]);
export type QueuedMessage = Type.Static<typeof QueuedMessage>;

export const MessageQueueList = Type.Object(
  {
    messages: Type.Array(QueuedMessage, { description: "In the order they are delivered." }),
    last_sequence: Type.Integer({ description: "The queue is as of this event; changes follow as message.* and turn.started." }),
  },
  { title: "MessageQueueList" },
);
export type MessageQueueList = Type.Static<typeof MessageQueueList>;

/** What the agent last said about itself: everything of `config.changed` but who asked for it. */
export const ConfigFacts = Type.Omit(ConfigChanged, ["actor"]);
export type ConfigFacts = Type.Static<typeof ConfigFacts>;

export const SessionFacts = Type.Object({
  agent: nullable(text),
  agent_version: nullable(text),
  directory: nullable(text),
  native_session_id: nullable(text),
  title: nullable(text),
  model: nullable(text),
  variant: nullable(text),
  agent_mode: nullable(text),
  permission_mode: PermissionMode,
  status: SessionStatusName,
  usage: nullable(Usage),
  usage_told: Type.Boolean({ description: "The agent reports the session's usage itself; turns are not added up." }),
  config: ConfigFacts,
  ended: nullable(SessionEnded),
});
export type SessionFacts = Type.Static<typeof SessionFacts>;

export const OpenTurn = Type.Object({
  turn_id: text,
  initiator: Type.Enum(["client", "agent"]),
  message_id: Type.Optional(text),
  actor: Type.Optional(Actor),
  started_at: text,
});
export type OpenTurn = Type.Static<typeof OpenTurn>;

export const RequestState = Type.Union([
  Type.Object({ kind: Type.Literal("permission"), requested_at: text, data: PermissionData }),
  Type.Object({ kind: Type.Literal("question"), requested_at: text, data: QuestionData }),
]);
export type RequestState = Type.Static<typeof RequestState>;

export const SessionSnapshot = Type.Object(
  {
    version: Type.Literal(SNAPSHOT_VERSION),
    sequence: Type.Integer({ minimum: 0, description: "The state after this event." }),
    time: nullable(Type.String({ description: "When that event was written; null before the first." })),
    facts: SessionFacts,
    turn: nullable(OpenTurn),
    steps: Type.Array(Type.Object({ step_id: text, turn_id: text })),
    items: Type.Array(Item, { description: "Items in progress, with what was said so far. Finished ones: GET …/items." }),
    withdrawn: Type.Array(text, { description: "Ids of items that were finished and taken back later." }),
    requests: Type.Array(RequestState, { description: "Open permissions and questions, the oldest first." }),
    queue: Type.Array(QueuedMessage, { description: "Messages that wait, the next one first." }),
  },
  { title: "SessionSnapshot" },
);
export type SessionSnapshot = Type.Static<typeof SessionSnapshot>;
