/**
 * The connection of a session to its agent: opened when it is first needed, closed for good or for a rest. At most one at a time: opening waits until the
 * one before is closed, and closing goes on until neither a connection nor an opening is left. Not here: when to do either (session.ts).
 */
import {
  type Agent,
  AgentError,
  type AgentHost,
  type Connection,
  type ResumeTarget,
  type SessionConfig,
  type SessionPort,
} from "../agents/contract.ts";
import { ProblemError } from "../schema/problem-codes.ts";

export type ConnectionTarget = { config: SessionConfig; resume: ResumeTarget | null };

export class AgentConnection {
  readonly #agent: Agent;
  readonly #host: AgentHost;
  readonly #port: SessionPort;
  #connection: Connection | null = null;
  #opening: Promise<Connection> | null = null;
  #closing: Promise<void> | null = null;
  /** Gives up the opening that is under way. */
  #abandon: AbortController | null = null;
  /** An opening that was given up before it came to its end, and has no process of its own. Never rejects. */
  #straggler: Promise<void> | null = null;
  /** Nothing is opened any more. */
  #sealed = false;
  #paused = false;

  /** `predecessor`: settles when no process of an earlier object of the same session is left. */
  constructor(agent: Agent, host: AgentHost, port: SessionPort, predecessor?: Promise<void>) {
    this.#agent = agent;
    this.#host = host;
    this.#port = port;
    if (predecessor) void this.#whileClosing(predecessor.catch(() => {}));
  }

  /** The connection that can be used now, if there is one. */
  get current(): Connection | null {
    return this.#closing ? null : this.#connection;
  }

  /** The open connection, or the one that is being opened when it is open; null when there is none. */
  async settled(): Promise<Connection | null> {
    while (this.#closing) await this.#closing;
    return this.#connection ?? (await this.#opening?.catch(() => null)) ?? null;
  }

  /** True while a process may be running. */
  get alive(): boolean {
    return this.#connection !== null || this.#opening !== null || this.#closing !== null;
  }

  /** Opens it unless it is open. An exit during start-up is the start's failure, reported by the rejection. */
  async open(target: () => ConnectionTarget): Promise<Connection> {
    // A shared process may still be at what was given up: a second request for the same conversation must not meet it.
    while (this.#closing || (this.#straggler && !this.#sealed)) await (this.#closing ?? this.#straggler);
    if (this.#sealed) throw new AgentError("agent_gone", "The session is being closed: no agent is started for it any more.");
    if (this.#connection) return this.#connection;
    this.#opening ??= this.#connect(target()).finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async #connect({ config, resume }: ConnectionTarget): Promise<Connection> {
    const abandon = new AbortController();
    this.#abandon = abandon;
    const { signal } = abandon;
    try {
      // Asked again at every start: files on the machine, and whether the directory is trusted, may have changed since the session was made.
      const refusal = await this.#agent.refusal?.(config, this.#host);
      if (refusal) throw new AgentError("unsupported", refusal);
      signal.throwIfAborted();
      const launch = { config, resume, port: this.#port, host: this.#host, abandoned: signal };
      const connection = await this.#started(this.#agent.connect(launch), signal);
      if (signal.aborted) await this.#hangUp(connection);
      signal.throwIfAborted();
      this.#connection = connection;
      if (this.#paused) this.#setPaused(connection, true);
      return connection;
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    } finally {
      if (this.#abandon === abandon) this.#abandon = null;
    }
  }

  /** One that shares its process is not waited for when it is given up: what comes of it is closed. */
  #started(starting: Promise<Connection>, signal: AbortSignal): Promise<Connection> {
    if (!this.#agent.sharesProcess) return starting;
    return new Promise((resolve, reject) => {
      starting.then(resolve, reject);
      signal.addEventListener("abort", () => {
        const straggler: Promise<void> = starting
          .then((connection) => this.#hangUp(connection))
          .catch(() => {})
          .finally(() => {
            if (this.#straggler === straggler) this.#straggler = null;
          });
        this.#straggler = straggler;
        reject(signal.reason);
      });
    });
  }

  /** A start that hangs must not hold up whoever wants it no more: it fails with the reason. Nothing is being opened: nothing happens. */
  abandon(reason: Error): void {
    this.#abandon?.abort(reason);
  }

  /** For good: from now on nothing is opened, and no process of the session is left when it resolves. Never rejects. */
  async end(): Promise<void> {
    this.#sealed = true;
    while (this.alive) await this.close();
  }

  /** For a rest: no process is left when it resolves, and the next `open` starts one. Never rejects. */
  close(): Promise<void> {
    return this.#closing ?? this.#whileClosing(this.#closeAll());
  }

  #whileClosing(work: Promise<void>): Promise<void> {
    const closing: Promise<void> = work.finally(() => {
      if (this.#closing === closing) this.#closing = null;
    });
    this.#closing = closing;
    return closing;
  }

  async #closeAll(): Promise<void> {
    while (this.#connection || this.#opening) {
      this.abandon(new AgentError("agent_gone", "The session was closed while its agent was starting."));
      const connection = this.#connection ?? (await this.#opening?.catch(() => null));
      if (!connection) continue;
      await this.#hangUp(connection);
      if (this.#connection === connection) this.#connection = null;
    }
  }

  async #hangUp(connection: Connection): Promise<void> {
    try {
      await connection.close();
    } catch (error) {
      this.#host.log("warn", "the connection did not close cleanly", { error: String(error) });
    }
  }

  /** The agent's side is gone. False when that was our own doing, or nothing was open. */
  broke(): boolean {
    if (!this.#connection || this.#closing) return false;
    this.#connection = null;
    return true;
  }

  /** Stops reading the agent's output, or goes on with it. Holds for connections that are opened later, too. */
  setPaused(paused: boolean): void {
    this.#paused = paused;
    if (this.#connection) this.#setPaused(this.#connection, paused);
  }

  #setPaused(connection: Connection, paused: boolean): void {
    try {
      connection.setPaused?.(paused);
    } catch (error) {
      this.#host.log("warn", "the agent could not be paused or resumed", { paused, error: String(error) });
    }
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
