/**
 * The state of a session at one sequence, as it is sent and stored: what `SessionProjection` writes and reads. Not here: how events make it
 * (projection/), and finished items, which have pages of their own.
 */
import Type from "typebox";
import { Actor } from "./actor.ts";
import {
  ConfigChanged,
  LastError,
  MessageQueued,
  PermissionData,
  PermissionMode,
  QuestionData,
  SessionEnded,
  SessionStatusName,
  Usage,
} from "./event-data.ts";
import { Item } from "./item.ts";
import { nullable } from "./nullable.ts";
import { SNAPSHOT_VERSION } from "./snapshot-version.ts";

const text = Type.String();

/** A message that waits for its turn. */
export const QueuedMessage = Type.Intersect([
  MessageQueued,
  Type.Object({ queued_at: Type.String({ description: "When it was accepted: RFC 3339." }) }),
]);
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
export const ConfigFacts = Type.Omit(ConfigChanged, ["actor"], { description: "What the agent last said about itself." });
export type ConfigFacts = Type.Static<typeof ConfigFacts>;

export const SessionFacts = Type.Object(
  {
    agent: nullable(Type.String({ description: "Id of the agent, such as `claude`." })),
    agent_version: nullable(Type.String({ description: "Version of the agent's program; null until it is known." })),
    directory: nullable(Type.String({ description: "Absolute path of the working directory, on the daemon's machine." })),
    native_session_id: nullable(
      Type.String({ description: "The agent's own id of the conversation; null until the agent gave one." }),
    ),
    title: nullable(Type.String({ description: "Name for people; null while there is none." })),
    model: nullable(Type.String({ description: "Id of the model; null: the agent's default." })),
    variant: nullable(
      Type.String({ description: "Variant of the model, such as a reasoning effort; null: the agent's default." }),
    ),
    agent_mode: nullable(Type.String({ description: "The agent's own mode, such as `build`; null: the agent's default." })),
    permission_mode: PermissionMode,
    status: SessionStatusName,
    usage: nullable(Usage),
    usage_told: Type.Boolean({ description: "The agent reports the session's usage itself; turns are not added up." }),
    config: ConfigFacts,
    last_error: Type.Optional(nullable(LastError)),
    ended: nullable(SessionEnded),
  },
  { description: "What is known of the session." },
);
export type SessionFacts = Type.Static<typeof SessionFacts>;

export const OpenTurn = Type.Object(
  {
    turn_id: Type.String({ description: "Id of the turn." }),
    initiator: Type.Enum(["client", "agent"], { description: "client: a message began it. agent: the agent began by itself." }),
    message_id: Type.Optional(Type.String({ description: "The message it took out of the queue." })),
    actor: Type.Optional(Actor),
    started_at: Type.String({ description: "When it began: RFC 3339." }),
  },
  { description: "The turn that runs; null: none." },
);
export type OpenTurn = Type.Static<typeof OpenTurn>;

export const RequestState = Type.Union([
  Type.Object({
    kind: Type.Literal("permission"),
    requested_at: Type.String({ description: "When it was asked: RFC 3339." }),
    data: PermissionData,
  }),
  Type.Object({
    kind: Type.Literal("question"),
    requested_at: Type.String({ description: "When it was asked: RFC 3339." }),
    data: QuestionData,
  }),
]);
export type RequestState = Type.Static<typeof RequestState>;

export const SessionSnapshot = Type.Object(
  {
    version: Type.Literal(SNAPSHOT_VERSION, { description: "Of the snapshot's format." }),
    sequence: Type.Integer({ minimum: 0, description: "The state after this event." }),
    time: nullable(Type.String({ description: "When that event was written; null before the first." })),
    facts: SessionFacts,
    turn: nullable(OpenTurn),
    steps: Type.Array(
      Type.Object({
        step_id: Type.String({ description: "Id of the step: one call of the model." }),
        turn_id: Type.String({ description: "Id of the turn." }),
      }),
      { description: "Calls of the model that run now." },
    ),
    items: Type.Array(Item, { description: "Items in progress, with what was said so far. Finished ones: GET …/items." }),
    withdrawn: Type.Array(text, { description: "Ids of items that were finished and taken back later." }),
    requests: Type.Array(RequestState, { description: "Open permissions and questions, the oldest first." }),
    queue: Type.Array(QueuedMessage, { description: "Messages that wait, the next one first." }),
  },
  { title: "SessionSnapshot" },
);
export type SessionSnapshot = Type.Static<typeof SessionSnapshot>;
