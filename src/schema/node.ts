/** A node of a fleet, as the API shows it. */
import Type from "typebox";

export const NodeStateName = Type.Enum(["up", "draining", "fenced"], {
  description: "draining: takes nothing new and gives away what it can; fenced: others may take over its sessions",
});

export const Node = Type.Object(
  {
    node_id: Type.String(),
    kind: Type.Enum(["node", "gateway"], { description: "gateway: answers for all sessions and runs none" }),
    url: Type.String(),
    version: Type.String(),
    state: NodeStateName,
    incarnation: Type.Integer({ description: "grows with each start of the node" }),
    labels: Type.Record(Type.String(), Type.String()),
    places: Type.Array(Type.String({ description: "directories it shares with other nodes" })),
    agents: Type.Array(Type.String()),
    capacity: Type.Integer({ description: "sessions with a running agent that it takes" }),
    load: Type.Integer({ description: "sessions whose agent runs there now" }),
    sessions: Type.Integer({ description: "sessions it owns" }),
    lease_ms: Type.Integer({ description: "what is left of its lease; negative: it ran out" }),
    self: Type.Boolean({ description: "the node that answers" }),
  },
  { title: "Node" },
);
export type Node = Type.Static<typeof Node>;
export const NodeList = Type.Object({ nodes: Type.Array(Node) }, { title: "NodeList" });

export const MoveSession = Type.Object(
  {
    node: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    labels: Type.Optional(Type.Record(Type.String({ minLength: 1, maxLength: 64 }), Type.String({ maxLength: 128 }))),
    when: Type.Optional(
      Type.Enum(["turn_end", "now"], { description: "turn_end (default): a running turn ends first; now: it is cut" }),
    ),
  },
  { title: "MoveSession", additionalProperties: false },
);
export type MoveSession = Type.Static<typeof MoveSession>;
