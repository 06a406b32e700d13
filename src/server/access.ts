/**
 * Whether a caller may do what it asks: the one place where role, scope and rate are compared, for HTTP routes and WebSocket commands alike. A route only
 * declares its `role` and its `reach`. Not here: who the caller is (auth).
 */
import { realpathSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import type { FastifyRequest, RouteOptions } from "fastify";
import type { Log } from "../log/contract.ts";
import { type Role, reaches } from "../schema/actor.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import type { Authenticator } from "./auth.ts";
import type { RequestOrigin } from "./origin-guard.ts";
import type { RequestLimits } from "./request-limits.ts";
import { directoryOf, taskPlace } from "./session-place.ts";
import { type Caller, inScope, mayCreateIn } from "./token.ts";

/**
 * What of the sessions a route touches, to compare it with a token's scope. `session`: the one in its path. `branch`: that one, and a new one in its
 * directory. `create`: a new one in the directory of its body. `task`: the task in its path. `filtered`: its handler shows only what `Access.sees`. `all`: all of them at once, so a
 * token with a scope is refused. `none`: nothing of any session.
 */
export type Reach = "session" | "branch" | "create" | "task" | "filtered" | "all" | "none";

export type AccessOptions = {
  log: Log;
  authenticator: Authenticator;
  limits: RequestLimits;
  defaultDirectory?: string;
  /** True when an agent of the second session, or one it created, created the first. */
  descends(sessionId: string, ancestor: string): Promise<boolean>;
};

export type RouteAccess = { role: Role; reach: Reach };

export class Access {
  readonly #options: AccessOptions;

  constructor(options: AccessOptions) {
    this.#options = options;
  }

  /** Who calls. Throws problems. */
  authenticate(request: IncomingMessage, origin: RequestOrigin): Promise<Caller> {
    return this.#options.authenticator.authenticate(request, origin);
  }

  /** Counts a request, or a command of an open connection. Call what it returns when it is answered. Throws `too_many_requests`. */
  enter(caller: Caller): () => void {
    return this.#options.limits.enter(caller.id);
  }

  /** Role and path, before the body is read. */
  async check(caller: Caller, { role, reach }: RouteAccess, params: unknown): Promise<void> {
    mustHaveRole(caller, role);
    if (caller.scope === null) return;
    if (reach === "all")
      throw new ProblemError("forbidden", "This token reaches some sessions only, and the route answers for all of them.");
    if (reach === "session" || reach === "branch") await this.mustSee(caller, sessionIdOf(params));
    if (reach === "task" && !(await this.seesTask(caller, pathPart(params, "task"))))
      throw new ProblemError("task_not_found", `There is no task ${JSON.stringify(pathPart(params, "task"))}.`);
    if (reach === "branch" && !mayCreateIn(caller.scope, (await directoryOf(this.#options.log, sessionIdOf(params))) ?? ""))
      throw new ProblemError("forbidden", "This token creates no sessions in that directory.");
  }

  /** After the body is checked. */
  checkBody(caller: Caller, { reach }: RouteAccess, request: FastifyRequest): void {
    if (caller.scope === null || reach !== "create") return;
    const body = request.body as { directory?: string; resume_native?: string };
    const directory = realDirectory(body.directory ?? this.#options.defaultDirectory ?? "");
    if (directory === undefined || !mayCreateIn(caller.scope, directory))
      throw new ProblemError("forbidden", "This token creates sessions only in the directories of its scope. Name one of them.");
    if (body.resume_native !== undefined)
      throw new ProblemError("forbidden", "A token with a scope cannot take up a conversation by its native id.");
    body.directory = directory;
  }

  /** Throws `session_not_found`: a session outside the scope is not there. */
  async mustSee(caller: Caller, sessionId: string): Promise<void> {
    if (!(await this.sees(caller, sessionId))) throw new ProblemError("session_not_found");
  }

  async sees(caller: Caller, sessionId: string): Promise<boolean> {
    if (caller.scope === null) return true;
    // The directories in an agent's scope are for sessions it creates, not for others that work there.
    if (caller.kind === "agent")
      return caller.session_id === sessionId || this.#options.descends(sessionId, caller.session_id ?? "");
    const directory = await directoryOf(this.#options.log, sessionId);
    return directory !== undefined && inScope(caller.scope, { session_id: sessionId, directory });
  }

  /** A task of a session is seen by those who see the session; one of its own by those who may work in its directory. */
  async seesTask(caller: Caller, taskId: string): Promise<boolean> {
    if (caller.scope === null) return true;
    const place = await taskPlace(this.#options.log, taskId);
    if (place === undefined) return false;
    if (place.session_id !== null) return this.sees(caller, place.session_id);
    return caller.kind !== "agent" && mayCreateIn(caller.scope, place.directory);
  }
}

/** What a route declares; throws at start for one that forgot to. */
export function accessOf({ url, method, config = {} }: Pick<RouteOptions, "url" | "method" | "config">): RouteAccess | null {
  const { role, reach } = config;
  if (role === "none") return null;
  const own = reach ?? (url.startsWith("/v1/sessions/:id") ? "session" : undefined);
  if (own === undefined) throw new Error(`${String(method)} ${url} must declare its reach in its config`);
  return { role: role ?? (method === "GET" ? "observe" : "operate"), reach: own };
}

export function mustHaveRole({ role }: Caller, need: Role): void {
  if (reaches(role, need)) return;
  throw new ProblemError("forbidden", `This needs the role ${need}, and the token has ${role}. Use a token with that role.`);
}

const sessionIdOf = (params: unknown): string => pathPart(params, "id");

function pathPart(params: unknown, name: "id" | "task"): string {
  const parts: Partial<Record<string, unknown>> = typeof params === "object" && params !== null ? { ...params } : {};
  const part = parts[name];
  if (typeof part !== "string") throw new Error(`a route with this reach has ${name} in its path`);
  return part;
}

export function realDirectory(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
