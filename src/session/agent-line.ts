// The line to a session's agent: opened when it is first needed, closed for good or for a rest. At most one at a time.
import {
  type Agent,
  AgentError,
  type AgentHost,
  type Connection,
  type SessionConfig,
  type SessionPort,
} from "../agents/contract.ts";
import { ProblemError } from "../schema/problem-codes.ts";

export type LineTarget = { config: SessionConfig; resume: { native_session_id: string; fork: boolean } | null };

export class AgentLine {
  readonly #agent: Agent;
  readonly #host: AgentHost;
  readonly #port: SessionPort;
  #connection: Connection | null = null;
  #opening: Promise<Connection> | null = null;
  #closing = false;

  constructor(agent: Agent, host: AgentHost, port: SessionPort) {
    this.#agent = agent;
    this.#host = host;
    this.#port = port;
  }

  /** The open connection, if there is one. */
  get current(): Connection | null {
    return this.#connection;
  }

  /** The open connection, or the one that is being opened when it is open; null when there is none. */
  async settled(): Promise<Connection | null> {
    return this.#connection ?? (await this.#opening?.catch(() => null)) ?? null;
  }

  /** True while a process may be running. */
  get alive(): boolean {
    return this.#connection !== null || this.#opening !== null;
  }

  /** Opens it unless it is open. An exit during start-up is the start's failure, told by the rejection. */
  open(target: () => LineTarget): Promise<Connection> {
    if (this.#connection && !this.#closing) return Promise.resolve(this.#connection);
    this.#opening ??= this.#connect(target()).finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async #connect({ config, resume }: LineTarget): Promise<Connection> {
    const connection = await this.#agent.connect({ config, resume, port: this.#port, host: this.#host });
    this.#connection = connection;
    return connection;
  }

  /** Hangs up: no process of the session is left when it resolves. */
  async hangUp(): Promise<void> {
    const connection = this.#connection ?? (await this.#opening?.catch(() => null));
    if (!connection) return;
    this.#closing = true;
    try {
      await connection.close();
    } catch (error) {
      this.#host.log("warn", "the connection did not close cleanly", { error: String(error) });
    }
    this.#closing = false;
    if (this.#connection === connection) this.#connection = null;
  }

  /** The agent's side is gone. False when that was our own doing, or nothing was open. */
  broke(): boolean {
    if (!this.#connection || this.#closing) return false;
    this.#connection = null;
    return true;
  }
}

/** Faults of an agent become problems with the same code. */
export async function agentCall<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof AgentError) throw new ProblemError(error.code, error.message, { cause: error });
    throw error;
  }
}
