/**
 * Any node answers for any session: what only the owner can do is sent on to it, one hop, before anything of it is carried out here. While a session has no owner its commands wait for the takeover; what the
 * log alone can answer is answered here (`config.anywhere`).
 */
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "../log/contract.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import type { CreateSession } from "../schema/session.ts";
import { RetryLaterError } from "./auth.ts";
import type { FleetPort, PeerNode, SessionRoute } from "./fleet-port.ts";
import { type NodeRequests, readBody } from "./node-requests.ts";
import type { App, ServerContext } from "./server-context.ts";
import { taskPlace } from "./session-place.ts";
import type { Caller } from "./token.ts";

/** How long a command waits for a takeover. */
const HOLD_MS = 15_000;
const LOOK_MS = 200;
/** What a gateway has no answer to: it runs no agents. */
const OF_NODES = ["/v1/agents", "/v1/trust", "/v1/skills", "/v1/directories"];

/** Requests that another node answers: it keeps their audit record too. */
const sentOn = new WeakSet<FastifyRequest>();
export const isSentOn = (request: FastifyRequest): boolean => sentOn.has(request);

/** Bodies that were read for a node that does not own the session any more: it came here meanwhile. */
const bodies = new WeakMap<IncomingMessage, Buffer>();

/** Before the hooks that carry something out: idempotency, and the guard of the log. */
export function addFleet(app: App, context: ServerContext, requests: NodeRequests): void {
  const { fleet } = context;
  if (!fleet) return;
  app.addHook("onRequest", async (request, reply) => {
    const { config, url = "" } = request.routeOptions;
    if (request.is404 || !request.caller || config.anywhere) return;
    const fromNode = requests.callerOf(request.raw) !== undefined;
    const startsTask = config.operation === "startTask";
    if (fleet.kind === "gateway" && !fromNode && (startsTask || OF_NODES.some((each) => url.startsWith(each))))
      return sendOn(fleet, request, reply, async () => ({ node: await fleet.anyNode() }), context);
    const look = await lookFor(fleet, request, context);
    if (look === null) return;
    const route = await look();
    if (fromNode) {
      if (route.at === "node" || route.at === "nowhere") throw new ProblemError("wrong_node");
      return;
    }
    if (route.at === "here" || route.at === "unknown") return;
    if (route.at === "nowhere" && config.fallback) return;
    return sendOn(fleet, request, reply, () => ownerOf(look), context);
  });
  app.addHook("preParsing", async ({ raw }, _, payload) => {
    const body = bodies.get(raw);
    return body ? Object.assign(Readable.from([body]), { receivedEncodedLength: body.length }) : payload;
  });
  app.addHook("preHandler", async (request, reply) => {
    const { config } = request.routeOptions;
    if (config.operation !== "createSession" || requests.callerOf(request.raw) !== undefined) return;
    const body = request.body as CreateSession;
    const tried: string[] = [];
    const next = async (): Promise<{ node: PeerNode } | null> => {
      const node = await fleet.place(body, tried);
      if (node) tried.push(node.node_id);
      return node && { node };
    };
    return sendOn(fleet, request, reply, next, context, Buffer.from(JSON.stringify(body)));
  });
}

/** How to find the node that a request is for; null: no single one, it is answered here. */
async function lookFor(fleet: FleetPort, request: FastifyRequest, { log }: ServerContext): Promise<Look | null> {
  const { url = "" } = request.routeOptions;
  const params = request.params as { id?: string; task?: string };
  if (url.startsWith("/v1/sessions/:id")) return () => fleet.route(params.id ?? "");
  if (url.startsWith("/v1/tasks/:task")) return lookForTask(fleet, params.task ?? "", log);
  return null;
}

/** Where something is now. */
export type Look = () => Promise<SessionRoute>;

/** A task is where its session is; one that runs for none, where it was started. */
export async function lookForTask(fleet: FleetPort, taskId: string, log: Log): Promise<Look> {
  const sessionId = (await taskPlace(log, taskId))?.session_id;
  return () => (sessionId ? fleet.route(sessionId) : fleet.routeTask(taskId));
}

/** Null: it is here now. Waits for a takeover. Throws `owner_unreachable`. */
export async function ownerOf(look: Look): Promise<{ node: PeerNode } | null> {
  const until = Date.now() + HOLD_MS;
  for (;;) {
    const route = await look();
    if (route.at === "node") return { node: route.node };
    if (route.at === "here" || route.at === "unknown") return null;
    if (route.why !== "takeover")
      throw new ProblemError(
        "owner_unreachable",
        `Its ${route.why} is on node ${route.home}, which is not there. It goes on when that node returns.`,
      );
    if (Date.now() > until) throw unreachable("Nobody has taken the session over yet.");
    await delay(LOOK_MS);
  }
}

export const unreachable = (detail: string): ProblemError => new RetryLaterError("owner_unreachable", 5_000, detail);

/** Null from `next`: it is answered here. */
async function sendOn(
  fleet: FleetPort,
  request: FastifyRequest,
  reply: FastifyReply,
  next: () => Promise<{ node: PeerNode } | null>,
  { limits }: ServerContext,
  given?: Buffer,
): Promise<FastifyReply | undefined> {
  const { raw, caller } = request;
  const until = Date.now() + HOLD_MS;
  // Whether it was carried out cannot be known when the answer is lost: only what may be repeated is sent again.
  const mayRepeat = request.method === "GET" || request.headers["idempotency-key"] !== undefined;
  let body: Buffer | null | undefined = given;
  for (;;) {
    const target = await next();
    if (target === null) {
      if (body) bodies.set(raw, body);
      return undefined;
    }
    body ??= hasBody(request) ? await readBody(raw, limits.body_bytes) : null;
    const outcome = await fleet.forward(raw, reply.raw, {
      node: target.node,
      caller: JSON.stringify(caller satisfies Caller | null),
      body,
      headers: corsHeaders(reply),
      onAnswer: () => {
        sentOn.add(request);
        reply.hijack();
      },
    });
    if (outcome === "answered") return reply;
    if (outcome === "lost" && !mayRepeat)
      throw unreachable(
        "Its owner was lost before it answered: what was asked for may have been done. Look before you repeat it.",
      );
    // The request itself counts as destroyed once its body was read.
    if (Date.now() > until || raw.socket.destroyed) throw unreachable("Its owner does not answer.");
    await delay(LOOK_MS);
  }
}

const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

function corsHeaders(reply: FastifyReply): Record<string, string> {
  const all = Object.entries(reply.getHeaders()).filter(([name]) => name.startsWith("access-control-") || name === "vary");
  return Object.fromEntries(all.map(([name, value]) => [name, String(value)]));
}
