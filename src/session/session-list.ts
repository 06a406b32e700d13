/** Pages of sessions: rows of the log that fit a filter, with what is in memory shown as it is now. */
import type { StreamRow } from "../log/contract.ts";
import type { SessionState, Session as SessionView, UnreadableSession } from "../schema/session.ts";
import type { LoadedSessions } from "./loaded-sessions.ts";
import type { ManagerOptions } from "./manager-options.ts";
import { RowError } from "./session-row.ts";

export type ListFilter = {
  limit: number;
  before?: string;
  /** Only these. */
  ids?: ReadonlySet<string>;
  agent?: string;
  status?: SessionState;
  directory?: string;
  tag?: string;
  archived?: boolean;
  pinned?: boolean;
  /** Only those that have ended, or have not. */
  ended?: boolean;
  /** `created` (default): the newest first. `updated`: the last written first. With `search` the newest come first. */
  order?: "created" | "updated";
  search?: string;
  /** Only those it is true for. */
  only?(view: SessionView): Promise<boolean>;
};

export class SessionList {
  readonly #options: Pick<ManagerOptions, "log" | "searchReady">;
  readonly #loaded: LoadedSessions;

  constructor(options: Pick<ManagerOptions, "log" | "searchReady">, loaded: LoadedSessions) {
    this.#options = options;
    this.#loaded = loaded;
  }

  /** The unreadable ones are in every answer: no filter can say anything about them. */
  async list(filter: ListFilter): Promise<{ sessions: SessionView[]; unreadable: UnreadableSession[]; next: string | null }> {
    const sessions: SessionView[] = [];
    let next = filter.before ?? null;
    do {
      const page = await this.#page(filter, next);
      for (const view of this.#loaded.viewsOf(page.rows))
        if (matches(view, filter) && (await filter.only?.(view)) !== false) sessions.push(view);
      next = page.next;
    } while (next !== null && sessions.length < filter.limit);
    return { sessions, unreadable: this.#loaded.unreadable(), next };
  }

  /** Rows that may fit. Filters that the log knows are left to it, and words to the search index. */
  async #page(filter: ListFilter, before: string | null): Promise<{ rows: StreamRow[]; next: string | null }> {
    const { log, searchReady } = this.#options;
    const { limit, order = "created", ids, agent, directory, status, tag, archived, pinned, search } = filter;
    const place = before === null ? {} : { before };
    if (search && searchReady()) return this.#namedRows(search, limit, before);
    const where = {
      ...(agent === undefined ? {} : { agent }),
      ...(directory === undefined ? {} : { directory }),
      ...(status === undefined ? {} : { status }),
    };
    const marks = {
      ...(ids === undefined ? {} : { ids: [...ids] }),
      ...(tag === undefined ? {} : { tag }),
      ...(archived === undefined ? {} : { archived }),
      ...(pinned === undefined ? {} : { pinned }),
    };
    const page = await log.list("session", { limit, order, where, ...marks, ...place });
    for (const id of page.damaged) this.#loaded.setAside(id, new RowError("the stored row is damaged"));
    return { rows: page.streams, next: page.next };
  }

  async #namedRows(search: string, limit: number, before: string | null): Promise<{ rows: StreamRow[]; next: string | null }> {
    const { log } = this.#options;
    const found = await log.search.findStreams(search, { limit, ...(before === null ? {} : { before }) });
    // What is in memory may be younger than the index.
    const fresh =
      before === null
        ? this.#loaded
            .all()
            .map((session) => session.session_id)
            .reverse()
        : [];
    const ids = new Set([...fresh, ...found.ids]);
    const rows = await Promise.all(
      [...ids].map((id) => log.row("session", id).catch((error: unknown) => void this.#loaded.setAside(id, error))),
    );
    return { rows: rows.flatMap((row) => row ?? []), next: found.next };
  }
}

function matches(view: SessionView, filter: ListFilter): boolean {
  if (filter.ids?.has(view.session_id) === false) return false;
  if (filter.agent !== undefined && view.agent !== filter.agent) return false;
  if (filter.status !== undefined && view.status !== filter.status) return false;
  if (filter.directory !== undefined && view.directory !== filter.directory) return false;
  if (filter.tag !== undefined && !view.tags.includes(filter.tag)) return false;
  if (filter.archived !== undefined && view.archived !== filter.archived) return false;
  if (filter.ended !== undefined && (view.status === "ended") !== filter.ended) return false;
  if (filter.pinned !== undefined && view.pinned !== filter.pinned) return false;
  return isNamed(view, filter.search);
}

/** True when the words stand in what a session is called. */
export function isNamed(
  view: Pick<SessionView, "title" | "session_id" | "directory" | "agent">,
  search: string | undefined,
): boolean {
  const text = search?.toLowerCase();
  return !text || [view.title, view.session_id, view.directory, view.agent].some((field) => field?.toLowerCase().includes(text));
}
