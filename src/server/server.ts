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
import { Readable } from "node:stream";
import fastify, { type FastifyReply, type FastifyRequest } from "fastify";
import { ProblemError } from "../schema/problem-codes.ts";
import { Access, accessOf } from "./access.ts";
import { AgentRecognition, withAgent } from "./agent-caller.ts";
import { AgentRights } from "./agent-rights.ts";
import { LONGEST_REQUEST_MS, limitArrival } from "./arrival.ts";
import { Audit } from "./audit.ts";
import { Authenticator } from "./auth.ts";
import { addBodyLimits, OPEN_BODY_BYTES } from "./body-limits.ts";
import { Connections } from "./connections.ts";
import { addCors } from "./cors.ts";
import { addressRange, FailureBackOff } from "./failure-back-off.ts";
import { addFleet, isSentOn } from "./fleet.ts";
import { addHeavyReads } from "./heavy-reads.ts";
import { addIdempotency, Idempotency } from "./idempotency.ts";
import { parseJson } from "./json-body.ts";
import { LinkPages, type MadeLink } from "./link-pages.ts";
import { refuseMalformed } from "./malformed.ts";
import { Metrics } from "./metrics.ts";
import { NodeRequests } from "./node-requests.ts";
import { OpenStreams } from "./open-streams.ts";
import { OpenApi } from "./openapi.ts";
import { isForeignFetch, isNavigation, OriginGuard, type RequestOrigin } from "./origin-guard.ts";
import { Pipelining } from "./pipelining.ts";
import { problemHeaders, problemOf, toProblemError, writeProblem } from "./problems.ts";
import { Redactions } from "./redactions.ts";
import { RequestLimits } from "./request-limits.ts";
import { addRequestLog } from "./request-log.ts";
import { Retention } from "./retention.ts";
import { RouteTable } from "./route-table.ts";
import { agentRoutes } from "./routes/agents.ts";
import { artifactRoutes } from "./routes/artifacts.ts";
import { auditRoutes } from "./routes/audit.ts";
import { authRoutes } from "./routes/auth.ts";
import { checkpointRoutes } from "./routes/checkpoints.ts";
import { directoryRoutes } from "./routes/directories.ts";
import { eventRoutes } from "./routes/events.ts";
import { fileChangeRoutes } from "./routes/file-changes.ts";
import { fileRoutes } from "./routes/files.ts";
import { ledgerRoutes } from "./routes/ledger.ts";
import { messageRoutes } from "./routes/messages.ts";
import { nodeRoutes } from "./routes/nodes.ts";
import { pruneRoutes } from "./routes/prune.ts";
import { queueRoutes } from "./routes/queue.ts";
import { requestRoutes } from "./routes/requests.ts";
import { searchRoutes } from "./routes/search.ts";
import { sessionRoutes } from "./routes/sessions.ts";
import { shareRoutes } from "./routes/share.ts";
import { socketRoutes } from "./routes/socket.ts";
import { stateRoutes } from "./routes/state.ts";
import { systemRoutes } from "./routes/system.ts";
import { taskOutputRoutes } from "./routes/task-output.ts";
import { taskRoutes } from "./routes/tasks.ts";
import { uiRoutes } from "./routes/ui.ts";
import { securityHeaders } from "./security-headers.ts";
import type { App, ServerContext, ServerOptions } from "./server-context.ts";
import type { Token } from "./token.ts";
import type { TokenStore } from "./token-store.ts";
import { listenOnSocket } from "./unix-listener.ts";
import { leaveUnreadBody } from "./unread-bodies.ts";
import { validatorCompiler } from "./validator.ts";
import { createUpgradeHandler } from "./websocket.ts";

export type { AgentDirectory, InstallProgress } from "./agent-directory.ts";
export type { RouteModule, ServerLimits, ServerOptions } from "./server-context.ts";
export type { Caller, Scope, Token } from "./token.ts";
export { TokenStore } from "./token-store.ts";

export interface Server {
  /** Port 0 takes a free one. Rejects with the system's error (`EADDRINUSE`, `EACCES`). */
  listen(address: { host: string; port: number; socket?: string }): Promise<{ url: string; port: number }>;
  /** A link for a browser, with the rights of the root token but those over tokens. */
  makeLink(): MadeLink;
  /** Ends all streams, lets running requests finish for a moment, then closes. */
  close(): Promise<void>;
}

const HEADER_TIMEOUT_MS = 10_000;
const CLOSE_GRACE_MS = 2_000;

