/**
 * The HTTP server below the framework: limits of time and size, and the guard that every request passes before it is routed. Not here: who may call what
 * (access-control.ts), WebSockets (websocket.ts).
 */
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { ProblemError } from "../schema/problem-codes.ts";
import { LONGEST_REQUEST_MS, limitArrival } from "./arrival.ts";
import { refuseMalformed } from "./malformed.ts";
import type { NodeRequests } from "./node-requests.ts";
import type { OriginGuard, RequestOrigin } from "./origin-guard.ts";
import { Pipelining } from "./pipelining.ts";
import { toProblemError, writeProblem } from "./problems.ts";
import type { ServerOptions } from "./server-context.ts";
import { leaveUnreadBody } from "./unread-bodies.ts";

const HEADER_TIMEOUT_MS = 10_000;

export function createGuardedServer(
  { limits, logger }: ServerOptions,
  guard: OriginGuard,
  origins: WeakMap<IncomingMessage, RequestOrigin>,
  nodes: NodeRequests,
  handler: (request: IncomingMessage, response: ServerResponse) => void,
): HttpServer {
  const headersTimeout = limits.header_timeout_ms ?? HEADER_TIMEOUT_MS;
  const server = createServer({
    headersTimeout,
    requestTimeout: Math.max(headersTimeout, LONGEST_REQUEST_MS),
    connectionsCheckingInterval: Math.min(headersTimeout, 2_000),
    keepAliveTimeout: 60_000,
    maxHeaderSize: 32 * 1024,
  });
  // Node leaves out what comes after so many headers, without a word: then nobody could see an Origin that stands there. Their size is limited.
  server.maxHeadersCount = 0;
  refuseMalformed(server);
  const pipelining = new Pipelining();
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    leaveUnreadBody(request, response);
    limitArrival(request, response);
    if (nodes.isInternal(request.url)) return nodes.handle(request, response, () => handler(request, response));
    try {
      if (!request.url?.startsWith("/")) throw new ProblemError("not_found", "Give the path only as the request's target.");
      const origin = guard.check(request);
      origins.set(request, origin);
    } catch (error) {
      const problem = toProblemError(error);
      logger.warn({ host: request.headers.host, origin: request.headers.origin, code: problem.code }, "request refused");
      return writeProblem(response, problem);
    }
    handler(request, response);
  };
  server.on("request", (request, response) => pipelining.inOrder(request, response, () => answer(request, response)));
  return server;
}
