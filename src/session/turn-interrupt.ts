/**
 * Stops the running turn: asks the agent, and ends the turn by force when the agent does not confirm in time. Not here: the end of a session, which needs
 * no agreement of the agent (session.ts).
 */
import type { Actor } from "../schema/actor.ts";
import { type AgentConnection, agentCall } from "./agent-connection.ts";
import type { MessageDelivery } from "./message-delivery.ts";
import type { SessionContext } from "./session-context.ts";
import type { SessionRecord } from "./session-record.ts";
import { type TrustGate, Withdrawn } from "./trust-gate.ts";

export type InterruptOptions = {
  record: SessionRecord;
  gate: TrustGate;
  delivery: MessageDelivery;
  connection: AgentConnection;
  context: Pick<SessionContext, "log" | "times">;
  /** Puts the agent to rest. */
  rest(): Promise<void>;
};

export class TurnInterrupt {
  readonly #options: InterruptOptions;
  #forcing: NodeJS.Timeout | null = null;

  constructor(options: InterruptOptions) {
    this.#options = options;
  }

  /** Also a turn whose message is still on its way. Nothing runs: nothing happens. */
  async interrupt(actor: Actor): Promise<void> {
    const { record, gate, delivery, connection, context } = this.#options;
    gate.interrupt(actor);
    const underWay = record.projection.turn ? delivery.starting : delivery.running;
    if (underWay) {
      // A delivery waits for a log that cannot write: nothing runs, and nobody can say when something will.
      context.log.assertWritable();
      await this.#orAbandoned(underWay);
    }
    const { turn } = record.projection;
    const agent = connection.current;
    if (!turn || !agent) return;
    record.scribe.turns.interruptedBy(actor);
    this.#forcing ??= setTimeout(() => this.#force(turn.turn_id), context.times.interrupt_ms).unref();
    await agentCall(agent.interrupt());
  }

  /** [S5] An agent that does not even start in this time is given up: the message has its turn, interrupted. */
  async #orAbandoned(underWay: Promise<void>): Promise<void> {
    const { connection, context } = this.#options;
    const late = setTimeout(
      () => connection.abandon(new Withdrawn("The message was interrupted while its agent was starting.")),
      context.times.interrupt_ms,
    ).unref();
    await underWay.finally(() => clearTimeout(late));
  }

  /** [S5] The agent did not confirm: the turn is over all the same, and the process with it. */
  #force(turnId: string): void {
    const { record, rest } = this.#options;
    this.#forcing = null;
    record.guard(() => {
      if (record.projection.turn?.turn_id !== turnId) return;
      record.cut({ dormant: false });
      void rest();
    });
  }

  /** The turn is over, or nothing of it can be written any more. */
  over(): void {
    if (this.#forcing) clearTimeout(this.#forcing);
    this.#forcing = null;
  }
}
