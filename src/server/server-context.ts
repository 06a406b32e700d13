// What every route of the server can reach, and what a route says about itself.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from "fastify";
import type { TSchema } from "typebox";
import type { Log } from "../log/contract.ts";
import type { Role } from "../schema/actor.ts";
import type { Dialect } from "../schema/dialect.ts";
import type { ProblemCode } from "../schema/problem-codes.ts";
import type { Indexer } from "../search/indexer.ts";
import type { RetentionPolicy } from "../session/pruning.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { TaskService } from "../workspace/tasks/index.ts";
import type { Access, Reach } from "./access.ts";
import type { AgentRecognition } from "./agent-caller.ts";
import type { AgentDirectory } from "./agent-directory.ts";
import type { AgentAccess, AgentRights } from "./agent-rights.ts";
import type { Audit } from "./audit.ts";
import type { FleetPort } from "./fleet-port.ts";
import type { LinkPages } from "./link-pages.ts";
import type { Logger } from "./logger.ts";
import type { Metrics } from "./metrics.ts";
import type { OpenStreams } from "./open-streams.ts";
import type { RedactionOptions, Redactions } from "./redactions.ts";
import type { Caller } from "./token.ts";
import type { TokenStore } from "./token-store.ts";

export type ServerLimits = {
  body_bytes: number;
  /** All artifacts together; above it, messages with attachments are refused. Default: no limit. */
  artifact_bytes?: number;
  /** Open SSE streams and WebSockets together. */
  subscribers: number;
  /** TCP connections; default: subscribers + 1000. */
  connections?: number;
  /** Time a client has to send its headers; default 10 s. */
  header_timeout_ms?: number;
  /** Sign of life on open streams; default 15 s. */
  heartbeat_ms?: number;
  /** Of one token; twice as many in a burst. Default 2000. */
  requests_per_second?: number;
  /** Of one token, open streams not counted. Default 1000. */
  concurrent_requests?: number;
};

export type ServerOptions = {
  log: Log;
  /** Where the daemon keeps what it writes: links for browsers, files that are being imported. */
  dataDir: string;
  /** How many damaged logs are kept aside, for the metrics. Absent: the engine keeps none. */
  setAsideLogs?: () => number;
  /** When old sessions are removed by themselves. Absent: never. */
  retention?: RetentionPolicy;
  manager: SessionManager;
  agents: AgentDirectory;
  tokens: TokenStore;
  limits: ServerLimits;
  /** What the marks of this daemon's agents begin with. Absent: processes are not looked at. */
  agentInstance?: string;
  /** What agents may do beside reading their own session; default `read`: nothing. */
  agentAccess?: AgentAccess;
  /** Where sessions work that name no directory. */
  defaultDirectory?: string;
  /** Names beside localhost, 127.0.0.1, [::1] and the bound address under which the daemon may be called. */
  allowHosts?: readonly string[];
  /** Foreign origins that may call it, as `https://example.org`. They need a bearer token. */
  allowOrigins?: readonly string[];
  /** Origins of other daemons that this one's inspector may show beside it. */
  daemons?: readonly string[];
  version: string;
  logger: Logger;
  dialects?: ReadonlyMap<string, Dialect>;
  /** Built web UI, served at /ui. */
  inspectorDir?: string;
  /** Built documentation, served at /docs. */
  docsDir?: string;
  /** Absent: there are no tasks. */
  tasks?: TaskService;
  /** Absent: search finds nothing. */
  indexer?: Pick<Indexer, "status">;
  /** What readers below `operate`, and exports, do not get. */
  redaction?: RedactionOptions;
  /** Absent: there is one daemon. */
  fleet?: FleetPort;
  /** Further rooms' routes. */
  routes?: readonly RouteModule[];
};

export type ServerContext = Omit<ServerOptions, "dialects"> & {
  dialects: ReadonlyMap<string, Dialect>;
  streams: OpenStreams;
  metrics: Metrics;
  access: Access;
  audit: Audit;
  links: LinkPages;
  recognition: AgentRecognition | null;
  rights: AgentRights;
  redactions: Redactions;
};

export type App = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse, FastifyBaseLogger, TypeBoxTypeProvider>;

export type RouteModule = (app: App, context: ServerContext) => void;

/** A reply of a route, for OpenAPI: a JSON schema, nothing, or another media type. */
/** `schema`: of each message, where `media` is not JSON. */
export type ReplyDoc = TSchema | { description: string; media?: string; schema?: TSchema };

declare module "fastify" {
  interface FastifyContextConfig {
    operation?: string;
    summary?: string;
    description?: string;
    tag?: string;
    /** Who may call it; `none`: without a token. Default: `observe` for GET, `operate` for the rest. */
    role?: Role | "none";
    /** What of the sessions it touches. Default for routes below /v1/sessions/:id: `session`. All others with a role must say it. */
    reach?: Reach;
    /** Agents may call it: the command it carries out decides what they may. All other routes that change something are refused to agents. */
    agents?: boolean;
    /** Changes nothing that is worth an audit record. */
    unaudited?: boolean;
    /** A person may come here by a link on a foreign page: no data, no effect. */
    navigable?: boolean;
    /** Its body may have `limits.body_bytes`; others are small. */
    largeBody?: boolean;
    /** It takes application/x-ndjson too, of any size: the body is a stream, read as it comes. */
    streamedBody?: boolean;
    /** A long read, of a page or of a whole session: only some of each kind are answered at once. */
    heavy?: "page" | "whole";
    /** An absent body reads as {}. */
    emptyBody?: boolean;
    /** The route deals with the idempotency key itself, or must not keep its replies: they carry secrets. */
    ownIdempotency?: boolean;
    /** With a key it can be begun again: its handler finds out what became of an earlier attempt (`keyOf`). */
    resumable?: boolean;
    /** A command that must work while the log cannot write: it stops something. */
    withoutLog?: boolean;
    /** In a fleet: any node answers it, from the log. */
    anywhere?: boolean;
    /** In a fleet: answered from the log while the session has no owner. */
    fallback?: boolean;
    replies?: Readonly<Record<number, ReplyDoc>>;
    problems?: readonly ProblemCode[];
    /** Not in OpenAPI. */
    hidden?: boolean;
  }
  interface FastifyRequest {
    caller: Caller | null;
    /** Call it when the request is answered: its stream is open, or its reply is sent. Again does nothing. */
    settle: ((status: number) => void) | null;
    /** Of the problem it was answered with. */
    problemCode: ProblemCode | null;
  }
}
