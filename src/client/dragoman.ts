// The daemon as an object. `connect` finds it or takes an address; everything else hangs on what it returns.
import type { UniversalEvent } from "../schema/event.ts";
import type { ModeInfo, ModelInfo } from "../schema/event-data.ts";
import type { AgentInfo, CreateSession, Problem, Session, SessionList, SessionState } from "../schema/session.ts";
import { DragomanError } from "./error.ts";
import { eventStream, readSse, type StreamState } from "./event-stream.ts";
import { Http, type HttpOptions } from "./http.ts";
import { SessionHandle } from "./session-handle.ts";

export type ListOptions = {
  limit?: number;
  before?: string;
  agent?: string;
  status?: SessionState;
  directory?: string;
  search?: string;
};

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

  async agents(signal?: AbortSignal): Promise<AgentInfo[]> {
    return (await this.http.json<{ agents: AgentInfo[] }>("GET", "/v1/agents", { signal })).agents;
  }

  agent(id: string, signal?: AbortSignal): Promise<AgentInfo> {
    return this.http.json("GET", `/v1/agents/${encodeURIComponent(id)}`, { signal });
  }

  async models(agent: string, signal?: AbortSignal): Promise<ModelInfo[]> {
    return (await this.http.json<{ models: ModelInfo[] }>("GET", `/v1/agents/${encodeURIComponent(agent)}/models`, { signal }))
      .models;
  }

  async modes(agent: string, signal?: AbortSignal): Promise<ModeInfo[]> {
    return (await this.http.json<{ modes: ModeInfo[] }>("GET", `/v1/agents/${encodeURIComponent(agent)}/modes`, { signal }))
      .modes;
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
  importSession(ndjson: string, options: { session_id?: string } = {}, signal?: AbortSignal): Promise<Session> {
    return this.http.json("POST", "/v1/sessions/import", { body: { ndjson, ...options }, signal });
  }

  async createSession(request: CreateSession, signal?: AbortSignal): Promise<SessionHandle> {
    const { session_id } = await this.http.json<Session>("POST", "/v1/sessions", { body: request, signal });
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
  async *events(
    options: { after?: string; signal?: AbortSignal; onState?: (state: StreamState) => void } = {},
  ): AsyncGenerator<{ cursor: string; event: UniversalEvent }, void, undefined> {
    const stream = eventStream(this.http, {
      path: "/v1/events/sse",
      signal: options.signal,
      onState: options.onState,
      ...(options.after === undefined ? {} : { after: options.after }),
    });
    for await (const { id, data } of stream) yield { cursor: id, event: JSON.parse(data) as UniversalEvent };
  }

  /** Bytes of an artifact, by its id or by the path in a content part. */
  async artifact(idOrPath: string, signal?: AbortSignal): Promise<Response> {
    return this.http.open("GET", idOrPath.startsWith("/") ? idOrPath : `/v1/artifacts/${encodeURIComponent(idOrPath)}`, {
      signal,
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
