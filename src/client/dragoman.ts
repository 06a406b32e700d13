/**
 * The daemon as an object: every route that is not of one session or one task has a method here. Not here: which daemon it is (connect.ts), how requests are sent (http.ts).
 */
import type { Role } from "../schema/actor.ts";
import type { ArtifactList, ArtifactPreview, ArtifactQuery } from "../schema/artifact.ts";
import type { AuditList } from "../schema/audit.ts";
import type { UniversalEvent } from "../schema/event.ts";
import type { EventType, ModeInfo, ModelInfo } from "../schema/event-data.ts";
import type { FleetMessage, Node } from "../schema/node.ts";
import type { PruneResult, PruneSessions } from "../schema/prune.ts";
import type { SearchResult } from "../schema/search.ts";
import type {
  AgentInfo,
  CreateSession,
  Session,
  SessionList,
  SessionState,
  TrustedDirectory,
  VerifyReport,
} from "../schema/session.ts";
import type { SkillList } from "../schema/skill.ts";
import type { StreamKind } from "../schema/stream-kind.ts";
import type { StartTask, TaskInfo, TaskList } from "../schema/task.ts";
import { installAgent } from "./agent-install.ts";
import { eventStream, type StreamMessage, type StreamState } from "./event-stream.ts";
import { type Call, callOptions, Http, type HttpOptions } from "./http.ts";
import { payloadOf, type SessionFile } from "./session-file.ts";
import { SessionHandle } from "./session-handle.ts";
import { TaskHandle, type TaskListOptions } from "./task-handle.ts";
import type { Identity, MadeLink, MintedToken, MintOptions, TokenInfo } from "./tokens.ts";

export type ListOptions = {
  limit?: number;
  before?: string;
  agent?: string;
  status?: SessionState;
  directory?: string;
  tag?: string;
  /** Sessions that were put away; default `exclude`. */
  archived?: "exclude" | "only" | "include";
  /** Sessions that have ended; default `include`. */
  ended?: "exclude" | "only" | "include";
  pinned?: boolean;
  /** `created` (default): the newest first; `updated`: the last written first. */
  order?: "created" | "updated";
  search?: string;
} & NodeFilter;

/** In a fleet: only sessions on this node, or on nodes with all these labels. */
export type NodeFilter = { node?: string; labels?: Readonly<Record<string, string>> };

const nodeQuery = (node?: string, labels?: NodeFilter["labels"]) => ({
  node,
  label: labels && Object.entries(labels).map(([name, value]) => `${name}=${value}`),
});

export type AllEventsOptions = NodeFilter & {
  /** A `cursor` of this stream; absent, it begins now. */
  after?: string;
  /** Only streams of these kinds; default all. */
  kinds?: readonly StreamKind[];
  types?: EventType[];
  includeRaw?: boolean;
  signal?: AbortSignal | undefined;
  onState?: ((state: StreamState) => void) | undefined;
};

export type WatchNodesOptions = Pick<AllEventsOptions, "after" | "signal" | "onState">;

export type ArtifactOptions = { start?: number; end?: number; signal?: AbortSignal | undefined };

/** The models and modes of an agent can differ from directory to directory. */
export type AgentQuery = { directory?: string; signal?: AbortSignal | undefined };

export type Health = {
  status: "ok";
  version: string;
  log_id: string;
  epoch: string;
  log: "ok" | "failing" | "fenced" | "damaged";
};

/** `damage`: stored data that cannot be read, found since the daemon started. */
export type Ready = { status: "ready"; damage?: { places: number; sessions: string[]; message: string } };

/** `kind`: user, assistant, reasoning, tool, request, error; several with commas. */
export type SearchFilter = {
  agent?: string;
  directory?: string;
  session?: string;
  kind?: string;
  limit?: number;
  before?: string;
};

export type AuditOptions = { limit?: number; after?: string };

export class Dragoman {
  readonly http: Http;

  readonly #options: HttpOptions;

  constructor(options: HttpOptions) {
    this.#options = options;
    this.http = new Http(options);
  }

