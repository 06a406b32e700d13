/**
 * What an agent may do to the daemon that drives it. It never answers a request, its own or another's: two agents could answer each other. By default it
 * reads its own session; where the configuration says `agent_access: "delegate"`, it also creates sessions and drives those, with no more rights than its
 * own. Everything else that changes something is refused. Not here: how an agent is recognised (agent-caller).
 */
import { type Role, reaches } from "../schema/actor.ts";
import { isWider } from "../schema/mode-width.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import type { CreateSession, UpdateSession } from "../schema/session.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { SessionRow } from "../session/session-row.ts";
import { realDirectory } from "./access.ts";

import { type AgentCaller, type Caller, mayCreateIn } from "./token.ts";

export const AGENT_ACCESS = ["read", "delegate"] as const;
export type AgentAccess = (typeof AGENT_ACCESS)[number];

export class AgentRights {
  readonly #manager: SessionManager;
  readonly #access: AgentAccess;

  constructor(manager: SessionManager, access: AgentAccess) {
    this.#manager = manager;
    this.#access = access;
  }

  /** Before a permission or a question is answered. */
  async mustMayAnswer({ agent, actor }: Caller, sessionId: string): Promise<void> {
    const people = `A person answers it: \`dragoman allow ${sessionId}\` or \`dragoman deny ${sessionId}\` in a terminal of their own, or the inspector.`;
    if (agent)
      throw new ProblemError("own_request", `This call comes from ${nameOf(agent)}, and agents answer no requests. ${people}`);
    // Who starts agents through MCP is an agent, too, if not one of this daemon: it must not be the one who lets them out.
    if (actor.surface === "mcp" && (await this.#rowOf(sessionId))?.created_by?.surface === "mcp")
      throw new ProblemError(
        "own_request",
        `This session was created through MCP, so MCP does not answer its requests. ${people}`,
      );
  }

  /** Before trust is given for good or for a session: it lets a directory run programs, so a person gives it, with the rights of one. */
  mustMayTrust(caller: Caller, forGood: boolean): void {
    this.mustBePerson(caller);
    if (caller.actor.surface === "mcp")
      throw new ProblemError(
        "own_request",
        "Trust in a directory is given by a person: in a terminal of their own, or in the inspector.",
      );
    if (forGood && !reaches(caller.role, "operate"))
      throw new ProblemError(
        "forbidden",
        "Only an operate token can trust a directory for good. Trust it in this session, or reject.",
      );
  }

  /** The request as it may be carried out: an agent's session works in its creator's directory, or below. */
  async mustMayCreate({ agent }: Caller, request: CreateSession): Promise<CreateSession> {
    if (!agent) return request;
    const own = await this.#ownSession(agent);
    if (request.env !== undefined || request.mcp_servers !== undefined || request.resume_native !== undefined)
      throw refusal(agent, "gives no env, mcp_servers or resume_native to a session it creates");
    if (request.trust === "trusted") throw refusal(agent, "trusts no directory");
    if (isWider(request.permission_mode ?? "default", own.permission_mode))
      throw refusal(agent, `works in the permission mode ${own.permission_mode}, so it creates no session in a wider one`);
    const directory = realDirectory(request.directory ?? own.directory);
    if (directory === undefined || !mayCreateIn({ directories: [own.directory] }, directory))
      throw refusal(agent, "creates sessions only in its own directory or below");
    return { ...request, directory };
  }

  /** Send, steer, interrupt, configure, fork, terminate, remove. */
  async mustMayDrive({ agent }: Caller, sessionId: string, patch: UpdateSession = {}): Promise<void> {
    if (!agent) return;
    const own = await this.#ownSession(agent);
    const driven = await this.#rowOf(sessionId);
    if (!driven || !(await this.descends(sessionId, own.session_id))) throw refusal(agent, "drives only the sessions it created");
    if (isWider(driven.permission_mode, own.permission_mode))
      throw refusal(agent, `works in the permission mode ${own.permission_mode}, and this session in a wider one`);
    if (patch.trust !== undefined) throw refusal(agent, "changes no trust");
    if (patch.permission_mode && isWider(patch.permission_mode, driven.permission_mode))
      throw refusal(agent, "widens no permission mode");
  }

  /** Before the role is compared, so that an agent is informed what it is, and not to look for another token. */
  mustReach({ agent, role }: Caller, need: Role): void {
    if (agent && !reaches(role, need)) throw refusal(agent, "has a token that only reads its own session");
  }

  /** For every other command: tokens, trust, installation, import. */
  mustBePerson({ agent }: Pick<Caller, "agent">): void {
    if (agent) throw refusal(agent, "may not do this");
  }

  /** True when an agent of `ancestor`, or an agent it created, created the session. */
  async descends(sessionId: string, ancestor: string): Promise<boolean> {
    const seen = new Set<string>();
    for (let at: string | undefined = sessionId; at !== undefined && !seen.has(at); ) {
      seen.add(at);
      at = (await this.#rowOf(at))?.created_by?.session_id;
      if (at === ancestor) return true;
    }
    return false;
  }

  /** The session of an agent that may delegate. Throws for all others. */
  async #ownSession(agent: AgentCaller): Promise<Readonly<SessionRow>> {
    if (this.#access !== "delegate")
      throw refusal(agent, 'only reads its own session. Set agent_access to "delegate" to let agents create and drive sessions');
    const own = agent.session_id === null || agent.known_by === "mark" ? undefined : await this.#rowOf(agent.session_id);
    if (!own) throw refusal(agent, "serves several sessions, or left its own, so it is not known for which one it calls");
    return own;
  }

  #rowOf(sessionId: string): Promise<Readonly<SessionRow> | undefined> {
    return this.#manager.rowOf(sessionId);
  }
}

const nameOf = ({ session_id, agent }: AgentCaller): string =>
  session_id !== null ? `the agent of session ${session_id}` : agent === null ? "an agent" : `an agent (${agent})`;

const refusal = (agent: AgentCaller, why: string): ProblemError =>
  new ProblemError("agent_forbidden", `This call comes from ${nameOf(agent)}, which ${why}.`);
