/**
 * All sessions of the daemon: creates, finds, lists, forks and removes them, recovers them at start, and puts them to rest at the end. A session that cannot
 * be read is set aside as unreadable: it is listed, can be exported and removed, and never stands in the way of the others.
 */
import { realpath, stat } from "node:fs/promises";
import type { Agent, AgentHost, AgentInspection, SessionPort, Translator } from "../agents/contract.ts";
import { OWN_PREFIX } from "../agents/own-environment.ts";
import type { Log, StreamPage, StreamRow, StreamWriter } from "../log/contract.ts";
import { LogError, withdrawn } from "../log/log-error.ts";
import { type Actor, EMBEDDED } from "../schema/actor.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import { SessionProjection } from "../schema/projection/session-projection.ts";
import type { CreateSession, ForkSession, SessionState, Session as SessionView, UnreadableSession } from "../schema/session.ts";
import type { AdoptTask } from "./agent-tasks.ts";
import { NativeChannel } from "./channel.ts";
import { earlierConversation } from "./earlier-conversation.ts";
import { forkPlace, placeAt } from "./fork-place.ts";
import type { IdSource } from "./ids.ts";
import { isImporting } from "./import-mark.ts";
import { boundedMetadata } from "./metadata-size.ts";
import { missingAgent, missingHost } from "./missing-agent.ts";
import { readProjection } from "./projection-reader.ts";
import { Session } from "./session.ts";
import type { SessionTimes } from "./session-context.ts";
import { configOf, parseRow, RowError, type SessionRow, sessionOf } from "./session-row.ts";
import type { SkillSource } from "./skill-source.ts";
import { documentSnapshots, type Snapshots } from "./snapshots.ts";
import { QUEUED, UNREADABLE } from "./stored-queue.ts";
import { mustSupport } from "./supported.ts";
import { isTrusted, mustNotHoldBack, type TrustedDirectories } from "./trust-gate.ts";
import type { WorkspaceCheckpoints } from "./workspace-checkpoints.ts";

export type ManagerOptions = {
  log: Log;
  ids: IdSource;
  clock: () => string;
  now: () => number;
  /** Undefined when there is no such agent. */
  agent(id: string): { agent: Agent; host: AgentHost } | undefined;
  /** Whether its program is there; may be an answer of some time ago. */
  inspect(id: string): Promise<AgentInspection>;
  directories: TrustedDirectories;
  /** Absent: no checkpoints are taken. */
  checkpoints?: WorkspaceCheckpoints | undefined;
  /** Absent: commands of agents that go on beside their turns are no tasks. */
  adoptTask?: AdoptTask | undefined;
  /** Absent: messages use no skills. */
  skills?: SkillSource | undefined;
  times: SessionTimes;
  limits: { sessions: number; queued: number };
  defaultDirectory: string;
  /** See `SessionContext.agentEnvironment`. */
  agentEnvironment(sessionId: string): Record<string, string>;
  warn(message: string, fields: Record<string, unknown>): void;
  /** True when the search index knows every session that is not in memory. */
  /** Something beside its agent works for it: it is not removed unasked. */
  isUsed?(id: string): boolean;
  /** It is gone: so must be what belongs to it elsewhere. */
  onRemoved?(id: string): Promise<void>;
  searchReady(): boolean;
};

export type ListFilter = {
  limit: number;
  before?: string;
  agent?: string;
  status?: SessionState;
  directory?: string;
  tag?: string;
  archived?: boolean;
  pinned?: boolean;
  /** `created` (default): the newest first. `updated`: the last written first. With `search` the newest come first. */
  order?: "created" | "updated";
  search?: string;
  /** Only those it is true for. */
  only?(view: SessionView): Promise<boolean>;
};

/** How often sessions are looked at for silence and rest. */
const TICK_MS = 1_000;

/** Sessions without a process that stay in memory, because somebody may ask for them again. The least recently used go first. */
const MAX_RESTING = 200;

/** Rows that are looked at in one turn of the event loop while unreadable ones are searched for. */
const SWEEP_ROWS = 200;

/** More queued messages than the limits allow. */
const MAX_DOCUMENTS = 1_000_000;