export async function createServer(options: ServerOptions): Promise<Server> {
  const streams = new OpenStreams(options.limits.subscribers, options.tokens, options.limits.heartbeat_ms);
  options.tokens.onEndedElsewhere = () => streams.closeRevoked();
  const metrics = new Metrics({
    log: options.log,
    manager: options.manager,
    streams,
    version: options.version,
    setAsideLogs: options.setAsideLogs ?? (() => 0),
    fleet: options.fleet && (() => options.fleet?.metrics() ?? {}),
  });
  const redactions = new Redactions(options.redaction ?? {}, options.log, (word) => options.tokens.find(word) !== undefined);
  const guard = new OriginGuard({ allowHosts: options.allowHosts ?? [], allowOrigins: options.allowOrigins ?? [] });
  const audit = new Audit(options.log, options.logger);
  const authenticator = new Authenticator(options.tokens, new FailureBackOff(), ({ socket }) =>
    audit.refused(addressRange(socket.remoteAddress)),
  );
  const rights = new AgentRights(options.manager, options.agentAccess ?? "read");
  const descends = rights.descends.bind(rights);
  const access = new Access({ ...options, authenticator, limits: requestLimits(options), descends });
  let url = "";
  const links = new LinkPages(options.dataDir, options.tokens, () => url);
  const fleet = options.fleet !== undefined;
  const instance = options.agentInstance ?? (fleet ? "" : undefined);
  const recognition = instance === undefined ? null : new AgentRecognition(instance, { fleet });
  const dialects = options.dialects ?? new Map();
  const context: ServerContext = {
    ...options,
    dialects,
    streams,
    metrics,
    access,
    audit,
    links,
    recognition,
    rights,
    redactions,
  };
  const retention = new Retention(context, options.retention ?? { keep: 0 });
  const origins = new WeakMap<IncomingMessage, RequestOrigin>();
  let http: HttpServer | undefined;
  let local: HttpServer | undefined;
  let removeSocket = (): void => {};
  const nodes = new NodeRequests(options.fleet);
  const connections = new Connections(options.limits.connections ?? options.limits.subscribers + 1_000);

  const app: App = fastify({
    logger: false,
    bodyLimit: OPEN_BODY_BYTES,
    exposeHeadRoutes: false,
    forceCloseConnections: "idle",
    routerOptions: { maxParamLength: 512 },
    // Not made: `configure` sets ours. Those of fastify cost a tenth of the daemon's start, and are left out of the bundle.
    schemaController: { compilersFactory: { buildValidator: notUsed, buildSerializer: notUsed } },
    // Ours is on both servers already.
    clientErrorHandler: () => {},
    frameworkErrors: (error, _, reply) => void sendProblem(reply.headers(securityHeaders), toProblemError(error)),
    serverFactory: (handler) => {
      http = createGuardedServer(options, guard, origins, nodes, handler);
      local = createGuardedServer(options, guard, origins, nodes, handler);
      for (const each of [http, local]) connections.watch(each);
      return http;
    },
  }).withTypeProvider();
  configure(app);
  addRequestLog(app, context);
  nodes.addTo(app);
  addAccessControl(app, context, { origins, nodes });
  app.addHook("onRequest", async ({ caller, raw }, reply) => {
    if (caller) connections.keep(raw.socket, reply.raw);
  });
  addFleet(app, context, nodes);
  addBodyLimits(app, options.limits);
  addHeavyReads(app);
  addLogGuard(app, context);
  addIdempotency(app, new Idempotency(options.log));
  addRedaction(app, context);
  addProblems(app, context);
  addRoutes(app, context, authenticator);
  await app.ready();
  const upgrade = createUpgradeHandler(context, guard, nodes, (socket) => connections.keep(socket));
  for (const each of [http, local]) each?.on("upgrade", upgrade);

  return {
    async listen({ host, port, socket }) {
      if (host !== "0.0.0.0" && host !== "::") guard.allowHost(host);
      await app.listen({ host, port });
      if (socket !== undefined && local) removeSocket = await listenOnSocket(local, socket);
      const address = http?.address();
      const bound = typeof address === "object" && address ? address.port : port;
      url = `http://${shownHost(host)}:${bound}`;
      retention.start();
      return { url, port: bound };
    },
    makeLink: () => links.make(rootToken(options.tokens)),
    async close() {
      removeSocket();
      streams.closeAll();
      nodes.close();
      links.removeAll();
      await retention.stop();
      const cut = (): void => [http, local].forEach((each) => void each?.closeAllConnections());
      const timer = setTimeout(cut, CLOSE_GRACE_MS).unref();
      await Promise.all([app.close(), closed(local)]);
      clearTimeout(timer);
    },
  };
}

function rootToken(tokens: TokenStore): Token {
  const root = tokens.list().find(({ kind, role }) => kind === "root" && role === "admin");
  if (!root) throw new ProblemError("unauthorized", "There is no root token: its file is gone. Start the daemon again.");
  return root;
}

const closed = (server: HttpServer | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (!server?.listening) return resolve();
    server.close(() => resolve());
    server.closeIdleConnections();
  });

/** An address a browser can open. */
const shownHost = (host: string): string =>
  host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;

