/**
 * The sessions that are in memory: read from the log when somebody asks, one object for each, and let go of when nobody has used them for long. One that cannot be
 * read is set aside as unreadable: it is listed, can be exported and removed, and never stands in the way of the others. What may be done with sessions is not here.
 */
import type { StreamPage, StreamRow, StreamWriter } from "../log/contract.ts";
import { LogError } from "../log/log-error.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import type { SessionProjection } from "../schema/projection/session-projection.ts";
import type { Session as SessionView, UnreadableSession } from "../schema/session.ts";
import { isImporting } from "./import-mark.ts";
import type { ManagerOptions } from "./manager-options.ts";
import { missingAgent, missingHost } from "./missing-agent.ts";
import { readProjection } from "./projection-reader.ts";
import { Session } from "./session.ts";
import { parseRow, RowError, type SessionRow, sessionOf } from "./session-row.ts";
import type { Snapshots } from "./snapshots.ts";
import { isTrusted, type TrustedDirectories } from "./trust-gate.ts";

/** Sessions without a process that stay in memory, because somebody may ask for them again. The least recently used go first. */
const MAX_RESTING = 200;

/** When a session is tried again that a log which is well did not give. */
const AGAIN_MS = 1_000;

/** What their objects are made with. */
export type LoadedOptions = Omit<ManagerOptions, "inspect" | "defaultDirectory" | "isUsed" | "onRemoved" | "searchReady">;

/** `abandoned`: another node took it meanwhile, so what comes of it must not be kept. */
type Loading = { session: Promise<Session | undefined>; abandoned: boolean };