  /** The same daemon, reached the same way, with another token or name. */
  with(options: Pick<HttpOptions, "token" | "client" | "agentMark">): Dragoman {
    return new Dragoman({ ...this.#options, ...options });
  }

  get url(): string {
    return this.http.url;
  }

  /** `epoch` belongs to every cursor and sequence that is kept: see `EventsOptions.epoch`. */
  health(signal?: AbortSignal): Promise<Health> {
    return this.http.json("GET", "/v1/health", { signal });
  }

  /** Throws `not_ready` while the daemon cannot write its log. */
  ready(signal?: AbortSignal): Promise<Ready> {
    return this.http.json("GET", "/v1/ready", { signal });
  }

  /** Prometheus text. */
  async metrics(signal?: AbortSignal): Promise<string> {
    return (await this.http.open("GET", "/metrics", { signal })).text();
  }

  /** Other daemons that this one's inspector may show beside it. */
  async daemons(signal?: AbortSignal): Promise<{ url: string }[]> {
    return (await this.http.json<{ daemons: { url: string }[] }>("GET", "/v1/daemons", { signal })).daemons;
  }

  openApi(signal?: AbortSignal): Promise<Record<string, unknown>> {
    return this.http.json("GET", "/openapi.json", { signal });
  }

  whoAmI(signal?: AbortSignal): Promise<Identity> {
    return this.http.json("GET", "/v1/auth", { signal });
  }

  /** For a page the daemon serves: trades the token of a link, or another one, for a short-lived one of its own. */
  signIn(token: string, signal?: AbortSignal): Promise<MintedToken> {
    return this.http.json("POST", "/v1/auth/page", { body: { token }, signal });
  }

  /** Prolongs the token this client uses, when it was made so. */
  renew(signal?: AbortSignal): Promise<{ expires_at: string }> {
    return this.http.json("POST", "/v1/auth/renew", { body: {}, signal });
  }

  /** A link to the inspector, for one visit within a minute, with at most this client's rights. */
  async makeLink(options: { role?: Role; label?: string; signal?: AbortSignal } = {}): Promise<MadeLink> {
    const { signal, ...body } = options;
    const made = await this.http.json<Omit<MadeLink, "url">>("POST", "/v1/auth/links", { body, signal });
    return { ...made, url: `${this.url}/ui#link=${made.token}` };
  }

  /** All valid tokens, without their secrets. For admin tokens. */
  async tokens(signal?: AbortSignal): Promise<(TokenInfo & { parent: string | null })[]> {
    return (await this.http.json<{ tokens: (TokenInfo & { parent: string | null })[] }>("GET", "/v1/auth/tokens", { signal }))
      .tokens;
  }

  /** Who changed what, the newest first. For admin tokens. */
  audit(options: AuditOptions = {}, signal?: AbortSignal): Promise<AuditList> {
    return this.http.json("GET", "/v1/audit", { query: { ...options }, signal });
  }

  /** What was said and done in all sessions, the newest first. `next` of the result is the `before` of the following page. */
  search(q: string, options: SearchFilter = {}, signal?: AbortSignal): Promise<SearchResult> {
    return this.http.json("GET", "/v1/search", { query: { q, ...options }, signal });
  }

  /** Ends the token this client uses, unless it is a root token. Open streams of it are closed. */
  async signOut(signal?: AbortSignal): Promise<void> {
    await this.http.json("POST", "/v1/auth/logout", { body: {}, signal });
  }

  /** A further token, with the same or fewer rights. It ends with the token it was made by. For admin tokens. */
  mintToken(role: Role, options: MintOptions = {}): Promise<MintedToken> {
    const { signal, ...spec } = options;
    return this.http.json("POST", "/v1/auth/tokens", { body: { role, ...spec }, signal });
  }

  async revokeToken(tokenId: string, signal?: AbortSignal): Promise<void> {
    await this.http.json("DELETE", `/v1/auth/tokens/${encodeURIComponent(tokenId)}`, { signal });
  }

  /** Of a fleet; a daemon by itself has none. */
  async nodes(signal?: AbortSignal): Promise<Node[]> {
    return (await this.http.json<{ nodes: Node[] }>("GET", "/v1/nodes", { signal })).nodes;
  }

  /** All nodes, then every change among them and every session that another node takes. `cursor` of the last message resumes it; it goes on across reconnects. */
  async *watchNodes(options: WatchNodesOptions = {}): AsyncGenerator<{ cursor: string; message: FleetMessage }, void, undefined> {
    const { after, signal, onState } = options;
    const stream = eventStream(this.http, { path: "/v1/nodes/sse", signal, onState, ...(after === undefined ? {} : { after }) });
    for await (const { id, data } of stream) yield { cursor: id, message: JSON.parse(data) as FleetMessage };
  }

  node(nodeId: string, signal?: AbortSignal): Promise<Node> {
    return this.http.json("GET", `/v1/nodes/${encodeURIComponent(nodeId)}`, { signal });
  }

  /** Lets a node give its sessions away, each when its turn has ended. */
  async drainNode(nodeId: string, options: { undo?: boolean } = {}, signal?: AbortSignal): Promise<void> {
    await this.http.json("POST", `/v1/nodes/${encodeURIComponent(nodeId)}/drain`, { body: options, signal });
  }

  /** Takes a node's sessions away at once. */
  async fenceNode(nodeId: string, signal?: AbortSignal): Promise<void> {
    await this.http.json("POST", `/v1/nodes/${encodeURIComponent(nodeId)}/fence`, { body: {}, signal });
  }

  async agents(signal?: AbortSignal): Promise<AgentInfo[]> {
    return (await this.http.json<{ agents: AgentInfo[] }>("GET", "/v1/agents", { signal })).agents;
  }

  agent(id: string, signal?: AbortSignal): Promise<AgentInfo> {
    return this.http.json("GET", `/v1/agents/${encodeURIComponent(id)}`, { signal });
  }

  async models(agent: string, { directory, signal }: AgentQuery = {}): Promise<ModelInfo[]> {
    const path = `/v1/agents/${encodeURIComponent(agent)}/models`;
    return (await this.http.json<{ models: ModelInfo[] }>("GET", path, { query: { directory }, signal })).models;
  }

  async modes(agent: string, { directory, signal }: AgentQuery = {}): Promise<ModeInfo[]> {
    const path = `/v1/agents/${encodeURIComponent(agent)}/modes`;
    return (await this.http.json<{ modes: ModeInfo[] }>("GET", path, { query: { directory }, signal })).modes;
  }

  /** What `dragoman verify` last found out about it; throws `never_verified` if it was never run. */
  verifyReport(agent: string, signal?: AbortSignal): Promise<VerifyReport> {
    return this.http.json("GET", `/v1/agents/${encodeURIComponent(agent)}/verify`, { signal });
  }

  /** Installs an agent from the npm registry into the daemon's data directory. */
  installAgent(
    agent: string,
    onProgress: (progress: { message: string }) => void = () => {},
    signal?: AbortSignal,
  ): Promise<AgentInfo> {
    return installAgent(this.http, agent, onProgress, signal);
  }

  /** Directories whose settings agents may load. */
  async trustedDirectories(signal?: AbortSignal): Promise<TrustedDirectory[]> {
    return (await this.http.json<{ directories: TrustedDirectory[] }>("GET", "/v1/trust", { signal })).directories;
  }

  /** From their next start on, agents load the settings, hooks, MCP servers and plugins of this directory and run its programs. */
  trustDirectory(directory: string, signal?: AbortSignal): Promise<TrustedDirectory> {
    return this.http.json("POST", "/v1/trust", { body: { directory }, signal });
  }

  /** Agents that run keep what they have loaded until their next start. */
  async distrustDirectory(directory: string, signal?: AbortSignal): Promise<void> {
    await this.http.json("DELETE", "/v1/trust", { query: { directory }, signal });
  }

  /** Directories of the daemon's machine whose path begins so: for a field where a person names one. */
  async directories(path = "", signal?: AbortSignal): Promise<string[]> {
    return (await this.http.json<{ directories: string[] }>("GET", "/v1/directories", { query: { path }, signal })).directories;
  }

  /** The Agent Skills there are for a directory, and how each agent sees them. Without a directory: the user's own. */
  skills(options: { directory?: string } = {}, signal?: AbortSignal): Promise<SkillList> {
    return this.http.json("GET", "/v1/skills", { query: options, signal });
  }

  /** Takes up a session that `SessionHandle.export` wrote: all of it or nothing. A file of any size is sent as it is read. */
  async importSession(file: SessionFile, options: { session_id?: string; resume?: boolean } = {}, call?: Call): Promise<Session> {
    const payload = { type: "application/x-ndjson", body: await payloadOf(file) };
    return this.http.json("POST", "/v1/sessions/import", { payload, query: options, ...callOptions(call) });
  }

  /**
   * Removes sessions whose last event is older, or says which with `dry_run`. One call removes at most 200: call it again while `has_more` is true. Sessions
   * that are live, pinned or tagged, or have something open or queued, always stay.
   */
  pruneSessions(request: PruneSessions, call?: Call): Promise<PruneResult> {
    return this.http.json("POST", "/v1/sessions/prune", { body: request, ...callOptions(call) });
  }

  async createSession(request: CreateSession, call?: Call): Promise<SessionHandle> {
    const { session_id } = await this.http.json<Session>("POST", "/v1/sessions", { body: request, ...callOptions(call) });
    return this.session(session_id);
  }

  /** A handle; nothing is asked of the daemon yet. */
  session(id: string): SessionHandle {
    return new SessionHandle(this.http, id);
  }

  sessions({ node, labels, ...options }: ListOptions = {}, signal?: AbortSignal): Promise<SessionList> {
    return this.http.json("GET", "/v1/sessions", { query: { ...options, ...nodeQuery(node, labels) }, signal });
  }

  /** A handle; nothing is asked of the daemon yet. */
  task(id: string): TaskHandle {
    return new TaskHandle(this.http, id);
  }

  /** Starts a command in any directory of the daemon's machine, for no session. For one in a session: `session(id).startTask`. */
  async startTask(request: StartTask, call?: Call): Promise<TaskHandle> {
    const { task_id } = await this.http.json<TaskInfo>("POST", "/v1/tasks", { body: request, ...callOptions(call) });
    return this.task(task_id);
  }

  /** The newest first. */
  tasks(options: TaskListOptions = {}, signal?: AbortSignal): Promise<TaskList> {
    return this.http.json("GET", "/v1/tasks", { query: { ...options }, signal });
  }

  /** All sessions in one stream, for dashboards. `cursor` of the last event resumes it. */
  async *events(options: AllEventsOptions = {}): AsyncGenerator<{ cursor: string; event: UniversalEvent }, void, undefined> {
    for await (const { id, data } of this.#stream(options)) yield { cursor: id, event: JSON.parse(data) as UniversalEvent };
  }

  /** The same in any dialect the daemon knows, one parsed line at a time. */
  async *dialect(
    name: string,
    options: AllEventsOptions & { version?: number } = {},
  ): AsyncGenerator<{ cursor: string; line: unknown }, void, undefined> {
    for await (const { id, data } of this.#stream(options, name)) yield { cursor: id, line: JSON.parse(data) as unknown };
  }

  #stream(
    { after, kinds, types, includeRaw, version, node, labels, signal, onState }: AllEventsOptions & { version?: number },
    dialect?: string,
  ): AsyncIterable<StreamMessage> {
    return eventStream(this.http, {
      path: "/v1/events/sse",
      query: { kind: kinds?.join(","), types, include_raw: includeRaw, dialect, version, ...nodeQuery(node, labels) },
      signal,
      onState,
      ...(after === undefined ? {} : { after }),
    });
  }

  /** What sessions and tasks stored beside their events, the newest first. */
  artifacts(options: ArtifactQuery = {}, signal?: AbortSignal): Promise<ArtifactList> {
    return this.http.json("GET", "/v1/artifacts", { query: { ...options }, signal });
  }

  /** A short look at an artifact: both ends of a text, JSON laid out, the size of an image, the files of a diff. */
  artifactPreview(artifactId: string, signal?: AbortSignal): Promise<ArtifactPreview> {
    return this.http.json("GET", `/v1/artifacts/${encodeURIComponent(artifactId)}/preview`, { signal });
  }

  /** Bytes of an artifact, by its id or by the path in a content part; `start` and `end` (inclusive) choose a part of them. */
  async artifact(idOrPath: string, options: AbortSignal | ArtifactOptions = {}): Promise<Response> {
    const { signal, start, end }: ArtifactOptions = "aborted" in options ? { signal: options } : options;
    const ranged = start !== undefined || end !== undefined;
    return this.http.open("GET", idOrPath.startsWith("/") ? idOrPath : `/v1/artifacts/${encodeURIComponent(idOrPath)}`, {
      signal,
      ...(ranged ? { headers: { range: `bytes=${start ?? 0}-${end ?? ""}` } } : {}),
    });
  }
}