function createGuardedServer(
  { limits, logger }: ServerOptions,
  guard: OriginGuard,
  origins: WeakMap<IncomingMessage, RequestOrigin>,
  nodes: NodeRequests,
  handler: (request: IncomingMessage, response: ServerResponse) => void,
): HttpServer {
  const headersTimeout = limits.header_timeout_ms ?? HEADER_TIMEOUT_MS;
  const server = createHttpServer({
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

const notUsed = (): never => {
  throw new Error("The server sets its own compilers.");
};

function configure(app: App): void {
  app.decorateRequest("caller", null);
  app.decorateRequest("settle", null);
  app.decorateRequest("problemCode", null);
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
  app.addContentTypeParser("application/x-ndjson", (request, payload, done) => {
    if (request.routeOptions.config.streamedBody) done(null, payload);
    else done(new ProblemError("unsupported_media_type"));
  });
  app.addHook("onRequest", async (_, reply) => void reply.headers(securityHeaders));
  app.addHook("preValidation", async (request) => {
    if (request.routeOptions.config.emptyBody) request.body ??= {};
  });
}

const requestLimits = ({ limits }: ServerOptions): RequestLimits =>
  new RequestLimits({ perSecond: limits.requests_per_second ?? 2_000, atOnce: limits.concurrent_requests ?? 1_000 });

type Known = { origins: WeakMap<IncomingMessage, RequestOrigin>; nodes: NodeRequests };

function addAccessControl(app: App, context: ServerContext, { origins, nodes }: Known): void {
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

/** While the log cannot write, commands to sessions are refused before they have any effect: none of them could be kept. */
function addLogGuard(app: App, { log }: ServerContext): void {
  app.addHook("preHandler", async ({ method, routeOptions: { url, config } }) => {
    if (method !== "GET" && url?.startsWith("/v1/sessions") && config.withoutLog !== true) log.assertWritable();
  });
}

/** Every JSON reply to a caller who may not see secrets. Streams see to it themselves; tokens are what replies of /v1/auth are for. */
function addRedaction(app: App, { redactions }: ServerContext): void {
  app.addHook("onSend", async (request, reply, payload) => {
    if (!redactions.applyTo(request.caller) || request.routeOptions.url?.startsWith("/v1/auth")) return payload;
    if (!/json/.test(String(reply.getHeader("content-type") ?? ""))) return payload;
    const { id, task } = { id: undefined, task: undefined, ...(request.params as object | null) };
    const own = [id, task].filter((name) => typeof name === "string");
    // A long answer comes in pieces. When its reader goes, the source is closed too.
    if (payload instanceof Readable) return redactions.cleaned(payload, own);
    if (typeof payload !== "string" && !Buffer.isBuffer(payload)) return payload;
    const json = payload.toString();
    const text = await redactions.text(json, own.length > 0 ? own : sessionsIn(json));
    reply.removeHeader("content-length");
    return Buffer.isBuffer(payload) ? Buffer.from(text) : text;
  });
}

/** Whose secrets may be in a list: each entry says of which session or task it is. */
const sessionsIn = (json: string): string[] => [
  ...new Set([...json.matchAll(/"(?:session_id|origin_session_id|task_id)":"([^"\\]{1,128})"/g)].map(([, id = ""]) => id)),
];

function addProblems(app: App, { logger }: ServerContext): void {
  const table = new RouteTable();
  app.addHook("onRoute", (route) => table.add(route));
  const notFound = (request: FastifyRequest): ProblemError => {
    const methods = table.methodsOf(request.url);
    // A route that has the method and still does not know: a file that is not there.
    return methods.length === 0 || methods.includes(request.method) ? new ProblemError("not_found") : new MethodError(methods);
  };
  // Already here: the body of a request that matches nothing is not read.
  app.addHook("onRequest", async (request) => {
    if (request.is404) throw notFound(request);
  });
  app.setNotFoundHandler((request) => {
    throw notFound(request);
  });
  app.setErrorHandler((error, request, reply) => {
    const problem = toProblemError(error);
    if (problem.status >= 500) logger.error({ err: problem.cause ?? error, route: request.routeOptions.url }, "request failed");
    request.problemCode = problem.code;
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
  systemRoutes(app, context, openApi);
  authRoutes(app, context, authenticator);
  auditRoutes(app, context);
  agentRoutes(app, context);
  sessionRoutes(app, context);
  pruneRoutes(app, context);
  messageRoutes(app, context);
  eventRoutes(app, context);
  queueRoutes(app, context);
  requestRoutes(app, context);
  stateRoutes(app, context);
  ledgerRoutes(app, context);
  artifactRoutes(app, context);
  checkpointRoutes(app, context);
  searchRoutes(app, context);
  if (context.tasks) {
    taskRoutes(app, context, context.tasks);
    taskOutputRoutes(app, context, context.tasks);
  }
  fileRoutes(app, context);
  directoryRoutes(app, context);
  shareRoutes(app, context);
  fileChangeRoutes(app, context);
  nodeRoutes(app, context);
  socketRoutes(app);
  uiRoutes(app, context);
  for (const add of context.routes ?? []) add(app, context);
}
