/**
 * The HTTP server: puts guard, authentication, routes, streams and WebSocket together. Every request passes the origin guard before it is routed, and is
 * authorised by the route it matched, never by the text of its address.
 */
import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import fastify, { type FastifyReply } from "fastify";
import { ProblemError } from "../schema/problem-codes.ts";
import { Authenticator } from "./auth.ts";
import { addCors } from "./cors.ts";
import { FailureBackOff } from "./failure-back-off.ts";
import { addIdempotency, Idempotency } from "./idempotency.ts";
import { parseJson } from "./json-body.ts";
import { Metrics } from "./metrics.ts";
import { OpenStreams } from "./open-streams.ts";
import { OpenApi } from "./openapi.ts";
import { isForeignFetch, isNavigation, OriginGuard, type RequestOrigin } from "./origin-guard.ts";
import { problemHeaders, problemOf, toProblemError, writeProblem } from "./problems.ts";
import { addRequestLog } from "./request-log.ts";
import { RouteTable } from "./route-table.ts";
import { agentRoutes } from "./routes/agents.ts";
import { artifactRoutes } from "./routes/artifacts.ts";
import { authRoutes } from "./routes/auth.ts";
import { eventRoutes } from "./routes/events.ts";
import { ledgerRoutes } from "./routes/ledger.ts";
import { messageRoutes } from "./routes/messages.ts";
import { requestRoutes } from "./routes/requests.ts";
import { sessionRoutes } from "./routes/sessions.ts";
import { socketRoutes } from "./routes/socket.ts";
import { systemRoutes } from "./routes/system.ts";
import { uiRoutes } from "./routes/ui.ts";
import { securityHeaders } from "./security-headers.ts";
import type { App, ServerContext, ServerOptions } from "./server-context.ts";
import { validatorCompiler } from "./validator.ts";
import { createUpgradeHandler } from "./websocket.ts";

export type { AgentDirectory, InstallProgress } from "./agent-directory.ts";
export type { Dialect, RouteModule, ServerLimits, ServerOptions } from "./server-context.ts";
export { type Role, type Token, TokenStore } from "./token-store.ts";

export interface Server {
  /** Port 0 takes a free one. Rejects with the system's error (`EADDRINUSE`, `EACCES`). */
  listen(address: { host: string; port: number }): Promise<{ url: string; port: number }>;
  /** Ends all streams, lets running requests finish for a moment, then closes. */
  close(): Promise<void>;
}

const HEADER_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 120_000;
const CLOSE_GRACE_MS = 2_000;

export async function createServer(options: ServerOptions): Promise<Server> {
  const streams = new OpenStreams(options.limits.subscribers, options.tokens, options.limits.heartbeat_ms);
  const metrics = new Metrics({ log: options.log, manager: options.manager, streams, version: options.version });
  const context: ServerContext = { ...options, dialects: options.dialects ?? new Map(), streams, metrics };
  const guard = new OriginGuard({ allowHosts: options.allowHosts ?? [], allowOrigins: options.allowOrigins ?? [] });
  const authenticator = new Authenticator(options.tokens, new FailureBackOff());
  const origins = new WeakMap<IncomingMessage, RequestOrigin>();
  let http: HttpServer | undefined;

  const app: App = fastify({
    logger: false,
    bodyLimit: options.limits.body_bytes,
    exposeHeadRoutes: false,
    forceCloseConnections: "idle",
    routerOptions: { maxParamLength: 512 },
    frameworkErrors: (error, _, reply) => void sendProblem(reply.headers(securityHeaders), toProblemError(error)),
    serverFactory: (handler) => {
      http = createGuardedServer(options, guard, origins, handler);
      return http;
    },
  }).withTypeProvider();
  configure(app);
  addRequestLog(app, context);
  addAccessControl(app, authenticator, origins);
  addIdempotency(app, new Idempotency(options.log));
  addProblems(app, context);
  addRoutes(app, context, authenticator);
  await app.ready();
  http?.on("upgrade", createUpgradeHandler(context, guard, authenticator));

  return {
    async listen({ host, port }) {
      if (host !== "0.0.0.0" && host !== "::") guard.allowHost(host);
      await app.listen({ host, port });
      const address = http?.address();
      const bound = typeof address === "object" && address ? address.port : port;
      return { url: `http://${shownHost(host)}:${bound}`, port: bound };
    },
    async close() {
      streams.closeAll();
      metrics.close();
      const timer = setTimeout(() => http?.closeAllConnections(), CLOSE_GRACE_MS).unref();
      await app.close();
      clearTimeout(timer);
    },
  };
}

