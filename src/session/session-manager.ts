/**
 * All sessions of the daemon: finds them, recovers them at start, and puts them to rest at the end. New ones are made in session-creation.ts, listed in session-list.ts and
 * removed in session-removal.ts; those that are in memory are in loaded-sessions.ts.
 */
import type { SessionPort, Translator } from "../agents/contract.ts";
import type { StreamRow } from "../log/contract.ts";
import { LogError } from "../log/log-error.ts";
import { type Actor, EMBEDDED } from "../schema/actor.ts";
import type { EventDataOf } from "../schema/event-data.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import type { CreateSession, ForkSession, Session as SessionView, UnreadableSession } from "../schema/session.ts";
import { AgentIntake } from "./agent-intake.ts";
import { NativeChannel } from "./channel.ts";
import { isImporting } from "./import-mark.ts";
import { LoadedSessions } from "./loaded-sessions.ts";
import type { ManagerOptions } from "./manager-options.ts";
import type { Session } from "./session.ts";
import { SessionCreation } from "./session-creation.ts";
import { type ListFilter, SessionList } from "./session-list.ts";
import { SessionRemoval } from "./session-removal.ts";
import { parseRow, type SessionRow } from "./session-row.ts";
import { documentSnapshots } from "./snapshots.ts";
import { QUEUED, UNREADABLE } from "./stored-queue.ts";

/** How often a turn is looked at that must end before its session goes to another node. */
const TURN_LOOK_MS = 100;

/** How often sessions are looked at for silence and rest. */
const TICK_MS = 1_000;

/** Rows that are looked at in one turn of the event loop while unreadable ones are searched for. */
const SWEEP_ROWS = 100;
/** Between two turns: people who come right after the start go first, in time and in memory. */
const SWEEP_PAUSE_MS = 100;

/** More queued messages than the limits allow. */
const MAX_DOCUMENTS = 1_000_000;

export class SessionManager {
  readonly #options: ManagerOptions;
  readonly #loaded: LoadedSessions;
  readonly #creation: SessionCreation;
  readonly #removal: SessionRemoval;
  readonly #list: SessionList;
  readonly #timer: NodeJS.Timeout;
  readonly #stopListening: () => void;
  #closed = false;

