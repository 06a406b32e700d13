/** Changes of a session's configuration: model, modes, title, trust. One after the other, each as a whole or not at all [M3]. */
import type { Agent, AgentHost, ConfigPatch } from "../agents/contract.ts";
import type { Log } from "../log/contract.ts";
import type { Actor } from "../schema/actor.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import type { UpdateSession } from "../schema/session.ts";
import { type AgentConnection, agentCall } from "./agent-connection.ts";
import type { AgentStart } from "./agent-start.ts";
import type { SessionRecord } from "./session-record.ts";
import { configOf, type SessionRow } from "./session-row.ts";
import { mustSupport } from "./supported.ts";
import type { TrustGate } from "./trust-gate.ts";

export type SettingsOptions = {
  record: SessionRecord;
  log: Log;
  agent: Agent;
  host: AgentHost;
  connection: AgentConnection;
  gate: TrustGate;
  start: Pick<AgentStart, "trusted">;
  /** A turn runs, or a message is on its way. */
  busy(): boolean;
  /** A request was answered with `always` since the agent started. */
  allowedForGood(): boolean;
  mustLive(): void;
  /** Puts the agent to rest: the next message starts it with the new configuration. */
  rest(): Promise<void>;
};

export class SessionSettings {
  readonly #options: SettingsOptions;
  /** Changes that are not done yet: no agent is started beside them. */
  #changing: Promise<void> = Promise.resolve();

  constructor(options: SettingsOptions) {
    this.#options = options;
  }

  /** Settles when no change is under way. */
  get settled(): Promise<void> {
    return this.#changing;
  }

  /** One change after the other, so that what is stored and what the agent has are the same. */
  configure(patch: UpdateSession, actor: Actor): Promise<void> {
    const done = this.#changing.then(() => this.#configure(patch, actor));
    this.#changing = done.catch(() => {});
    return done;
  }

  async #configure(patch: UpdateSession, actor: Actor): Promise<void> {
    const { record, log, mustLive } = this.#options;
    const { tags, archived, pinned, ...change } = patch;
    const marks = {
      ...(tags === undefined ? {} : { tags }),
      ...(archived === undefined ? {} : { archived }),
      ...(pinned === undefined ? {} : { pinned }),
    };
    // How a session is filed can be changed after its end, too.
    if (Object.keys(change).length > 0) mustLive();
    log.assertWritable();
    const { title, trust, ...config } = change;
    if (trust !== undefined) await this.#setTrust(trust, actor);
    if (Object.keys(config).length > 0) await this.#configureAgent(config, actor);
    if (title !== undefined) {
      record.emit([{ do: "event", type: "session.updated", data: { title, actor } }]);
      record.write(() => record.save({ named: true }));
    }
    if (Object.keys(marks).length > 0) this.#file(marks, actor);
    await record.committed();
  }

  #file(marks: Pick<UpdateSession, "tags" | "archived" | "pinned">, actor: Actor): void {
    const { record } = this.#options;
    record.write(() => record.save(marks));
    // Nothing follows the end of a session.
    if (!record.projection.ended) record.emit([{ do: "event", type: "session.updated", data: { ...marks, actor } }]);
  }

  /** All of it or nothing. Live where the agent can; else between turns, with a new start for the next one. Stored when the agent has agreed. */
  async #configureAgent(config: ConfigPatch, actor: Actor): Promise<void> {
    const { record, agent, host, gate, busy, allowedForGood, mustLive, rest } = this.#options;
    await mustSupport(agent, host, config, { ...configOf(record.row, gate.trusted), ...config });
    const names = Object.keys(config) as (keyof ConfigPatch)[];
    // Null takes a choice back: what the agent does without one is known only to a new process. And what a person allowed for good in this process
    // would count in plan, too.
    const forgets = config.permission_mode === "plan" && allowedForGood();
    const live = !forgets && names.every((name) => agent.capabilities.live[name] && config[name] !== null);
    const connection = await this.#options.connection.settled();
    const restart = connection !== null && (!live || (await agentCall(connection.configure(config))) === "restart");
    if (restart && busy())
      throw new ProblemError(
        "session_busy",
        "This agent takes that change only between turns. Wait for turn.ended or interrupt, then try again.",
      );
    mustLive();
    record.emit([{ do: "event", type: "config.changed", data: { ...config, actor } }]);
    if (restart) await rest();
  }

  /** What an agent has loaded cannot be taken back: it is started anew. */
  async #setTrust(trust: SessionRow["trust"], actor: Actor): Promise<void> {
    const { record, gate, start, busy, rest } = this.#options;
    if (busy())
      throw new ProblemError(
        "session_busy",
        "Trust can be changed only between turns. Wait for turn.ended or interrupt, then try again.",
      );
    record.write(() => record.save({ trust, trust_declined: false }));
    record.emit([{ do: "event", type: "session.updated", data: { metadata: { trust }, actor } }]);
    if (start.trusted() !== gate.trusted) await rest();
  }
}
