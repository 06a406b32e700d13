// The nodes of a fleet: who is there, and a person's decisions about them. Only where there is a fleet.
import Type from "typebox";
import { MoveSession, Node, NodeList } from "../../schema/node.ts";
import { ProblemError } from "../../schema/problem-codes.ts";
import type { FleetPort } from "../fleet-port.ts";
import type { App } from "../server-context.ts";
import { SessionPath } from "./parameters.ts";

const tag = "nodes";
const NodePath = Type.Object({ node: Type.String({ minLength: 1, maxLength: 128 }) });
const done = { description: "Done" };

export function nodeRoutes(app: App, fleet: FleetPort): void {
  app.get(
    "/v1/nodes",
    {
      config: {
        tag,
        reach: "all",
        operation: "listNodes",
        summary: "The nodes of the fleet, with their leases, places, agents and load.",
        replies: { 200: NodeList },
      },
    },
    async () => ({ nodes: await fleet.nodes() }),
  );

  app.get(
    "/v1/nodes/:node",
    {
      schema: { params: NodePath },
      config: {
        tag,
        reach: "all",
        operation: "getNode",
        summary: "One node.",
        replies: { 200: Node },
        problems: ["node_not_found"],
      },
    },
    async ({ params }) => {
      const node = (await fleet.nodes()).find(({ node_id }) => node_id === params.node);
      if (!node) throw new ProblemError("node_not_found");
      return node;
    },
  );

  app.post(
    "/v1/nodes/:node/drain",
    {
      schema: { params: NodePath, body: Type.Object({ undo: Type.Optional(Type.Boolean()) }, { additionalProperties: false }) },
      config: {
        tag,
        reach: "all",
        role: "admin",
        emptyBody: true,
        operation: "drainNode",
        summary: "Let a node give its sessions away, each when its turn has ended. With `undo` it takes new ones again.",
        replies: { 202: { description: "It has been told" } },
        problems: ["node_not_found"],
      },
    },
    async ({ params, body }, reply) => {
      await fleet.mark(params.node, body.undo ? "up" : "draining");
      return reply.code(202).send();
    },
  );

  app.post(
    "/v1/nodes/:node/fence",
    {
      schema: { params: NodePath },
      config: {
        tag,
        reach: "all",
        role: "admin",
        operation: "fenceNode",
        summary: "Take a node's sessions away at once. A node that lives comes back with those that nobody took.",
        replies: { 204: done },
        problems: ["node_not_found"],
      },
    },
    async ({ params }, reply) => {
      await fleet.mark(params.node, "fenced");
      return reply.code(204).send();
    },
  );

  app.post(
    "/v1/sessions/:id/move",
    {
      schema: { params: SessionPath, body: MoveSession },
      config: {
        tag,
        emptyBody: true,
        operation: "moveSession",
        summary: "Give a session to another node, when its turn has ended or now.",
        replies: { 202: { description: "It is being given away" } },
        problems: ["session_not_found", "node_not_found", "node_full", "no_node", "owner_unreachable"],
      },
    },
    async ({ params, body }, reply) => {
      const { when = "turn_end", ...to } = body;
      await fleet.move(params.id, to, when);
      return reply.code(202).send();
    },
  );
}