  constructor(options: ManagerOptions) {
    const snapshots = documentSnapshots(options.log.documents);
    const get = (id: string): Promise<Session> => this.get(id);
    this.#options = options;
    this.#loaded = new LoadedSessions(options, snapshots);
    this.#creation = new SessionCreation(options, this.#loaded, snapshots, get);
    this.#removal = new SessionRemoval(options, this.#loaded, {
      get,
      rowOf: (id) => this.rowOf(id),
      isCreating: (id) => this.#creation.isCreating(id),
    });
    this.#list = new SessionList(options, this.#loaded);
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref();
    this.#stopListening = options.log.onPressure((paused) => this.#loaded.setPaused(paused));
  }

  /** Closes what was open when the last daemon died, and takes up messages that were accepted and not yet sent. */
  async recover(): Promise<{ recovered: number; resumed: number }> {
    let recovered = 0;
    let resumed = 0;
    const idle: string[] = [];
    const goOn: Session[] = [];
    for await (const row of this.#openRows()) {
      try {
        const session = await this.#loaded.load(row.id, { recover: true });
        if (!session) continue;
        recovered++;
        if (session.queued > 0) resumed++;
        else if (await session.unfinished()) goOn.push(session);
        else idle.push(row.id);
      } catch (error) {
        this.#loaded.setAside(row.id, error);
      }
    }
    try {
      await this.#options.log.committed();
      // Not before it is written: what is read again must be what was recovered.
      for (const id of idle) this.#loaded.letGoOf(id);
    } catch (error) {
      // The daemon can be asked why, and goes on when the log can write: a start that fails helps nobody.
      this.#options.warn("what was recovered could not be written yet", { error: String(error) });
    }
    for (const session of this.#loaded.all()) session.pump();
    for (const session of goOn) {
      const fault = (error: unknown): void =>
        this.#options.warn("a turn could not be continued", { session: session.session_id, error: String(error) });
      session.resume().catch(fault);
    }
    resumed += goOn.length;
    this.#sweep().catch((error: unknown) => this.#options.warn("sessions could not be looked through", { error: String(error) }));
    return { recovered, resumed };
  }

  /**
   * A session that this node owns from now on: what its last owner left open is closed, and its queued messages are delivered. False when there is none, or
   * it was being imported: then it is removed.
   */
  async takeUp(id: string, moved: EventDataOf["session.moved"] | null): Promise<boolean> {
    const row = await this.#options.log.row("session", id);
    if (row && isImporting(row.state)) await this.#options.log.delete("session", id);
    // Somebody may have asked for it first: then it was read, and what was open closed, and a turn may run by now.
    const present = await this.#loaded.present(id);
    const session = present ?? (await this.#loaded.load(id, { recover: true }));
    if (!session) return false;
    if (moved) session.moved(moved);
    await session.stream.committed().catch((error: unknown) => {
      // What this object has written is refused for good: the next try reads the session again.
      if (error instanceof LogError && error.code === "fenced") this.#loaded.abandon(id);
      throw error;
    });
    // A message that waits starts the agent too, and its turn takes place also when that fails.
    if (!present && session.queued === 0 && (await session.unfinished())) await session.resume();
    else session.pump();
    return true;
  }

  /** Another node owns it: its agent is ended, and its object forgotten. */
  abandon(id: string): void {
    this.#loaded.abandon(id);
  }

  /** For another node: the running turn ends by itself or is cut, and everything is committed. Nothing new begins here meanwhile. */
  async handOver(id: string, when: "turn_end" | "now"): Promise<void> {
    const session = await this.#loaded.present(id);
    if (!session) return;
    session.hold();
    while (when === "turn_end" && session.projection.turn !== null && session.alive && !this.#closed)
      await new Promise((resolve) => setTimeout(resolve, TURN_LOOK_MS));
    try {
      await session.suspend();
      // However long the log takes: an object that is given up half would accept messages and never deliver them.
      await session.stream.committed({ bounded: false });
    } finally {
      this.#loaded.letGoOf(id);
    }
  }

  /** What was open when the last daemon stopped, and what has messages to deliver. However many sessions there are, only these are read. */
  async *#openRows(): AsyncGenerator<StreamRow> {
    const { log } = this.#options;
    const seen = new Set<string>();
    for await (const row of this.#loaded.rows({ onlyOpen: true })) {
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
    for await (const page of this.#loaded.pages({ limit: SWEEP_ROWS })) {
      for (const row of page) if (!this.#loaded.get(row.id)) this.#loaded.stateOf(row);
      await new Promise((resolve) => setTimeout(resolve, SWEEP_PAUSE_MS).unref());
      if (this.#closed) return;
    }
  }

  /** `parent`: the session whose agent asks for it. */
  create(request: CreateSession, actor: Actor = EMBEDDED, parent?: string): Promise<SessionView> {
    return this.#creation.create(request, actor, parent);
  }

  fork(id: string, request: ForkSession, actor: Actor = EMBEDDED): Promise<SessionView> {
    return this.#creation.fork(id, request, actor);
  }

  /** A new session that goes on from an earlier point of this one. */
  branchAt(id: string, sequence: number, actor: Actor = EMBEDDED): Promise<SessionView> {
    return this.#creation.branchAt(id, sequence, actor);
  }

  /** The unreadable ones are in every answer: no filter can say anything about them. */
  list(filter: ListFilter): ReturnType<SessionList["list"]> {
    return this.#list.list(filter);
  }

  /** Called when a session is gone from the log: its id may be used again. */
  set onGone(listener: (id: string) => void) {
    this.#removal.onGone = listener;
  }

  /** Removes the session and all it left in the log. Its agent is ended first. */
  remove(id: string, actor: Actor = EMBEDDED): Promise<void> {
    return this.#removal.remove(id, actor);
  }

  /** True while nobody needs it: it has no process, nothing is open in it, and no message waits for it. */
  isUnused(id: string): Promise<boolean> {
    return this.#removal.isUnused(id);
  }

  /** Removes it if it is unused. False when it is not, or is gone. Its bytes are gone with `Log.erased`. */
  removeUnused(id: string): Promise<boolean> {
    return this.#removal.removeUnused(id);
  }

  /** The session as it is committed. */
  async view(id: string): Promise<SessionView> {
    const session = await this.get(id);
    // It is being created right now.
    if (session.stream.lastCommitted === 0) await session.stream.committed();
    return session.view();
  }

  /** The session as its row says, without loading it. Throws session_not_found. */
  async storedView(id: string): Promise<SessionView> {
    const row = await this.#options.log.row("session", id);
    const view = row && this.#loaded.viewOf(row);
    if (!view) throw new ProblemError("session_not_found");
    return view;
  }

  /** Throws session_not_found or session_unreadable. */
  async get(id: string): Promise<Session> {
    const session = await this.#loaded.load(id);
    if (!session)
      throw new ProblemError("session_not_found", `There is no session ${JSON.stringify(id)}. List them with GET /v1/sessions.`);
    return session;
  }

  /** What is stored of a session, without loading it. Undefined when there is none, or when it cannot be read. */
  async rowOf(id: string): Promise<Readonly<SessionRow> | undefined> {
    const loaded = this.#loaded.get(id);
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
    return this.#loaded.get(id);
  }

  /** Sessions that were set aside. */
  unreadable(): UnreadableSession[] {
    return this.#loaded.unreadable();
  }

  /** Queued messages that were set aside. */
  async unreadableMessages(): Promise<number> {
    return (await this.#options.log.documents.list(UNREADABLE)).length;
  }

  /** A channel that hands native messages to sessions of this manager. */
  openChannel(translator: Translator): NativeChannel {
    return new NativeChannel(translator, intakeOf);
  }

  /** Every agent is stopped, every session stays resumable. */
  async shutdown(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    this.#stopListening();
    this.#loaded.close();
    await Promise.allSettled(this.#loaded.all().map((session) => session.suspend()));
    await this.#loaded.left();
    await this.#options.log.committed();
  }

  counts(): { live: number; loaded: number } {
    return { live: this.#loaded.all().filter((session) => session.alive).length, loaded: this.#loaded.all().length };
  }

  #tick(): void {
    const now = this.#options.now();
    for (const session of this.#loaded.all()) session.tick(now);
    this.#loaded.letGo();
  }
}

/** The port that a connection was given is its session's intake. */
function intakeOf(port: SessionPort): AgentIntake {
  if (port instanceof AgentIntake) return port;
  throw new Error(`${port.session_id} is no session of this daemon`);
}
