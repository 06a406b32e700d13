// All sessions and all that waits for an answer, kept up to date by the one stream of all sessions. Open transcripts hang on it too.
import { DragomanError } from "../../../src/client/error.ts";
import type { UniversalEvent } from "../../../src/schema/event.ts";
import type { PermissionData, QuestionData } from "../../../src/schema/event-data.ts";
import { SessionProjection } from "../../../src/schema/projection/session-projection.ts";
import type { Session } from "../../../src/schema/session.ts";
import type { RequestState } from "../../../src/schema/snapshot.ts";
import { access, daemon, isOtherHistory, problemText, readAccess, streamOpened } from "./daemon.ts";
import { lastLines } from "./last-lines.ts";
import { forgetSeen, markSeen, seen } from "./preferences.ts";
import { Signal, Store } from "./store.ts";

export type Link =
  | { state: "connecting" }
  | { state: "live"; again: boolean }
  | { state: "reconnecting"; attempt: number; reason: string }
  | { state: "refused" };

export type Waiting = { session_id: string; at: string } & (
  | { kind: "permission"; data: PermissionData }
  | { kind: "question"; data: QuestionData }
);

const LIST_PAGE = 500;
const REFRESH_MS = 120;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;
/** Events after which the session's row is read again: they change what the list shows in ways only the daemon knows. */
const CHANGES_ROW = /^(error$|(session|turn|message|permission|question|config|usage)\.)/;
const CHANGES_REQUESTS = /^(permission|question)\./;

export const link = new Store<Link>({ state: "connecting" });
export const listFault = new Store<string | null>(null);

class Sessions {
  readonly changed = new Signal();
  readonly #rows = new Map<string, Session>();
  /** The requests of sessions, as far as anything waits. */
  readonly #states = new Map<string, SessionProjection>();
  /** Requests and answers of sessions whose state is being read: it may be older than they are. */
  readonly #late = new Map<string, UniversalEvent[]>();
  readonly #watchers = new Map<string, Set<(event: UniversalEvent) => void>>();
  readonly #stale = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #cursor: string | undefined;
  #list: Session[] = [];
  #requests: Waiting[] = [];
  #loaded = false;
  /** Counts openings and losses of the stream: what was begun for one of them does not speak for the next. */
  #connections = 0;
  /** Called after every (re)connection, when the list is fresh. */
  readonly caughtUp = new Signal();

  readonly list = (): Session[] => this.#list;
  readonly requests = (): Waiting[] => this.#requests;
  readonly loaded = (): boolean => this.#loaded;
  readonly get = (id: string): Session | undefined => this.#rows.get(id);

