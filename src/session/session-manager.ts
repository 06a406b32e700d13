// All sessions of the daemon: creates, finds, lists, forks and removes them, recovers them at start, and puts them to rest at the end.
import { realpath, stat } from "node:fs/promises";
import type { Agent, AgentHost, AgentInspection, SessionPort, Translator } from "../agents/contract.ts";
import type { Log, Stream, StreamRow } from "../log/contract.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import type { CreateSession, ForkSession, SessionState, Session as SessionView } from "../schema/session.ts";
import { NativeChannel } from "./channel.ts";
import type { IdSource } from "./ids.ts";
import { missingAgent, missingHost } from "./missing-agent.ts";
import { Session, type SessionTimes } from "./session.ts";
import { configOf, parseRow, type SessionRow, sessionOf } from "./session-row.ts";
import { mustSupport } from "./supported.ts";

export type ManagerOptions = {
  log: Log;
  ids: IdSource;
  clock: () => string;
  now: () => number;
  /** Undefined when there is no such agent. */
  agent(id: string): { agent: Agent; host: AgentHost } | undefined;
  /** Whether its program is there; may be an answer of some time ago. */
  inspect(id: string): Promise<AgentInspection>;
  times: SessionTimes;
  limits: { sessions: number; queued: number };
  defaultDirectory: string;
};

export type ListFilter = {
  limit: number;
  before?: string;
  agent?: string;
  status?: SessionState;
  directory?: string;
  search?: string;
  /** Only those it is true for. */
  only?(view: SessionView): boolean;
};

/** How often sessions are looked at for silence and rest. */
const TICK_MS = 1_000;

