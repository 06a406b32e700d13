/**
 * The HTTP server: puts guard, authentication, routes, streams and WebSocket together. Every request passes the origin guard before it is routed, and is
 * authorised by the route it matched, never by the text of its address.
 */
import type { Server as HttpServer, IncomingMessage } from "node:http";
import fastify from "fastify";
import { ProblemError } from "../schema/problem-codes.ts";
import { Access } from "./access.ts";
import { addAccessControl } from "./access-control.ts";
import { AgentRecognition } from "./agent-caller.ts";
import { AgentRights } from "./agent-rights.ts";
import { Audit } from "./audit.ts";
import { Authenticator } from "./auth.ts";
import { addBodyLimits, OPEN_BODY_BYTES } from "./body-limits.ts";
import { Connections } from "./connections.ts";
import { addressRange, FailureBackOff } from "./failure-back-off.ts";
import { addFleet } from "./fleet.ts";
import { createGuardedServer } from "./guarded-http.ts";
import { addHeavyReads } from "./heavy-reads.ts";
import { addIdempotency, Idempotency } from "./idempotency.ts";
import { parseJson } from "./json-body.ts";
import { LinkPages, type MadeLink } from "./link-pages.ts";
import { Metrics } from "./metrics.ts";
import { NodeRequests } from "./node-requests.ts";
import { OpenStreams } from "./open-streams.ts";
import { OriginGuard, type RequestOrigin } from "./origin-guard.ts";
import { addProblems, sendProblem } from "./problem-replies.ts";
import { toProblemError } from "./problems.ts";
import { addRedaction } from "./redacted-replies.ts";
import { Redactions } from "./redactions.ts";
import { RequestLimits } from "./request-limits.ts";
import { addRequestLog } from "./request-log.ts";
import { Retention } from "./retention.ts";
import { addRoutes } from "./routes/all.ts";
import { securityHeaders } from "./security-headers.ts";
import type { App, ServerContext, ServerOptions } from "./server-context.ts";
import type { Token } from "./token.ts";
import type { TokenStore } from "./token-store.ts";
import { listenOnSocket } from "./unix-listener.ts";
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

const CLOSE_GRACE_MS = 2_000;

export async function createServer(options: ServerOptions): Promise<Server> {
  const streams = new OpenStreams(options.limits.subscribers, options.tokens, options.limits.heartbeat_ms);
  options.tokens.onEndedElsewhere = () => streams.closeRevoked();
  options.manager.onGone = (id) => {
    options.tokens.forgetSession(id);
    streams.closeRevoked();
  };
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

/** While the log cannot write, commands to sessions are refused before they have any effect: none of them could be kept. */
function addLogGuard(app: App, { log }: ServerContext): void {
  app.addHook("preHandler", async ({ method, routeOptions: { url, config } }) => {
    if (method !== "GET" && url?.startsWith("/v1/sessions") && config.withoutLog !== true) log.assertWritable();
  });
}
