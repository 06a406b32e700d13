/**
 * The start of a session's agent: who must agree before, what it finds in its place, what it is started with. Knows with which trust the running one was
 * started. Not here: the process and its connection (agent-connection.ts), and when an agent is started (message-delivery.ts, session.ts).
 */
import { AgentError, type Connection } from "../agents/contract.ts";
import type { AgentConnection, ConnectionTarget } from "./agent-connection.ts";
import type { CarriedMemory } from "./carried-memory.ts";
import type { SessionContext } from "./session-context.ts";
import { configOf, type SessionRow } from "./session-row.ts";
import type { SessionSkills } from "./session-skills.ts";
import { isTrusted, type TrustGate } from "./trust-gate.ts";

export type StartOptions = {
  row: Readonly<SessionRow>;
  gate: TrustGate;
  connection: AgentConnection;
  skills: SessionSkills;
  /** Null: the agent's memory of the session is not carried. */
  carried: CarriedMemory | null;
  context: Pick<SessionContext, "agent" | "host" | "directories" | "agentEnvironment">;
};

export class AgentStart {
  readonly #options: StartOptions;
  /** What the running agent was started with. */
  #startedTrusted = false;

  constructor(options: StartOptions) {
    this.#options = options;
  }

  /** Whether the agent loads the files of its directory: the one that runs, or the next one that is started. */
  trusted(row = this.#options.row): boolean {
    const { connection, context } = this.#options;
    return connection.current ? this.#startedTrusted : isTrusted(row, context.directories);
  }

  /** For a message: a person may have to decide. What is loaded is known only then: a repository's rules may break the session's mode. */
  async permitted(): Promise<void> {
    const { row, gate, context } = this.#options;
    await gate.pass();
    const refusal = await context.agent.refusal?.(configOf(row, gate.trusted), context.host);
    if (refusal) throw new AgentError("unsupported", refusal);
    await this.#prepare();
  }

  /** For a start that no message asks for: refused where a person would have to decide. */
  async permittedWithoutMessage(): Promise<void> {
    await this.#options.gate.mustBeDecided();
    await this.#prepare();
  }

  async #prepare(): Promise<void> {
    const { skills, connection, carried } = this.#options;
    await skills.prepare();
    if (!connection.alive) await carried?.bring();
  }

  /** Starts it unless it runs. */
  open(): Promise<Connection> {
    return this.#options.connection.open(() => this.#target());
  }

  #target(): ConnectionTarget {
    const { row, gate, skills, context } = this.#options;
    const { native_session_id, fork, fork_at: at, answered } = row;
    this.#startedTrusted = gate.trusted;
    const config = configOf(row, this.#startedTrusted);
    const own = context.agent.sharesProcess ? {} : context.agentEnvironment(row.session_id);
    return {
      config: skills.handedTo({ ...config, env: { ...config.env, ...own } }),
      resume:
        native_session_id === null
          ? null
          : { native_session_id, fork, answered: answered !== false, ...(fork && at !== undefined ? { at } : {}) },
    };
  }
}