export class SessionManager {
  readonly #options: ManagerOptions;
  readonly #sessions = new Map<string, Session>();
  /** Those that are being read from the log. */
  readonly #loading = new Map<string, Promise<Session | undefined>>();
  /** Ids of those that are being created. */
  readonly #creating = new Set<string>();
  readonly #timer: NodeJS.Timeout;
  readonly #stopListening: () => void;
  /** Why each of them cannot be read. */
  readonly #unreadable = new Map<string, string>();
  /** Objects that were given up, until no process of them is left. */
  readonly #leaving = new Map<string, Promise<void>>();
  /** Sessions whose object was given up because the log refused: read again when it is well. */
  readonly #refused = new Set<string>();
  /** Of sessions whose object was given up while not all of it was committed. */
  readonly #projections = new Map<string, SessionProjection>();
  readonly #snapshots: Snapshots;
  #paused = false;
  #closed = false;

  constructor(options: ManagerOptions) {
    this.#options = options;
    this.#snapshots = documentSnapshots(options.log.documents);
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref();
    this.#stopListening = options.log.onPressure((paused) => this.#setPaused(paused));
  }

  /** Closes what was open when the last daemon died, and takes up messages that were accepted and not yet sent. */
  async recover(): Promise<{ recovered: number; resumed: number }> {
    let recovered = 0;
    let resumed = 0;
    const idle: string[] = [];
    const goOn: Session[] = [];
    for await (const row of this.#openRows()) {
      try {
        const session = await this.#load(row.id, { recover: true });
        if (!session) continue;
        recovered++;
        if (session.queued > 0) resumed++;
        else if (await this.#goesOn(session)) goOn.push(session);
        else idle.push(row.id);
      } catch (error) {
        this.#setAside(row.id, error);
      }
    }
    try {
      await this.#options.log.documents.committed();
      // Not before it is written: what is read again must be what was recovered.
      for (const id of idle) this.#sessions.delete(id);
    } catch (error) {
      // The daemon can be asked why, and goes on when the log can write: a start that fails helps nobody.
      this.#options.warn("what was recovered could not be written yet", { error: String(error) });
    }
    for (const session of this.#sessions.values()) session.pump();
    for (const session of goOn) {
      const fault = (error: unknown): void =>
        this.#options.warn("a turn could not be continued", { session: session.session_id, error: String(error) });
      session.resume().catch(fault);
    }
    resumed += goOn.length;
    this.#sweep().catch((error: unknown) => this.#options.warn("sessions could not be looked through", { error: String(error) }));
    return { recovered, resumed };
  }

  /** The agent was in the middle of a turn that it can continue. */
  async #goesOn(session: Session): Promise<boolean> {
    const { agent, host } = this.#agentOf(session.agentId);
    if (session.projection.ended || session.nativeSessionId === null || !agent.unfinished) return false;
    return agent.unfinished(session.nativeSessionId, host);
  }

  /** What was open when the last daemon stopped, and what has messages to deliver. However many sessions there are, only these are read. */
  async *#openRows(): AsyncGenerator<StreamRow> {
    const { log } = this.#options;
    const seen = new Set<string>();
    for await (const row of this.#rows({ onlyOpen: true })) {
      seen.add(row.id);
      yield row;
    }
    const waiting = new Set(
      (await log.documents.list(QUEUED, { limit: MAX_DOCUMENTS })).map(({ id }) => id.slice(0, id.lastIndexOf("/"))),
    );
    for (const id of waiting) {
      const row = seen.has(id) ? undefined : await log.row("session", id);
      if (row) yield row;
    }
  }