/** An address a browser can open. */
const shownHost = (host: string): string =>
  host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;

function createGuardedServer(
  { limits, logger }: ServerOptions,
  guard: OriginGuard,
  origins: WeakMap<IncomingMessage, RequestOrigin>,
  handler: (request: IncomingMessage, response: ServerResponse) => void,
): HttpServer {
  const headersTimeout = limits.header_timeout_ms ?? HEADER_TIMEOUT_MS;
  const server = createHttpServer({
    headersTimeout,
    requestTimeout: Math.max(headersTimeout, REQUEST_TIMEOUT_MS),
    connectionsCheckingInterval: Math.min(headersTimeout, 2_000),
    keepAliveTimeout: 60_000,
    maxHeaderSize: 32 * 1024,
  });
  server.maxConnections = limits.connections ?? limits.subscribers + 1_000;
  server.on("request", (request, response) => {
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
  });
  return server;
}

function configure(app: App): void {
  app.decorateRequest("caller", null);
  app.setValidatorCompiler(validatorCompiler);
  // Replies are trusted; their schemas are documentation.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "string" }, (_, body, done) => {
    try {
      done(null, parseJson(String(body)));
    } catch (error) {
      done(toProblemError(error));
    }
  });
  app.addHook("onRequest", async (_, reply) => void reply.headers(securityHeaders));
  app.addHook("preValidation", async (request) => {
    if (request.routeOptions.config.emptyBody) request.body ??= {};
  });
}

function addAccessControl(app: App, authenticator: Authenticator, origins: WeakMap<IncomingMessage, RequestOrigin>): void {
  addCors(app, (request) => origins.get(request) ?? "none");
  app.addHook("onRequest", async (request) => {
    const { config } = request.routeOptions;
    const origin = origins.get(request.raw) ?? "none";
    const visiting = config.navigable === true && request.method === "GET" && isNavigation(request.raw);
    if (origin !== "listed" && isForeignFetch(request.raw) && !visiting)
      throw new ProblemError("forbidden_origin", "Pages of other sites may not load anything of the daemon.");
    if (request.is404 || config.role === "none") return;
    request.caller = authenticator.authorize(
      request.raw,
      config.role ?? (request.method === "GET" ? "observe" : "operate"),
      origin,
    );
  });
}

function addProblems(app: App, { logger }: ServerContext): void {
  const table = new RouteTable();
  app.addHook("onRoute", (route) => table.add(route));
  app.setNotFoundHandler((request) => {
    const methods = table.methodsOf(request.url);
    // A route that has the method and still does not know: a file that is not there.
    if (methods.length === 0 || methods.includes(request.method)) throw new ProblemError("not_found");
    throw new MethodError(methods);
  });
  app.setErrorHandler((error, request, reply) => {
    const problem = toProblemError(error);
    if (problem.status >= 500) logger.error({ err: problem.cause ?? error, route: request.routeOptions.url }, "request failed");
    if (problem instanceof MethodError) reply.header("allow", problem.methods.join(", "));
    return sendProblem(reply, problem);
  });
}

/** As bytes: the framework would add a charset to text, and problem+json has none. */
const sendProblem = (reply: FastifyReply, problem: ProblemError): FastifyReply =>
  reply
    .code(problem.status)
    .headers(problemHeaders(problem))
    .send(Buffer.from(JSON.stringify(problemOf(problem))));

class MethodError extends ProblemError {
  readonly methods: readonly string[];
  constructor(methods: readonly string[]) {
    super("method_not_allowed", `This route takes ${methods.join(" and ")}. See /openapi.json.`);
    this.methods = methods;
  }
}

function addRoutes(app: App, context: ServerContext, authenticator: Authenticator): void {
  const openApi = new OpenApi(context.version);
  app.addHook("onRoute", (route) => openApi.add(route));
  const checkToken = authenticator.check.bind(authenticator);
  systemRoutes(app, context, openApi);
  authRoutes(app, context, checkToken);
  agentRoutes(app, context);
  sessionRoutes(app, context);
  messageRoutes(app, context);
  eventRoutes(app, context);
  requestRoutes(app, context);
  ledgerRoutes(app, context);
  artifactRoutes(app, context);
  socketRoutes(app);
  uiRoutes(app, context, checkToken);
  for (const add of context.routes ?? []) add(app, context);
}