  /** Calls back for every event of one session, live. */
  watch(id: string, watcher: (event: UniversalEvent) => void): () => void {
    const watchers = this.#watchers.get(id) ?? new Set();
    this.#watchers.set(id, watchers.add(watcher));
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0) this.#watchers.delete(id);
    };
  }

  async run(signal: AbortSignal): Promise<void> {
    streamOpened.call = () => void this.#opened(signal);
    while (!signal.aborted) {
      try {
        const stream = daemon.events({
          signal,
          kinds: ["session"],
          ...(this.#cursor === undefined ? {} : { after: this.#cursor }),
          onState: (state) => {
            if (state.state !== "reconnecting") return;
            this.#connections++;
            link.set(state);
          },
        });
        for await (const { cursor, event } of stream) {
          this.#cursor = cursor;
          this.#apply(event);
        }
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof DragomanError && isOtherHistory(error)) {
          // Another log than the one this page knew: begin anew.
          this.#cursor = undefined;
          continue;
        }
        link.set({ state: "refused" });
        await readAccess();
        return;
      }
    }
  }

  async #opened(signal: AbortSignal): Promise<void> {
    const again = link.get().state === "reconnecting";
    const connection = ++this.#connections;
    const isOver = (): boolean => signal.aborted || connection !== this.#connections;
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
      try {
        await this.reload(signal);
        if (access.get().state !== "known") await readAccess();
        if (isOver()) return;
        link.set({ state: "live", again });
        return this.caughtUp.flush();
      } catch (error) {
        if (isOver()) return;
        listFault.set(problemText(error));
        if (error instanceof DragomanError && (error.status === 401 || error.status === 403)) return;
      }
      // The stream is open, so nothing else would ask for the list again.
      await new Promise((resolve) => setTimeout(resolve, wait));
      if (isOver()) return;
    }
  }

  async reload(signal?: AbortSignal): Promise<void> {
    // What begins from here on may be missing in the list, and is no less there.
    const known = [...this.#rows.keys()];
    const rows: Session[] = [];
    let before: string | undefined;
    do {
      const page = await daemon.sessions(
        { limit: LIST_PAGE, archived: "include", ...(before === undefined ? {} : { before }) },
        signal,
      );
      rows.push(...page.sessions);
      for (const row of page.sessions) this.#put(row);
      const unknown = page.sessions.filter((row) => seen.get()[row.session_id] === undefined);
      markSeen(Object.fromEntries(unknown.map((row) => [row.session_id, row.last_sequence])));
      before = page.next ?? undefined;
      // The newest are shown while older ones are still read.
      if (before !== undefined && !this.#loaded) this.#show();
    } while (before !== undefined);
    const there = new Set(rows.map((row) => row.session_id));
    for (const id of known) if (!there.has(id)) this.#forget(id);
    await Promise.all(rows.filter(waits).map((row) => this.#readWaiting(row.session_id, signal)));
    // What was asked since the list was made stays.
    for (const row of rows)
      if (!waits(row) && (this.#states.get(row.session_id)?.sequence ?? 0) <= row.last_sequence)
        this.#states.delete(row.session_id);
    this.#loaded = true;
    listFault.set(null);
    this.#show();
  }

  #show(): void {
    this.#publish();
    this.changed.flush();
  }

  /** Puts a row the page got as the answer to a command. */
  accept(row: Session): void {
    this.#put(row);
    this.#show();
  }

  removed(id: string): void {
    this.#forget(id);
    this.#show();
  }

  #apply(event: UniversalEvent): void {
    const id = event.session_id;
    const row = this.#rows.get(id);
    if (row && event.sequence > row.last_sequence) this.#rows.set(id, { ...row, last_sequence: event.sequence });
    if (!row || CHANGES_ROW.test(event.type)) this.#refreshSoon(id);
    this.#note(event);
    lastLines.note(event);
    for (const watcher of this.#watchers.get(id) ?? []) watcher(event);
    this.#publishSoon();
  }

  #note(event: UniversalEvent): void {
    if (!CHANGES_REQUESTS.test(event.type)) return;
    this.#late.get(event.session_id)?.push(event);
    this.#keep(event.session_id, this.#states.get(event.session_id) ?? new SessionProjection(), [event]);
  }

  /** One that was removed since the list was made, or cannot be read, is not in the way of the others. */
  async #readWaiting(id: string, signal?: AbortSignal): Promise<void> {
    try {
      await this.#readState(id, signal);
    } catch (error) {
      if (!(error instanceof DragomanError) || error.status === 0) throw error;
      if (error.code === "session_not_found") this.#forget(id);
    }
  }

  async #readState(id: string, signal?: AbortSignal): Promise<void> {
    const late: UniversalEvent[] = [];
    this.#late.set(id, late);
    try {
      const state = new SessionProjection(await daemon.session(id).snapshot({ signal }));
      // Only requests are kept up to date here.
      state.items.clear();
      this.#keep(id, state, late);
    } finally {
      if (this.#late.get(id) === late) this.#late.delete(id);
    }
  }

  #keep(id: string, state: SessionProjection, events: readonly UniversalEvent[]): void {
    for (const event of events) if (event.sequence > state.sequence) state.apply(event);
    if (state.requests.size > 0) this.#states.set(id, state);
    else this.#states.delete(id);
  }

  #put(row: Session): void {
    const known = this.#rows.get(row.session_id);
    // An answer can be older than what the stream already brought.
    if (known && known.last_sequence > row.last_sequence)
      this.#rows.set(row.session_id, { ...row, last_sequence: known.last_sequence });
    else this.#rows.set(row.session_id, row);
  }

  #forget(id: string): void {
    this.#rows.delete(id);
    this.#states.delete(id);
    forgetSeen([id]);
  }

  #refreshSoon(id: string): void {
    this.#stale.add(id);
    this.#timer ??= setTimeout(() => void this.#refresh(), REFRESH_MS);
  }

  async #refresh(): Promise<void> {
    const ids = [...this.#stale];
    this.#stale.clear();
    this.#timer = undefined;
    await Promise.all(
      ids.map(async (id) => {
        try {
          const row = await daemon.session(id).get();
          const isNew = !this.#rows.has(id);
          this.#put(row);
          if (isNew) markSeen({ [id]: 0 });
        } catch (error) {
          if (error instanceof DragomanError && error.code === "session_not_found") this.#forget(id);
        }
      }),
    );
    this.#show();
  }

  #dirty = false;
  #publishSoon(): void {
    if (this.#dirty) return;
    this.#dirty = true;
    const publish = (): void => {
      this.#dirty = false;
      this.#show();
    };
    if (document.hidden) setTimeout(publish, 200);
    else requestAnimationFrame(publish);
  }

  #publish(): void {
    this.#list = [...this.#rows.values()].sort((a, b) => rank(b) - rank(a) || (b.updated_at < a.updated_at ? -1 : 1));
    const next = [...this.#states].flatMap(([id, state]) => Array.from(state.requests.values(), (each) => waitingOf(id, each)));
    if (next.length !== this.#requests.length || next.some((each, index) => each !== this.#requests[index]))
      this.#requests = next;
  }
}

/** The same object for the same request, so that nothing is drawn anew. */
const known = new WeakMap<RequestState, Waiting>();

function waitingOf(session_id: string, request: RequestState): Waiting {
  const { requested_at: at, ...asked } = request;
  const waiting = known.get(request) ?? { session_id, at, ...asked };
  known.set(request, waiting);
  return waiting;
}

/** What waits for an answer stands first, then what is pinned. */
const rank = (row: Session): number => Number(waits(row)) * 2 + Number(row.pinned);

const waits = (row: Session): boolean => row.pending.permissions + row.pending.questions > 0;

export const sessions = new Sessions();
