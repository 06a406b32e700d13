/**
 * Recognises calls that come from an agent of this daemon, whatever token they show: by a token of kind `agent`, by the mark a client passes on, and on Linux
 * by the process at the other end of the connection. It only says who calls; what an agent may do stands in agent-rights.
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { ProblemError } from "../schema/problem-codes.ts";
import { agentMarkOf, findOwner, ownerOfMark, parseMark, peerOf } from "../transports/index.ts";
import type { AgentCaller, Caller, Token } from "./token.ts";

/** A client that runs inside an agent, or works for one, says so with the agent's mark. It can only take rights away. */
export const AGENT_HEADER = "dragoman-agent";

/** Of another node: nobody here knows more of it. */
const SOME_AGENT: AgentCaller = { agent: null, session_id: null, known_by: "mark" };

export class AgentRecognition {
  readonly #instance: string;
  readonly #fleet: boolean;
  /** One look at the processes for each connection. */
  readonly #bySocket = new WeakMap<Socket, Promise<AgentCaller | null>>();

  /** `instance`: what the marks of this daemon's agents begin with. `fleet`: agents of other nodes of this machine are agents too, because this one speaks for their sessions. */
  constructor(instance: string, { fleet = false }: { fleet?: boolean } = {}) {
    this.#instance = instance;
    this.#fleet = fleet;
  }

  /** Null: nothing says that an agent calls. Throws `agent_forbidden` when the caller hides who it is. */
  async of({ socket, headers }: IncomingMessage): Promise<AgentCaller | null> {
    let found = this.#bySocket.get(socket);
    if (!found) {
      found = this.#look(socket);
      this.#bySocket.set(socket, found);
    }
    return (await found) ?? this.#declared(headers[AGENT_HEADER]);
  }

  #declared(mark: string | string[] | undefined): AgentCaller | null {
    if (typeof mark !== "string") return null;
    return ownerOfMark(mark, this.#instance) ?? (this.#fleet && parseMark(mark) ? SOME_AGENT : null);
  }

  async #look(socket: Socket): Promise<AgentCaller | null> {
    const peer = await peerOf(socket);
    if (peer.kind === "process") {
      const own = findOwner(peer.pid, this.#instance);
      return own ?? (this.#fleet && (await agentMarkOf(socket)) !== undefined ? SOME_AGENT : null);
    }
    if (peer.kind === "gone")
      throw new ProblemError(
        "agent_forbidden",
        "The caller closed its connection, so it cannot be distinguished from an agent. Keep the connection open until the answer has come.",
      );
    if (peer.kind !== "hidden") return null;
    // Somebody of this user that does not let itself be looked at. Agents can do that too: then nobody hidden is believed.
    const agent = peer.unreadable.map((pid) => findOwner(pid, this.#instance)).find((owner) => owner !== null);
    return agent ?? null;
  }
}

/** The caller with the agent it is, if it is one; effects then name the agent's session. For commands that change something. */
export async function withAgent<C extends Token & Partial<Caller>>(
  caller: C,
  request: IncomingMessage,
  { recognition }: { recognition: AgentRecognition | null },
): Promise<C & Pick<Partial<Caller>, "agent">> {
  const seen = (await recognition?.of(request)) ?? null;
  const shown: AgentCaller | null =
    caller.kind === "agent" ? { agent: null, session_id: caller.session_id ?? null, known_by: "token" } : null;
  // Where a process descends from cannot be changed; a token can be another agent's.
  const agent = seen?.known_by === "descent" ? seen : (shown ?? seen);
  if (!agent) return caller;
  const { actor } = caller;
  const session = agent.session_id === null ? {} : { session_id: agent.session_id };
  return { ...caller, agent, ...(actor ? { actor: { ...actor, ...session } } : {}) };
}