export class LoadedSessions {
  readonly #options: LoadedOptions;
  readonly #snapshots: Snapshots;
  readonly #sessions = new Map<string, Session>();
  /** Those that are being read from the log. */
  readonly #loading = new Map<string, Loading>();
  /** Those that are being removed from the log. */
  readonly #removals = new Map<string, Promise<void>>();
  /** Why each of them cannot be read. */
  readonly #unreadable = new Map<string, string>();
  /** Objects that were given up, until no process of them is left. */
  readonly #leaving = new Map<string, Promise<void>>();
  /** Sessions whose object was given up, or could not be read, because the log refused: read again when it is well. */
  readonly #refused = new Set<string>();
  /** Of sessions whose object was given up while not all of it was committed. */
  readonly #projections = new Map<string, SessionProjection>();
  #paused = false;
  #again: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: LoadedOptions, snapshots: Snapshots) {
    this.#options = options;
    this.#snapshots = snapshots;
  }

  /** The session, if it is in memory. */
  get(id: string): Session | undefined {
    return this.#sessions.get(id);
  }

  /** The same, also when somebody is reading it just now. */
  async present(id: string): Promise<Session | undefined> {
    return this.#sessions.get(id) ?? (await this.#loading.get(id)?.session.catch(() => undefined));
  }

  /** The least recently used first. */
  all(): Session[] {
    return [...this.#sessions.values()];
  }

  /** Its object is not needed: it is read again when somebody asks. */
  letGoOf(id: string): void {
    this.#sessions.delete(id);
  }

  /** Another node owns it. Its agent is ended; nothing of it is read again here. */
  abandon(id: string): void {
    this.#sessions.get(id)?.abandon();
    const loading = this.#loading.get(id);
    if (loading) loading.abandoned = true;
    this.#refused.delete(id);
    this.#forget(id);
  }

  /** `work` removes it from the log, which may take its time. Who asks for it meanwhile waits: an object made then would outlive the session. */
  async remove<T>(id: string, work: () => Promise<T>): Promise<T> {
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#removals.set(id, ended);
    try {
      const loading = this.#loading.get(id);
      if (loading) await loading.session.catch(() => undefined);
      this.#forget(id);
      return await work();
    } finally {
      // A list may have met it meanwhile.
      this.#unreadable.delete(id);
      if (this.#removals.get(id) === ended) this.#removals.delete(id);
      end();
    }
  }

  #forget(id: string): void {
    this.#sessions.delete(id);
    this.#unreadable.delete(id);
    this.#projections.delete(id);
  }

  /** Somebody reads it, ends it, or will read it again: it must not be removed unasked. */
  isInUse(id: string): boolean {
    const busy = this.#loading.has(id) || this.#leaving.has(id) || this.#refused.has(id);
    return busy || this.#sessions.get(id)?.resting === false;
  }

  isUnreadable(id: string): boolean {
    return this.#unreadable.has(id);
  }

  /** Sessions that were set aside. */
  unreadable(): UnreadableSession[] {
    return [...this.#unreadable].map(([session_id, reason]) => ({ session_id, reason }));
  }

  /** The daemon is going: nothing is read again unasked. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#again);
  }

  /** No process of an object that was given up is left. */
  async left(): Promise<void> {
    await Promise.allSettled(this.#leaving.values());
  }

  async load(id: string, { recover = false } = {}): Promise<Session | undefined> {
    for (let removal = this.#removals.get(id); removal; removal = this.#removals.get(id)) await removal;
    const loaded = this.#sessions.get(id);
    if (loaded) return this.#used(id, loaded);
    this.#mustBeReadable(id);
    // Those who ask at the same time get the same object: a stream has one writer.
    const before = this.#loading.get(id);
    if (before && !before.abandoned) return before.session;
    const loading: Loading = { session: Promise.resolve(undefined), abandoned: false };
    this.#loading.set(id, loading);
    // One that was abandoned may still be about to take the writer: it would take it from this one.
    loading.session = Promise.resolve(before?.session.catch(() => undefined)).then(() => this.#read(id, recover, loading));
    try {
      return await loading.session;
    } finally {
      if (this.#loading.get(id) === loading) this.#loading.delete(id);
    }
  }

  async #read(id: string, recover: boolean, loading: Loading): Promise<Session | undefined> {
    try {
      if (loading.abandoned) throw lostTo(id);
      // Who takes the writer fences the one before: an import must keep its own.
      const row = await this.#options.log.row("session", id);
      const stream = row && !isImporting(row.state) ? await this.#options.log.writer("session", id) : undefined;
      if (!stream) return undefined;
      const session = this.#make(stream, await this.#projectionOf(stream));
      // Nobody holds it, yet something is open: its last holder was lost. What was open is closed before anything new begins.
      if (recover || stream.openSince() !== null) await session.recover();
      if (!loading.abandoned) return this.#keep(session);
      session.abandon();
      this.#refused.delete(id);
      throw lostTo(id);
    } catch (error) {
      if (!loading.abandoned) this.setAside(id, error);
      throw error instanceof LogError || error instanceof ProblemError ? error : unreadableProblem(id, String(error));
    }
  }

  /** The map is in order of use. */
  #used(id: string, session: Session): Session {
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    return session;
  }

  /** Lets go of sessions nobody has used for long. They are read from the log again when somebody asks. */
  letGo(): void {
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
  setAside(id: string, error: unknown): void {
    if (error instanceof LogError && !DAMAGE.has(error.code)) {
      this.#refused.add(id);
      return this.#readLater(AGAIN_MS);
    }
    if (error instanceof ProblemError || this.#unreadable.has(id)) return;
    const reason = error instanceof Error ? error.message : String(error);
    this.#unreadable.set(id, reason);
    this.#options.warn("a session cannot be read and was set aside", { session_id: id, reason });
  }

  add(stream: StreamWriter, projection: SessionProjection): Session {
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
    const state = { log, ids, clock, now, projection };
    const { checkpoints, skills, adoptTask, whereabouts, carry } = this.#options;
    const shared = { agentEnvironment, checkpoints, skills, adoptTask, whereabouts, carry };
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
    this.#readLater(0);
  }

  /** While the log is well nobody says that it is well again: messages that wait would wait until somebody asks. */
  #readLater(ms: number): void {
    if (this.#paused || this.#closed || (this.#again && ms > 0)) return;
    clearTimeout(this.#again);
    this.#again = setTimeout(() => {
      this.#again = undefined;
      void this.#readAgain();
    }, ms).unref();
  }

  /** The log takes no more, or takes more again. */
  setPaused(paused: boolean): void {
    this.#paused = paused;
    for (const session of this.#sessions.values()) session.setPaused(paused);
    if (!paused && this.#refused.size > 0) this.#readLater(0);
  }

  /** Sessions that were given up: what was open in them is closed, and their queued messages are delivered. */
  async #readAgain(): Promise<void> {
    for (const id of [...this.#refused]) {
      if (this.#paused || this.#closed) return;
      // Another node may have it by now.
      if (!this.#refused.delete(id)) continue;
      try {
        (await this.load(id))?.pump();
      } catch (error) {
        this.#options.warn("a session could not be read again", { session_id: id, error: String(error) });
      }
    }
  }

  /** Undefined: it cannot be read, and is among the unreadable ones. */
  viewOf(
    row: StreamRow,
    directories: Pick<TrustedDirectories, "isTrusted"> = this.#options.directories,
  ): SessionView | undefined {
    const session = this.#sessions.get(row.id);
    if (session) return session.view();
    const state = this.stateOf(row);
    const shown = { queued: 0, pending: { permissions: 0, questions: 0 } };
    return state && sessionOf(state, row, { ...shown, trusted: isTrusted(state, directories) });
  }

  /** Views of many sessions: of each directory it is looked once whether it is trusted. */
  viewsOf(rows: readonly StreamRow[]): SessionView[] {
    const known = new Map<string, boolean>();
    const lookOnce = (directory: string): boolean => {
      const trusted = known.get(directory) ?? this.#options.directories.isTrusted(directory);
      known.set(directory, trusted);
      return trusted;
    };
    return rows.flatMap((row) => this.viewOf(row, { isTrusted: lookOnce }) ?? []);
  }

  /** What is stored of it. Undefined as above. */
  stateOf(row: StreamRow): SessionRow | undefined {
    if (this.#unreadable.has(row.id) || isImporting(row.state)) return undefined;
    try {
      return rowOf(row);
    } catch (error) {
      this.setAside(row.id, error);
      return undefined;
    }
  }

  async *rows(options: { onlyOpen?: boolean; where?: { agent: string } }): AsyncGenerator<StreamRow> {
    for await (const page of this.pages(options)) yield* page;
  }

  async *pages(options: { limit?: number; onlyOpen?: boolean; where?: { agent: string } }): AsyncGenerator<StreamRow[]> {
    let before: string | undefined;
    for (;;) {
      const page: StreamPage = await this.#options.log.list("session", {
        limit: 500,
        ...options,
        ...(before === undefined ? {} : { before }),
      });
      for (const id of page.damaged) this.setAside(id, new RowError("the stored row is damaged"));
      yield page.streams;
      if (page.next === null) return;
      before = page.next;
    }
  }
}

/** Codes of the log that say something about what it holds, not about whether it can write. */
const DAMAGE: ReadonlySet<LogError["code"]> = new Set([
  "corrupt_chunk",
  "database_corrupt",
  "invalid_entry",
  "sequence_gap",
] as const);

const lostTo = (id: string): LogError => new LogError("fenced", `Session ${id} is another node's now.`);

/** Throws RowError. */
function rowOf({ id, state }: Pick<StreamRow, "id" | "state">): SessionRow {
  const row = parseRow(state);
  if (row.session_id !== id) throw new RowError(`the stored row is that of ${row.session_id}`);
  return row;
}

const unreadableProblem = (id: string, reason: string): ProblemError =>
  new ProblemError(
    "session_unreadable",
    `Session ${id} cannot be read: ${reason}. Its events can be read and exported; remove it with DELETE /v1/sessions/${id}.`,
  );