  /** Finds the sessions that cannot be read, little by little: a start does not wait for it. */
  async #sweep(): Promise<void> {
    let count = 0;
    for await (const row of this.#rows({})) {
      if (this.#closed) return;
      if (!this.#sessions.has(row.id)) this.#viewOf(row);
      if (++count % SWEEP_ROWS === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** `parent`: the session whose agent asks for it. */
  async create(request: CreateSession, actor: Actor = EMBEDDED, parent?: string): Promise<SessionView> {
    const found = this.#agentOf(request.agent);
    mustNotSetOwn(request);
    const directory = await existingDirectory(request.directory ?? this.#options.defaultDirectory);
    const inspection = await this.#options.inspect(request.agent);
    if (!inspection.installed)
      throw new ProblemError("agent_not_found", inspection.advice ?? `${found.agent.name} is not installed.`);
    const trust = await this.#trustOf(request, directory);
    const row: SessionRow = {
      session_id: request.session_id ?? this.#options.ids.next("sess"),
      agent: request.agent,
      agent_version: inspection.version,
      native_session_id: request.resume_native ?? null,
      status: "idle",
      status_detail: null,
      directory,
      trust,
      model: request.model ?? null,
      variant: request.variant ?? null,
      agent_mode: request.agent_mode ?? null,
      permission_mode: request.permission_mode ?? "default",
      title: request.title ?? null,
      named: request.title !== undefined,
      answered: request.resume_native !== undefined,
      ...(request.tags === undefined ? {} : { tags: request.tags }),
      metadata: boundedMetadata(request.metadata ?? {}),
      env: request.env ?? {},
      mcp_servers: request.mcp_servers ?? [],
      system_prompt: request.system_prompt ?? null,
      fork: false,
      forked_from: null,
      ...(parent === undefined ? {} : { parent_session_id: parent }),
      created_by: actor,
      usage: null,
      ended: null,
    };
    const config = configOf(row, isTrusted(row, this.#options.directories));
    await mustSupport(found.agent, found.host, config, config);
    return this.#add(row);
  }

  /** Who does not want to be asked is not asked later either, when there is something to ask about. */
  async #trustOf({ agent: id, trust = "ask" }: CreateSession, directory: string): Promise<SessionRow["trust"]> {
    if (trust !== "refuse") return trust;
    if (this.#options.directories.isTrusted(directory)) return "ask";
    const { agent, host } = this.#agentOf(id);
    await mustNotHoldBack(agent, host, directory);
    return "restricted";
  }

  async fork(id: string, request: ForkSession, actor: Actor = EMBEDDED): Promise<SessionView> {
    const origin = await this.get(id);
    const { agent } = this.#agentOf(origin.agentId);
    if (!agent.capabilities.fork) throw new ProblemError("fork_unsupported");
    if (origin.nativeSessionId === null)
      throw new ProblemError(
        "not_resumable",
        "The session has no conversation yet: send it a message first, or create a new session.",
      );
    const { fork_at: _, ...row } = structuredClone(origin.row);
    const place = request.at === undefined ? {} : { fork_at: await forkPlace(agent, origin.stream, request.at) };
    return this.#add({
      ...row,
      ...place,
      session_id: request.session_id ?? this.#options.ids.next("sess"),
      title: request.title ?? origin.row.title,
      named: request.title !== undefined || origin.row.named === true,
      status: "idle",
      status_detail: null,
      archived: false,
      pinned: false,
      fork: true,
      forked_from: id,
      created_by: actor,
      usage: null,
      ended: null,
    });
  }

  /**
   * A new session that goes on from an earlier point of this one: few agents offer that for every point; others begin anew and know what was said up to then.
   * Where nothing was said before, it is simply the session once more.
   */
  async branchAt(id: string, sequence: number, actor: Actor = EMBEDDED): Promise<SessionView> {
    const origin = await this.get(id);
    const { agent } = this.#agentOf(origin.agentId);
    if (agent.forkPlace && origin.nativeSessionId !== null && (await placeAt(agent, origin.stream, sequence)) !== null)
      return this.fork(id, { at: sequence }, actor);
    if (agent.forkPlace && origin.row.forked_from !== null)
      throw new ProblemError(
        "fork_unsupported",
        `Nothing was said in this session before the checkpoint: what it began with is in ${origin.row.forked_from}. Fork that one.`,
      );
    const earlier = await earlierConversation(this.#options.log, this.#snapshots, id, sequence);
    if (earlier !== null && !agent.capabilities.system_prompt)
      throw new ProblemError(
        "fork_unsupported",
        `${agent.name} cannot be told what was said before this checkpoint. Rewind the files alone, and create a new session.`,
      );
    const { system_prompt } = origin.row;
    return this.#add({
      ...structuredClone(origin.row),
      session_id: this.#options.ids.next("sess"),
      native_session_id: null,
      answered: false,
      status: "idle",
      status_detail: null,
      archived: false,
      pinned: false,
      fork: false,
      forked_from: id,
      system_prompt: earlier === null ? system_prompt : [system_prompt, earlier].filter((text) => text !== null).join("\n\n"),
      created_by: actor,
      usage: null,
      ended: null,
    });
  }

  async #add(row: SessionRow): Promise<SessionView> {
    const { log, limits } = this.#options;
    log.assertWritable();
    if (this.#creating.has(row.session_id) || (await log.row("session", row.session_id)))
      throw new ProblemError("session_exists");
    const live = [...this.#sessions.values()].filter((session) => session.alive).length;
    if (live >= limits.sessions) throw new ProblemError("too_many_sessions");
    this.#creating.add(row.session_id);
    try {
      const session = this.#hold(await log.create("session", row.session_id, JSON.stringify(row)), new SessionProjection());
      try {
        session.begin();
        await session.stream.committed();
      } catch (error) {
        // Refused means not done.
        this.#sessions.delete(row.session_id);
        await log.delete("session", row.session_id);
        throw withdrawn(error);
      }
      return session.view();
    } finally {
      this.#creating.delete(row.session_id);
    }
  }

  /** The session as it is committed. */
  async view(id: string): Promise<SessionView> {
    const session = await this.get(id);
    // It is being created right now.
    if (session.stream.lastCommitted === 0) await session.stream.committed();
    return session.view();
  }

  /** Throws session_not_found or session_unreadable. */
  async get(id: string): Promise<Session> {
    const session = await this.#load(id);
    if (!session)
      throw new ProblemError("session_not_found", `There is no session ${JSON.stringify(id)}. List them with GET /v1/sessions.`);
    return session;
  }

  /** What is stored of a session, without loading it. Undefined when there is none, or when it cannot be read. */
  async rowOf(id: string): Promise<Readonly<SessionRow> | undefined> {
    const loaded = this.#sessions.get(id);
    if (loaded) return loaded.row;
    try {
      const row = await this.#options.log.row("session", id);
      return row && parseRow(row.state);
    } catch {
      return undefined;
    }
  }

  /** The session, if it is in memory. */
  held(id: string): Session | undefined {
    return this.#sessions.get(id);
  }

  /** The unreadable ones are in every answer: no filter can say anything about them. */
  async list(filter: ListFilter): Promise<{ sessions: SessionView[]; unreadable: UnreadableSession[]; next: string | null }> {
    const sessions: SessionView[] = [];
    let next = filter.before ?? null;
    do {
      const page = await this.#page(filter, next);
      for (const row of page.rows) {
        const view = this.#viewOf(row);
        if (view && matches(view, filter) && (await filter.only?.(view)) !== false) sessions.push(view);
      }
      next = page.next;
    } while (next !== null && sessions.length < filter.limit);
    return { sessions, unreadable: this.unreadable(), next };
  }

  /** Rows that may fit. Filters that the log knows are left to it, and words to the search index. */
  async #page(filter: ListFilter, before: string | null): Promise<{ rows: StreamRow[]; next: string | null }> {
    const { log, searchReady } = this.#options;
    const { limit, order = "created", agent, directory, status, tag, archived, pinned, search } = filter;
    const place = before === null ? {} : { before };
    if (search && searchReady()) return this.#namedRows(search, limit, before);
    const where = {
      ...(agent === undefined ? {} : { agent }),
      ...(directory === undefined ? {} : { directory }),
      ...(status === undefined ? {} : { status }),
    };
    const marks = {
      ...(tag === undefined ? {} : { tag }),
      ...(archived === undefined ? {} : { archived }),
      ...(pinned === undefined ? {} : { pinned }),
    };
    const page = await log.list("session", { limit, order, where, ...marks, ...place });
    for (const id of page.damaged) this.#setAside(id, new RowError("the stored row is damaged"));
    return { rows: page.streams, next: page.next };
  }

  async #namedRows(search: string, limit: number, before: string | null): Promise<{ rows: StreamRow[]; next: string | null }> {
    const { log } = this.#options;
    const found = await log.search.findStreams(search, { limit, ...(before === null ? {} : { before }) });
    // What is in memory may be younger than the index.
    const fresh = before === null ? [...this.#sessions.keys()].reverse() : [];
    const ids = new Set([...fresh, ...found.ids]);
    const rows = await Promise.all(
      [...ids].map((id) => log.row("session", id).catch((error: unknown) => void this.#setAside(id, error))),
    );
    return { rows: rows.flatMap((row) => row ?? []), next: found.next };
  }

  /** Sessions that were set aside. */
  unreadable(): UnreadableSession[] {
    return [...this.#unreadable].map(([session_id, reason]) => ({ session_id, reason }));
  }

  /** Queued messages that were set aside. */
  async unreadableMessages(): Promise<number> {
    return (await this.#options.log.documents.list(UNREADABLE)).length;
  }

  /** Removes the session and all it left in the log. Its agent is ended first. */
  async remove(id: string, actor: Actor = EMBEDDED): Promise<void> {
    const { log, checkpoints } = this.#options;
    const { directory } = (await this.rowOf(id)) ?? {};
    await this.#terminateForRemoval(id, actor);
    const row = await this.rowOf(id);
    log.assertWritable();
    for (const kind of [QUEUED, UNREADABLE])
      for (const document of await log.documents.list(kind, { prefix: `${id}/` })) log.documents.delete(kind, document.id);
    this.#sessions.delete(id);
    this.#unreadable.delete(id);
    this.#projections.delete(id);
    // A kept reply can hold what the session was created with.
    await log.delete("session", id, { documents: ["idempotency"] });
    if (directory !== undefined) checkpoints?.removed(directory);
    if (row) await this.#forget(row);
    await this.#options.onRemoved?.(id);
    await log.erased();
  }

  /** True while nobody needs it: it has no process, nothing is open in it, and no message waits for it. */
  async isUnused(id: string): Promise<boolean> {
    const { log } = this.#options;
    if ((await log.documents.list(QUEUED, { prefix: `${id}/`, limit: 1 })).length > 0) return false;
    const row = await log.row("session", id);
    return row !== undefined && row.open_since === null && !isImporting(row.state) && this.#isLeft(id);
  }

  /** Removes it if it is unused. False when it is not, or is gone. Its bytes are gone with `Log.erased`. */
  async removeUnused(id: string): Promise<boolean> {
    const { log, checkpoints } = this.#options;
    const row = await this.rowOf(id);
    const messages = await log.documents.list(UNREADABLE, { prefix: `${id}/` });
    if (!(await this.isUnused(id))) return false;
    // Nothing is waited for from here on: nobody can take it up in between.
    if (!this.#isLeft(id)) return false;
    this.#sessions.delete(id);
    for (const message of messages) log.documents.delete(UNREADABLE, message.id);
    const removed = await log.delete("session", id, { documents: ["idempotency"] });
    if (row) checkpoints?.removed(row.directory);
    if (row) await this.#forget(row);
    await this.#options.onRemoved?.(id);
    return removed;
  }

  /** What its agent keeps of it goes, too, unless another session has the same conversation or branches off from it. */
  async #forget({ agent: id, native_session_id, fork }: Readonly<SessionRow>): Promise<void> {
    const { agent, host } = this.#options.agent(id) ?? {};
    if (!agent?.forget || !host || native_session_id === null || fork) return;
    for await (const { state } of this.#rows({ where: { agent: id } })) if (nativeIdOf(state) === native_session_id) return;
    await agent.forget(native_session_id, host).catch((error: unknown) => {
      this.#options.warn("what an agent kept of a session could not be removed", { agent: id, error: String(error) });
    });
  }

  #isLeft(id: string): boolean {
    const busy =
      this.#options.isUsed?.(id) ||
      this.#loading.has(id) ||
      this.#leaving.has(id) ||
      this.#creating.has(id) ||
      this.#refused.has(id);
    return !busy && this.#sessions.get(id)?.resting !== false;
  }

  /** A session whose stored data is damaged has no agent to end, and can be removed all the same. */
  async #terminateForRemoval(id: string, actor: Actor): Promise<void> {
    if (this.#unreadable.has(id)) return;
    try {
      await (await this.get(id)).terminate(actor);
    } catch (error) {
      if (!(error instanceof LogError) || error.code !== "corrupt_chunk") throw error;
    }
  }

  /** A channel that hands native messages to sessions of this manager. */
  openChannel(translator: Translator, options?: { keys: "process" | "session" }): NativeChannel {
    return new NativeChannel(translator, intakeOf, options);
  }

  /** Every agent is stopped, every session stays resumable. */
  async shutdown(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    this.#stopListening();
    await Promise.allSettled([...this.#sessions.values()].map((session) => session.suspend()));
    await Promise.allSettled(this.#leaving.values());
    await this.#options.log.documents.committed();
  }

  counts(): { live: number; loaded: number } {
    return { live: [...this.#sessions.values()].filter((session) => session.alive).length, loaded: this.#sessions.size };
  }

  #tick(): void {
    const now = this.#options.now();
    for (const session of this.#sessions.values()) session.tick(now);
    this.#letGo();
  }

  #agentOf(id: string): { agent: Agent; host: AgentHost } {
    const found = this.#options.agent(id);
    if (!found)
      throw new ProblemError("agent_unknown", `There is no agent ${JSON.stringify(id)}. List them with GET /v1/agents.`);
    return found;
  }

  async #load(id: string, { recover = false } = {}): Promise<Session | undefined> {
    const loaded = this.#sessions.get(id);
    if (loaded) return this.#used(id, loaded);
    this.#mustBeReadable(id);
    // Those who ask at the same time get the same object: a stream has one writer.
    const loading = this.#loading.get(id) ?? this.#read(id, recover);
    this.#loading.set(id, loading);
    try {
      return await loading;
    } finally {
      if (this.#loading.get(id) === loading) this.#loading.delete(id);
    }
  }

  async #read(id: string, recover: boolean): Promise<Session | undefined> {
    try {
      // Who takes the writer fences the one before: an import must keep its own.
      const row = await this.#options.log.row("session", id);
      const stream = row && !isImporting(row.state) ? await this.#options.log.writer("session", id) : undefined;
      if (!stream) return undefined;
      const session = this.#make(stream, await this.#projectionOf(stream));
      // Nobody holds it, yet something is open: its last holder was lost. What was open is closed before anything new begins.
      if (recover || stream.openSince() !== null) await session.recover();
      return this.#keep(session);
    } catch (error) {
      this.#setAside(id, error);
      throw error instanceof LogError ? error : unreadableProblem(id, String(error));
    }
  }

  /** The map is in order of use. */
  #used(id: string, session: Session): Session {
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    return session;
  }

  /** Lets go of sessions nobody has used for long. They are read from the log again when somebody asks. */
  #letGo(): void {
    let resting = 0;
    for (const session of this.#sessions.values()) if (session.resting) resting++;
    for (const [id, session] of this.#sessions) {
      if (resting <= MAX_RESTING) return;
      if (!session.resting) continue;
      this.#sessions.delete(id);
      resting--;
    }
  }

  #mustBeReadable(id: string): void {
    const reason = this.#unreadable.get(id);
    if (reason !== undefined) throw unreadableProblem(id, reason);
  }

  /** A log that refuses says nothing about the session: it is read again later. */
  #setAside(id: string, error: unknown): void {
    if (error instanceof LogError && !DAMAGE.has(error.code)) return void this.#refused.add(id);
    if (error instanceof ProblemError || this.#unreadable.has(id)) return;
    const reason = error instanceof Error ? error.message : String(error);
    this.#unreadable.set(id, reason);
    this.#options.warn("a session cannot be read and was set aside", { session_id: id, reason });
  }

  #hold(stream: StreamWriter, projection: SessionProjection): Session {
    return this.#keep(this.#make(stream, projection));
  }

  #keep(session: Session): Session {
    this.#sessions.set(session.session_id, session);
    if (this.#paused) session.setPaused(true);
    return session;
  }

  /** The state after all that is in the stream. What is not committed yet cannot be read: the object that wrote it knows. */
  async #projectionOf(stream: StreamWriter): Promise<SessionProjection> {
    const left = this.#projections.get(stream.id);
    this.#projections.delete(stream.id);
    if (left?.sequence === stream.last) return left;
    if (stream.last !== stream.lastCommitted) await stream.committed();
    const since = stream.openSince();
    return readProjection(stream, this.#snapshots, { quietUntil: since === null ? stream.last : since - 1 });
  }

  #make(stream: StreamWriter, projection: SessionProjection): Session {
    const { log, ids, clock, now, times, limits, directories, agentEnvironment } = this.#options;
    const id = rowOf({ id: stream.id, state: stream.state() }).agent;
    const { agent, host } = this.#options.agent(id) ?? { agent: missingAgent(id), host: missingHost };
    const lost = (closed: Promise<void>): void => this.#lost(session, closed);
    const predecessor = this.#leaving.get(stream.id);
    const snapshots = this.#snapshots;
    const state = { log, ids, clock, now, snapshots, projection };
    const { checkpoints, skills, adoptTask } = this.#options;
    const shared = { agentEnvironment, checkpoints, skills, adoptTask };
    const context = { ...state, times, limits, directories, agent, host, lost, predecessor, ...shared };
    const session = new Session(stream, context);
    return session;
  }

  #lost(session: Session, closed: Promise<void>): void {
    const id = session.session_id;
    if (this.#sessions.get(id) === session) this.#sessions.delete(id);
    this.#refused.add(id);
    if (session.stream.last !== session.stream.lastCommitted) this.#projections.set(id, session.projection);
    const leaving = closed.finally(() => {
      if (this.#leaving.get(id) === leaving) this.#leaving.delete(id);
    });
    this.#leaving.set(id, leaving);
  }

  /** The log takes no more, or takes more again. */
  #setPaused(paused: boolean): void {
    this.#paused = paused;
    for (const session of this.#sessions.values()) session.setPaused(paused);
    if (!paused && this.#refused.size > 0) setImmediate(() => void this.#readAgain());
  }

  /** Sessions that were given up: what was open in them is closed, and their queued messages are delivered. */
  async #readAgain(): Promise<void> {
    if (this.#paused) return;
    for (const id of [...this.#refused]) {
      this.#refused.delete(id);
      try {
        (await this.#load(id))?.pump();
      } catch (error) {
        this.#options.warn("a session could not be read again", { session_id: id, error: String(error) });
      }
    }
  }

  /** Undefined: it cannot be read, and is among the unreadable ones. */
  #viewOf(row: StreamRow): SessionView | undefined {
    const session = this.#sessions.get(row.id);
    if (session) return session.view();
    if (this.#unreadable.has(row.id) || isImporting(row.state)) return undefined;
    try {
      const state = rowOf(row);
      const trusted = isTrusted(state, this.#options.directories);
      return sessionOf(state, row, { queued: 0, pending: { permissions: 0, questions: 0 }, trusted });
    } catch (error) {
      this.#setAside(row.id, error);
      return undefined;
    }
  }

  async *#rows(options: { onlyOpen?: boolean; where?: { agent: string } }): AsyncGenerator<StreamRow> {
    let before: string | undefined;
    for (;;) {
      const page: StreamPage = await this.#options.log.list("session", {
        limit: 500,
        ...options,
        ...(before === undefined ? {} : { before }),
      });
      for (const id of page.damaged) this.#setAside(id, new RowError("the stored row is damaged"));
      yield* page.streams;
      if (page.next === null) return;
      before = page.next;
    }
  }
}

/** The port that a connection was given is its session. */
function intakeOf(port: SessionPort): Session {
  if (port instanceof Session) return port;
  throw new Error(`${port.session_id} is no session of this daemon`);
}

/** The daemon recognises its agents by these: who could set them could pass for another, or for nobody. */
function mustNotSetOwn({ env = {}, mcp_servers = [] }: CreateSession): void {
  const given = [env, ...mcp_servers.map((server) => ("env" in server ? (server.env ?? {}) : {}))];
  const name = given.flatMap((each) => Object.keys(each)).find((each) => each.startsWith(OWN_PREFIX));
  if (name === undefined) return;
  throw new ProblemError(
    "invalid_request",
    `env cannot set ${name}: variables that begin with ${OWN_PREFIX} are the daemon's own. Leave it out.`,
    {
      errors: [{ path: `/env/${name}`, message: `must not begin with ${OWN_PREFIX}` }],
    },
  );
}

/** Codes of the log that say something about what it holds, not about whether it can write. */
const DAMAGE: ReadonlySet<LogError["code"]> = new Set([
  "corrupt_chunk",
  "database_corrupt",
  "invalid_entry",
  "sequence_gap",
] as const);

/** Throws RowError. */
function rowOf({ id, state }: Pick<StreamRow, "id" | "state">): SessionRow {
  const row = parseRow(state);
  if (row.session_id !== id) throw new RowError(`the stored row is that of ${row.session_id}`);
  return row;
}

/** Null when the row cannot be read. */
function nativeIdOf(state: string): string | null {
  try {
    return parseRow(state).native_session_id;
  } catch {
    return null;
  }
}

const unreadableProblem = (id: string, reason: string): ProblemError =>
  new ProblemError(
    "session_unreadable",
    `Session ${id} cannot be read: ${reason}. Its events can be read and exported; remove it with DELETE /v1/sessions/${id}.`,
  );

function matches(view: SessionView, filter: ListFilter): boolean {
  if (filter.agent !== undefined && view.agent !== filter.agent) return false;
  if (filter.status !== undefined && view.status !== filter.status) return false;
  if (filter.directory !== undefined && view.directory !== filter.directory) return false;
  if (filter.tag !== undefined && !view.tags.includes(filter.tag)) return false;
  if (filter.archived !== undefined && view.archived !== filter.archived) return false;
  if (filter.pinned !== undefined && view.pinned !== filter.pinned) return false;
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