export class SessionManager {
  readonly #options: ManagerOptions;
  readonly #sessions = new Map<string, Session>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: ManagerOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref();
  }

  /** Closes what was open when the last daemon died, and takes up messages that were accepted and not yet sent. */
  recover(): { recovered: number; resumed: number } {
    let recovered = 0;
    let resumed = 0;
    for (const row of this.#rows()) {
      const state = parseRow(row.state);
      if (state.status === "ended" && row.open_since === null) continue;
      if (state.status === "dormant" && row.open_since === null && !this.#hasQueued(row.id)) continue;
      const stream = this.#options.log.stream("session", row.id);
      if (!stream) continue;
      const session = this.#hold(stream);
      session.recover();
      recovered++;
      if (session.view().queued > 0) {
        resumed++;
        session.pump();
      } else this.#sessions.delete(row.id);
    }
    this.#options.log.flush();
    return { recovered, resumed };
  }

  async create(request: CreateSession): Promise<SessionView> {
    const found = this.#agentOf(request.agent);
    const directory = await existingDirectory(request.directory ?? this.#options.defaultDirectory);
    const inspection = await this.#options.inspect(request.agent);
    if (!inspection.installed)
      throw new ProblemError("agent_not_found", inspection.advice ?? `${found.agent.name} is not installed.`);
    const row: SessionRow = {
      session_id: request.session_id ?? this.#options.ids.next("sess"),
      agent: request.agent,
      agent_version: inspection.version,
      native_session_id: request.resume_native ?? null,
      status: "idle",
      status_detail: null,
      directory,
      model: request.model ?? null,
      variant: request.variant ?? null,
      agent_mode: request.agent_mode ?? null,
      permission_mode: request.permission_mode ?? "default",
      title: request.title ?? null,
      metadata: request.metadata ?? {},
      env: request.env ?? {},
      mcp_servers: request.mcp_servers ?? [],
      system_prompt: request.system_prompt ?? null,
      fork: false,
      forked_from: null,
      usage: null,
      ended: null,
    };
    await mustSupport(found.agent, found.host, configOf(row), configOf(row));
    return this.#add(row);
  }

  async fork(id: string, request: ForkSession): Promise<SessionView> {
    const origin = this.get(id);
    const { agent } = this.#agentOf(origin.agentId);
    if (!agent.capabilities.fork) throw new ProblemError("fork_unsupported");
    if (origin.nativeSessionId === null)
      throw new ProblemError(
        "not_resumable",
        "The session has no conversation yet: send it a message first, or create a new session.",
      );
    return this.#add({
      ...structuredClone(origin.row),
      session_id: request.session_id ?? this.#options.ids.next("sess"),
      title: request.title ?? origin.row.title,
      status: "idle",
      status_detail: null,
      fork: true,
      forked_from: id,
      usage: null,
      ended: null,
    });
  }

  async #add(row: SessionRow): Promise<SessionView> {
    const { log, limits } = this.#options;
    if (log.stream("session", row.session_id)) throw new ProblemError("session_exists");
    const live = [...this.#sessions.values()].filter((session) => session.alive).length;
    if (live >= limits.sessions) throw new ProblemError("too_many_sessions");
    const session = this.#hold(log.createStream("session", row.session_id, JSON.stringify(row)));
    session.begin();
    await log.committed();
    return session.view();
  }

  /** Throws session_not_found. */
  get(id: string): Session {
    const session = this.#load(id);
    if (!session)
      throw new ProblemError("session_not_found", `There is no session ${JSON.stringify(id)}. List them with GET /v1/sessions.`);
    return session;
  }

  list(filter: ListFilter): { sessions: SessionView[]; next: string | null } {
    const sessions: SessionView[] = [];
    let before = filter.before;
    for (;;) {
      const page = this.#options.log.listStreams("session", {
        limit: filter.limit,
        order: "created",
        ...(before === undefined ? {} : { before }),
      });
      for (const row of page.streams) {
        const view = this.#sessions.get(row.id)?.view() ?? viewOf(row);
        if (matches(view, filter)) sessions.push(view);
      }
      if (page.next === null || sessions.length >= filter.limit) return { sessions, next: page.next };
      before = page.next;
    }
  }

  /** Removes the session and all it left in the log. Its agent is ended first. */
  async remove(id: string): Promise<void> {
    await this.get(id).terminate();
    this.#sessions.delete(id);
    this.#options.log.deleteStream("session", id);
    await this.#options.log.committed();
  }

  /** A channel that hands native messages to sessions of this manager. */
  openChannel(translator: Translator, options?: { keys: "process" | "session" }): NativeChannel {
    return new NativeChannel(translator, (port: SessionPort) => this.get(port.session_id), options);
  }

  /** Every agent is stopped, every session stays resumable. */
  async shutdown(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.allSettled([...this.#sessions.values()].map((session) => session.suspend()));
    await this.#options.log.committed();
  }

  counts(): { live: number; loaded: number } {
    return { live: [...this.#sessions.values()].filter((session) => session.alive).length, loaded: this.#sessions.size };
  }

  #tick(): void {
    const now = this.#options.now();
    for (const session of this.#sessions.values()) session.tick(now);
  }

  #agentOf(id: string): { agent: Agent; host: AgentHost } {
    const found = this.#options.agent(id);
    if (!found)
      throw new ProblemError("agent_unknown", `There is no agent ${JSON.stringify(id)}. List them with GET /v1/agents.`);
    return found;
  }

  #load(id: string): Session | undefined {
    const loaded = this.#sessions.get(id);
    if (loaded) return loaded;
    const stream = this.#options.log.stream("session", id);
    if (!stream) return undefined;
    const session = this.#hold(stream);
    // Nobody holds it, yet something is open: its last holder was lost. What was open is closed before anything new begins.
    if (stream.openSince() !== null) session.recover();
    return session;
  }

  #hold(stream: Stream): Session {
    const { log, ids, clock, now, times, limits } = this.#options;
    const id = parseRow(stream.state()).agent;
    const { agent, host } = this.#options.agent(id) ?? { agent: missingAgent(id), host: missingHost };
    const lost = () => void this.#sessions.delete(stream.id);
    const session = new Session(stream, { log, ids, clock, now, times, limits, agent, host, lost });
    this.#sessions.set(stream.id, session);
    return session;
  }

  #hasQueued(id: string): boolean {
    return this.#options.log.documents.list("queued_message", { prefix: `${id}/`, limit: 1 }).length > 0;
  }

  *#rows(): Generator<StreamRow> {
    let before: string | undefined;
    for (;;) {
      const page = this.#options.log.listStreams("session", { limit: 500, ...(before === undefined ? {} : { before }) });
      yield* page.streams;
      if (page.next === null) return;
      before = page.next;
    }
  }
}

const viewOf = (row: StreamRow): SessionView =>
  sessionOf(parseRow(row.state), row, { queued: 0, pending: { permissions: 0, questions: 0 } });

function matches(view: SessionView, filter: ListFilter): boolean {
  if (filter.agent !== undefined && view.agent !== filter.agent) return false;
  if (filter.status !== undefined && view.status !== filter.status) return false;
  if (filter.directory !== undefined && view.directory !== filter.directory) return false;
  if (filter.only?.(view) === false) return false;
  const text = filter.search?.toLowerCase();
  return !text || [view.title, view.session_id, view.directory, view.agent].some((field) => field?.toLowerCase().includes(text));
}

async function existingDirectory(path: string): Promise<string> {
  try {
    const real = await realpath(path);
    if ((await stat(real)).isDirectory()) return real;
  } catch {
    // told below
  }
  throw new ProblemError("directory_not_found", `${path} is not a directory on the daemon's machine.`);
}
