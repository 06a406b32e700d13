/**
 * Who may call what: each request is authenticated, held against the access that its route declares, and recorded when it ends. Not here: the rules
 * themselves (access.ts, agent-rights.ts).
 */
import type { IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import { ProblemError } from "../schema/problem-codes.ts";
import { accessOf } from "./access.ts";
import { withAgent } from "./agent-caller.ts";
import { addCors } from "./cors.ts";
import { isSentOn } from "./fleet.ts";
import type { NodeRequests } from "./node-requests.ts";
import { isForeignFetch, isNavigation, type RequestOrigin } from "./origin-guard.ts";
import type { App, ServerContext } from "./server-context.ts";

type Known = { origins: WeakMap<IncomingMessage, RequestOrigin>; nodes: NodeRequests };

export function addAccessControl(app: App, context: ServerContext, { origins, nodes }: Known): void {
  const { access } = context;
  addCors(app, (request) => origins.get(request) ?? "none");
  // A route that forgot to declare its access fails the start, not a request.
  app.addHook("onRoute", (route) => void accessOf(route));
  app.addHook("onRequest", async (request, reply) => {
    const { config } = request.routeOptions;
    const origin = origins.get(request.raw) ?? "none";
    const visiting = config.navigable === true && request.method === "GET" && isNavigation(request.raw);
    if (origin !== "listed" && isForeignFetch(request.raw) && !visiting)
      throw new ProblemError("forbidden_origin", "Pages of other sites may not load anything of the daemon.");
    const needs = request.is404 ? null : accessOf(routeOf(request));
    if (!needs) return;
    const sent = nodes.callerOf(request.raw);
    const token = sent ?? (await access.authenticate(request.raw, origin));
    const caller = sent || request.method === "GET" ? token : await withAgent(token, request.raw, context);
    request.caller = caller;
    // Its end was said already, and would not be said again: its place among those at once would never be free.
    if (reply.raw.closed) throw new ProblemError("request_timeout", "The caller went before it was known who calls.");
    request.settle = settling(request, access.enter(caller), context);
    reply.raw.once("close", () => request.settle?.(reply.statusCode));
    context.rights.mustReach(caller, needs.role);
    await access.check(caller, needs, request.params);
    if (!config.agents) context.rights.mustBePerson(caller);
  });
  app.addHook("preHandler", async (request) => {
    const needs = request.is404 ? null : accessOf(routeOf(request));
    if (request.caller && needs) access.checkBody(request.caller, needs, request);
  });
}

const routeOf = ({ routeOptions: { url = "", method, config } }: FastifyRequest) => ({ url, method, config });

/** Once for each request: its place among those at once is free again, and its audit record is written. */
function settling(request: FastifyRequest, release: () => void, { audit }: ServerContext): (status: number) => void {
  let over = false;
  return (status) => {
    if (over) return;
    over = true;
    release();
    const { config } = request.routeOptions;
    if (config.unaudited || isSentOn(request) || (request.method === "GET" && status !== 403)) return;
    const params = request.params as { id?: string; token?: string; request?: string; task?: string };
    // Only an id is kept: somebody may have given the token itself.
    const token = params.token?.startsWith("tok_") ? params.token : undefined;
    const target = token ?? params.request ?? params.task;
    audit.record({
      operation: config.operation ?? `${request.method} ${request.routeOptions.url}`,
      outcome: status < 400 ? "done" : status < 500 ? "refused" : "failed",
      status,
      actor: request.caller?.actor ?? null,
      ...(request.problemCode === null ? {} : { code: request.problemCode }),
      ...(params.id === undefined ? {} : { session_id: params.id }),
      ...(target === undefined ? {} : { target }),
    });
  };
}
