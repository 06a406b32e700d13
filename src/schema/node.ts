/** A node of a fleet, as the API shows it, and what changes in a fleet. */
import Type from "typebox";
import { SessionMoved } from "./event-data.ts";

const Time = Type.String({ format: "date-time", description: "When it happened, or was seen: RFC 3339." });

export const NodeStateName = Type.Enum(["up", "draining", "fenced", "left"], {
  description:
    "draining: takes nothing new and gives away what it can; fenced: others may take over its sessions; left: it stopped by itself, and the same holds",
});

export const Node = Type.Object(
  {
    node_id: Type.String({ description: "Its name, the same at each start." }),
    kind: Type.Enum(["node", "gateway"], { description: "gateway: answers for all sessions and runs none" }),
    url: Type.String({ description: "Where other nodes reach it." }),
    version: Type.String({ description: "Of the daemon." }),
    state: NodeStateName,
    incarnation: Type.Integer({ description: "grows with each start of the node" }),
    labels: Type.Record(Type.String(), Type.String(), { description: "By which new sessions choose a node." }),
    places: Type.Array(Type.String(), { description: "Names of directories it shares with other nodes." }),
    agents: Type.Array(Type.String(), { description: "Ids of the agents that can run there." }),
    capacity: Type.Integer({ description: "sessions with a running agent that it takes" }),
    load: Type.Integer({ description: "sessions whose agent runs there now" }),
    sessions: Type.Integer({ description: "sessions it owns" }),
    lease_ms: Type.Integer({ description: "what is left of its lease; negative: it ran out" }),
    self: Type.Boolean({ description: "the node that answers" }),
  },
  { title: "Node", description: "A node of a fleet, as it is now." },
);
export type Node = Type.Static<typeof Node>;
export const NodeList = Type.Object(
  { nodes: Type.Array(Node, { description: "In order of their names; none where the daemon is by itself." }) },
  { title: "NodeList" },
);

/** What a node has become. `lease_lost`: it is silent, and will be fenced. `load`: its load, its sessions or its capacity are others. `forgotten`: it is listed no more. */
export const NODE_CHANGES = [
  "node.joined",
  "node.up",
  "node.draining",
  "node.lease_lost",
  "node.fenced",
  "node.left",
  "node.forgotten",
  "node.load",
] as const;

export const NodeChange = Type.Object(
  {
    type: Type.Enum([...NODE_CHANGES], {
      description:
        "joined: started, or came back; up: takes sessions (again); lease_lost: silent, will be fenced; forgotten: gone for so long that it is listed no more, with the node as it was last; load: its load or its number of sessions changed",
    }),
    at: Time,
    node: Node,
  },
  { title: "NodeChange" },
);
export type NodeChange = Type.Static<typeof NodeChange>;

/** One message of the stream of the fleet. The first is always `nodes`: all there are. */
export const FleetMessage = Type.Union(
  [
    Type.Object({ type: Type.Literal("nodes"), at: Time, nodes: Type.Array(Node, { description: "All there are." }) }),
    NodeChange,
    Type.Object({
      type: Type.Literal("session.moved"),
      at: Time,
      session_id: Type.String({ description: "The session that moved." }),
      sequence: Type.Integer({ description: "of the event in the session" }),
      ...SessionMoved.properties,
    }),
  ],
  { title: "FleetMessage" },
);
export type FleetMessage = Type.Static<typeof FleetMessage>;

export const MoveSession = Type.Object(
  {
    node: Type.Optional(Type.String({ minLength: 1, maxLength: 128, description: "Exactly this node." })),
    labels: Type.Optional(
      Type.Record(Type.String({ minLength: 1, maxLength: 64 }), Type.String({ maxLength: 128 }), {
        description: "A node that has all of these.",
      }),
    ),
    when: Type.Optional(
      Type.Enum(["turn_end", "now"], { description: "turn_end (default): a running turn ends first; now: it is cut" }),
    ),
  },
  { title: "MoveSession", additionalProperties: false },
);
export type MoveSession = Type.Static<typeof MoveSession>;
