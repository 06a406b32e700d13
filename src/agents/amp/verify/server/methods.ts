// The internal methods of Amp's server that a local agent loop cannot do without, each answered as little as it needs.

/** Threads as the agent uploads them: continuing one in a new process reads it back from here. */
export class ThreadStore {
  readonly #threads = new Map<string, unknown>();

  put(params: Params): void {
    const thread = params.thread ?? params;
    const id = idOf(thread) ?? params.threadID ?? params.thread_id;
    if (typeof id === "string") this.#threads.set(id, thread);
  }

  get(id: unknown): unknown {
    return typeof id === "string" ? this.#threads.get(id) : undefined;
  }

  delete(id: unknown): void {
    if (typeof id === "string") this.#threads.delete(id);
  }
}

type Params = Record<string, unknown>;
type Answer = { ok: true; result: unknown } | { ok: false; error: { code: string; message: string } };

const ok = (result: unknown): Answer => ({ ok: true, result });

const USER = {
  id: "user-stand-in",
  email: "person@example.com",
  username: "person",
  firstName: "A",
  lastName: "Person",
  // Must be there: both builds iterate over it.
  features: [],
  team: null,
  teams: [],
  siteAdmin: false,
  emailVerified: true,
  lastUsedTeamId: null,
};

export function answerMethod(method: string, raw: unknown, threads: ThreadStore): Answer {
  const params: Params = typeof raw === "object" && raw !== null ? { ...raw } : {};
  switch (method) {
    case "getUserInfo":
      return ok(USER);
    case "uploadThread":
      threads.put(params);
      return ok({});
    case "getThread": {
      const thread = threads.get(params.thread ?? params.threadID ?? params.id);
      // Anything but this code is taken for a thread that could not be loaded.
      if (thread === undefined) return { ok: false, error: { code: "thread-not-found", message: "No such thread." } };
      return ok({ thread: { data: thread } });
    }
    case "deleteThread":
      threads.delete(params.thread ?? params.threadID ?? params.id);
      return ok({});
    case "loadPlugins":
    case "listPlugins":
    case "getThreadSummaries":
      return ok([]);
    case "listThreads":
      return ok({ threads: [] });
    case "getUserFreeTierStatus":
      return ok({ canUseAmpFree: false, isDailyGrantEnabled: false, features: [] });
    case "createTask":
    case "updateTask":
      return ok(task(params));
    case "listTasks":
      return ok({ tasks: [] });
    default:
      return ok({});
  }
}

const task = (params: Params): Params => ({ id: "task-1", status: "open", ...params });

function idOf(thread: unknown): unknown {
  return typeof thread === "object" && thread !== null && "id" in thread ? thread.id : undefined;
}
