// The daemon as an object. `connect` finds it or takes an address; everything else hangs on what it returns.
import type { UniversalEvent } from "../schema/event.ts";
import type { EventType, ModeInfo, ModelInfo } from "../schema/event-data.ts";
import type { AgentInfo, CreateSession, Problem, Session, SessionList, SessionState, VerifyReport } from "../schema/session.ts";
import { DragomanError } from "./error.ts";
import { eventStream, readSse, type StreamMessage, type StreamState } from "./event-stream.ts";
import { type Call, callOptions, Http, type HttpOptions } from "./http.ts";
import { SessionHandle } from "./session-handle.ts";

export type ListOptions = {
  limit?: number;
  before?: string;
  agent?: string;
  status?: SessionState;
  directory?: string;
  search?: string;
};

export type AllEventsOptions = {
  /** A `cursor` of this stream; absent, it begins now. */
  after?: string;
  types?: EventType[];
  includeRaw?: boolean;
  signal?: AbortSignal | undefined;
  onState?: ((state: StreamState) => void) | undefined;
};

export type ArtifactOptions = { start?: number; end?: number; signal?: AbortSignal | undefined };

/** The models and modes of an agent can differ from directory to directory. */
export type AgentQuery = { directory?: string; signal?: AbortSignal | undefined };

export type Role = "operate" | "observe";
export type Identity = { token_id: string; role: Role; via: "bearer" | "cookie" };
export type MintedToken = { token: string; token_id: string; role: Role };

export class Dragoman {
  readonly http: Http;

  constructor(options: HttpOptions) {
    this.http = new Http(options);
  }

  get url(): string {
    return this.http.url;
  }

  health(signal?: AbortSignal): Promise<{ status: string; version: string }> {
    return this.http.json("GET", "/v1/health", { signal });
  }

  /** Throws `not_ready` while the daemon cannot write its log. */
  ready(signal?: AbortSignal): Promise<{ status: "ready" }> {
    return this.http.json("GET", "/v1/ready", { signal });
  }

  /** Prometheus text. */
  async metrics(signal?: AbortSignal): Promise<string> {
    return (await this.http.open("GET", "/metrics", { signal })).text();
  }

  openApi(signal?: AbortSignal): Promise<Record<string, unknown>> {
    return this.http.json("GET", "/openapi.json", { signal });
  }

  whoAmI(signal?: AbortSignal): Promise<Identity> {
    return this.http.json("GET", "/v1/auth", { signal });
  }

  /** For a page the daemon serves: trades a token for a cookie that scripts cannot read. */
  async signIn(token: string, signal?: AbortSignal): Promise<void> {
    await this.http.json("POST", "/v1/auth/session", { body: { token }, signal });
  }

  /** Ends the cookie or minted token this client uses. Open streams of it are closed. */
  async signOut(signal?: AbortSignal): Promise<void> {
    await this.http.json("POST", "/v1/auth/logout", { body: {}, signal });
  }

  /** A further token, with the same or fewer rights. It dies with the token it was made by. */
  mintToken(role: Role, options: { lifetime_ms?: number; signal?: AbortSignal } = {}): Promise<MintedToken> {
    const { lifetime_ms, signal } = options;
    const body = { role, ...(lifetime_ms === undefined ? {} : { lifetime_ms }) };
    return this.http.json("POST", "/v1/auth/tokens", { body, signal });
  }

  async revokeToken(tokenId: string, signal?: AbortSignal): Promise<void> {
    await this.http.json("DELETE", `/v1/auth/tokens/${encodeURIComponent(tokenId)}`, { signal });
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
  async installAgent(
    agent: string,
    onProgress: (progress: { message: string }) => void = () => {},
    signal?: AbortSignal,
  ): Promise<AgentInfo> {
    const response = await this.http.open("POST", `/v1/agents/${encodeURIComponent(agent)}/install`, {
      body: {},
      headers: { accept: "text/event-stream" },
      signal,
    });
    let info: AgentInfo | undefined;
    for await (const { event, data } of readSse(response)) {
      const value = JSON.parse(data) as unknown;
      if (event === "done") info = value as AgentInfo;
      else if (event === "problem")
        throw new DragomanError((value as Problem).code, (value as Problem).detail, {
          status: (value as Problem).status,
          problem: value as Problem,
        });
      else onProgress(value as { message: string });
    }
    if (!info) throw new DragomanError("stream_ended", "The daemon stopped talking before the installation was done.");
    return info;
  }

  /** Takes up a session that `SessionHandle.export` wrote. */
  importSession(ndjson: string, options: { session_id?: string } = {}, call?: Call): Promise<Session> {
    return this.http.json("POST", "/v1/sessions/import", { body: { ndjson, ...options }, ...callOptions(call) });
  }

  async createSession(request: CreateSession, call?: Call): Promise<SessionHandle> {
    const { session_id } = await this.http.json<Session>("POST", "/v1/sessions", { body: request, ...callOptions(call) });
    return this.session(session_id);
  }

  /** A handle; nothing is asked of the daemon yet. */
  session(id: string): SessionHandle {
    return new SessionHandle(this.http, id);
  }

  sessions(options: ListOptions = {}, signal?: AbortSignal): Promise<SessionList> {
    return this.http.json("GET", "/v1/sessions", { query: { ...options }, signal });
  }

  /** All sessions in one stream, for dashboards. `cursor` of the last event resumes it. */
  async *events(options: AllEventsOptions = {}): AsyncGenerator<{ cursor: string; event: UniversalEvent }, void, undefined> {
    for await (const { id, data } of this.#stream(options)) yield { cursor: id, event: JSON.parse(data) as UniversalEvent };
  }

  /** The same in any dialect the daemon knows, one parsed line at a time. */
  async *dialect(
    name: string,
    options: AllEventsOptions = {},
  ): AsyncGenerator<{ cursor: string; line: unknown }, void, undefined> {
    for await (const { id, data } of this.#stream(options, name)) yield { cursor: id, line: JSON.parse(data) as unknown };
  }

  #stream({ after, types, includeRaw, signal, onState }: AllEventsOptions, dialect?: string): AsyncIterable<StreamMessage> {
    return eventStream(this.http, {
      path: "/v1/events/sse",
      query: { types, include_raw: includeRaw, dialect },
      signal,
      onState,
      ...(after === undefined ? {} : { after }),
    });
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

export type ConnectOptions = Partial<HttpOptions> & { dataDir?: string };

/** With a url: that daemon. Without, in Node: the one that runs on this machine, found through its discovery file. */
export async function connect(options: ConnectOptions = {}): Promise<Dragoman> {
  if (options.url !== undefined) return new Dragoman({ ...options, url: options.url });
  if (typeof process === "undefined" || !process.versions?.node)
    throw new DragomanError("no_daemon", "Give connect() the url of the daemon: only Node can look for one on this machine.");
  const { discover } = await import("./discover.ts");
  const found = await discover(options.dataDir);
  if (!found)
    throw new DragomanError(
      "no_daemon",
      "No daemon is running on this machine. Start one with `dragoman serve`, or give connect() its url and token.",
    );
  return new Dragoman({ ...found, ...(options.fetch ? { fetch: options.fetch } : {}) });
}
