/** New sessions: from a request, as a fork of another one, or from an earlier point of it. What is refused is not there afterwards. */
import { realpath, stat } from "node:fs/promises";
import { OWN_PREFIX } from "../agents/own-environment.ts";
import { withdrawn } from "../log/log-error.ts";
import { type Actor, EMBEDDED } from "../schema/actor.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import { SessionProjection } from "../schema/projection/session-projection.ts";
import type { CreateSession, ForkSession, Session as SessionView } from "../schema/session.ts";
import { earlierConversation } from "./earlier-conversation.ts";
import { forkPlace, placeAt } from "./fork-place.ts";
import type { LoadedSessions } from "./loaded-sessions.ts";
import { agentOf, type ManagerOptions } from "./manager-options.ts";
import { boundedMetadata } from "./metadata-size.ts";
import type { Session } from "./session.ts";
import { configOf, type SessionRow } from "./session-row.ts";
import type { Snapshots } from "./snapshots.ts";
import { mustSupport } from "./supported.ts";
import { isTrusted, mustNotHoldBack } from "./trust-gate.ts";

export class SessionCreation {
  readonly #options: ManagerOptions;
  readonly #loaded: LoadedSessions;
  readonly #snapshots: Snapshots;
  readonly #get: (id: string) => Promise<Session>;
  /** Ids of those that are being created. */
  readonly #creating = new Set<string>();

  constructor(options: ManagerOptions, loaded: LoadedSessions, snapshots: Snapshots, get: (id: string) => Promise<Session>) {
    this.#options = options;
    this.#loaded = loaded;
    this.#snapshots = snapshots;
    this.#get = get;
  }

  isCreating(id: string): boolean {
    return this.#creating.has(id);
  }

  async create(request: CreateSession, actor: Actor = EMBEDDED, parent?: string): Promise<SessionView> {
    const found = agentOf(this.#options, request.agent);
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
    const { agent, host } = agentOf(this.#options, id);
    await mustNotHoldBack(agent, host, directory);
    return "restricted";
  }

  async fork(id: string, request: ForkSession, actor: Actor = EMBEDDED): Promise<SessionView> {
    const origin = await this.#get(id);
    const { agent } = agentOf(this.#options, origin.agentId);
    if (!agent.capabilities.fork) throw new ProblemError("fork_unsupported");
    if (origin.nativeSessionId === null)
      throw new ProblemError(
        "not_resumable",
        "The session has no conversation yet: send it a message first, or create a new session.",
      );
    const place = request.at === undefined ? {} : { fork_at: await forkPlace(agent, origin.stream, request.at) };
    return this.#add({
      ...branchOf(origin.row, actor),
      ...place,
      session_id: request.session_id ?? this.#options.ids.next("sess"),
      title: request.title ?? origin.row.title,
      named: request.title !== undefined || origin.row.named === true,
      fork: true,
    });
  }

  /**
   * A new session that goes on from an earlier point of this one: few agents offer that for every point; others begin anew and know what was said up to then.
   * Where nothing was said before, it is simply the session once more.
   */
  async branchAt(id: string, sequence: number, actor: Actor = EMBEDDED): Promise<SessionView> {
    const origin = await this.#get(id);
    const { agent } = agentOf(this.#options, origin.agentId);
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
        `${agent.name} cannot be given what was said before this checkpoint. Rewind the files alone, and create a new session.`,
      );
    const { system_prompt } = origin.row;
    return this.#add({
      ...branchOf(origin.row, actor),
      session_id: this.#options.ids.next("sess"),
      native_session_id: null,
      answered: false,
      fork: false,
      system_prompt: earlier === null ? system_prompt : [system_prompt, earlier].filter((text) => text !== null).join("\n\n"),
    });
  }

  async #add(row: SessionRow): Promise<SessionView> {
    const { log, limits } = this.#options;
    log.assertWritable();
    if (this.#creating.has(row.session_id) || (await log.row("session", row.session_id)))
      throw new ProblemError("session_exists");
    const live = this.#loaded.all().filter((session) => session.alive).length;
    if (live >= limits.sessions) throw new ProblemError("too_many_sessions");
    this.#creating.add(row.session_id);
    try {
      const session = this.#loaded.add(await log.create("session", row.session_id, JSON.stringify(row)), new SessionProjection());
      try {
        session.begin();
        await session.stream.committed();
      } catch (error) {
        // Refused means not done.
        this.#loaded.letGoOf(row.session_id);
        await log.delete("session", row.session_id);
        throw withdrawn(error);
      }
      return session.view();
    } finally {
      this.#creating.delete(row.session_id);
    }
  }
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

/** What a session that goes on from another one takes over of it: not what happened there. */
function branchOf(origin: SessionRow, created_by: Actor): SessionRow {
  const { fork_at, imported_queue, usage_told, last_error, carried, ...row } = structuredClone(origin);
  return {
    ...row,
    status: "idle",
    status_detail: null,
    archived: false,
    pinned: false,
    forked_from: origin.session_id,
    created_by,
    usage: null,
    ended: null,
  };
}

async function existingDirectory(path: string): Promise<string> {
  try {
    const real = await realpath(path);
    if ((await stat(real)).isDirectory()) return real;
  } catch {
    // reported below
  }
  throw new ProblemError("directory_not_found", `${path} is not a directory on the daemon's machine.`);
}
