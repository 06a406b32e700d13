/** The nodes of a fleet: who is there, what changes among them, and a person's decisions about them. A daemon by itself describes them too: it has no nodes, and says so. */
import Type from "typebox";
import { FleetMessage, MoveSession, Node, NodeList } from "../../schema/node.ts";
import { ProblemError } from "../../schema/problem-codes.ts";
import type { FleetPort } from "../fleet-port.ts";
import type { App, ServerContext } from "../server-context.ts";
import { followFleet } from "../sse/fleet.ts";
import { SseStream } from "../sse/stream.ts";
import { CURSOR, cursorOf, eventStream, logHeaders } from "./events.ts";
import { SessionPath } from "./parameters.ts";

const tag = "nodes";
const NodePath = Type.Object({ node: Type.String({ description: "Name of the node.", minLength: 1, maxLength: 128 }) });
const done = { description: "Done" };

function inFleet(fleet: FleetPort | undefined): FleetPort {
  if (!fleet) throw new ProblemError("no_fleet");
  return fleet;
}

export function nodeRoutes(app: App, { fleet, log, streams }: ServerContext): void {
  app.get(
    "/v1/nodes",
    {
      config: {
        tag,
        reach: "all",
        operation: "listNodes",
        summary: "The nodes of the fleet, with their leases, places, agents and load; none where the daemon is by itself.",
        replies: { 200: NodeList },
      },
    },
    async () => ({ nodes: (await fleet?.nodes()) ?? [] }),
  );

  app.get(
    "/v1/nodes/sse",
    {
      schema: {
        querystring: Type.Object({
          after: Type.Optional(
            Type.String({ pattern: CURSOR, description: "an `id:` of this stream: sessions that moved since are reported" }),
          ),
        }),
      },
      config: {
        tag,
        reach: "all",
        operation: "watchNodes",
        summary: "All nodes, then every change among them and every session that another node takes.",
        description:
          "`event:` is the type: `nodes` first, with all of them; `node.joined`, `node.up`, `node.draining`, `node.lease_lost`, `node.fenced`, `node.left`, `node.forgotten` and `node.load` with the node as it is now; `session.moved` with the session. `id:` is a cursor; with `after` or Last-Event-ID no moved session is missed.",
        replies: { 200: { ...eventStream, schema: FleetMessage } },
        problems: ["cursor_too_large", "log_changed", "too_many_subscribers", "no_fleet"],
      },
    },
    async (request, reply) => {
      const there = inFleet(fleet);
      const after = await cursorOf(request, log);
      streams.mustHaveRoom(request.caller);
      // Asked before the answer begins: a registry that does not answer is a problem, not an empty stream.
      await there.nodes();
      reply.headers(logHeaders(log));
      await followFleet(new SseStream(request, reply, streams, { id: after }), { fleet: there, log, after });
    },
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
      const node = (await fleet?.nodes())?.find(({ node_id }) => node_id === params.node);
      if (!node) throw new ProblemError("node_not_found");
      return node;
    },
  );

  app.post(
    "/v1/nodes/:node/drain",
    {
      schema: {
        params: NodePath,
        body: Type.Object(
          { undo: Type.Optional(Type.Boolean({ description: "Take new sessions again." })) },
          { additionalProperties: false },
        ),
      },
      config: {
        tag,
        reach: "all",
        role: "admin",
        emptyBody: true,
        operation: "drainNode",
        summary: "Let a node give its sessions away, each when its turn has ended. With `undo` it takes new ones again.",
        replies: { 202: { description: "It has been informed" } },
        problems: ["node_not_found", "no_fleet"],
      },
    },
    async ({ params, body }, reply) => {
      await inFleet(fleet).mark(params.node, body.undo ? "up" : "draining");
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
        problems: ["node_not_found", "no_fleet"],
      },
    },
    async ({ params }, reply) => {
      await inFleet(fleet).mark(params.node, "fenced");
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
        problems: ["session_not_found", "node_not_found", "node_full", "no_node", "owner_unreachable", "no_fleet"],
      },
    },
    async ({ params, body }, reply) => {
      const { when = "turn_end", ...to } = body;
      await inFleet(fleet).move(params.id, to, when);
      return reply.code(202).send();
    },
  );
}
