/**
 * What the daemon decides by itself about a session's story: no native message says it. Each decision stands in the ledger between the native messages, so
 * that the ledger alone gives the same story again. Live and in a replay the same function carries it out.
 */
import type { ExitInfo } from "../agents/contract.ts";
import type { Draft } from "../schema/draft.ts";
import type { SessionEnded } from "../schema/event-data.ts";
import { lostAgent } from "./outcomes.ts";
import type { Scribe } from "./scribe.ts";
import type { PromisedTurn } from "./turn-writer.ts";

export type Decision =
  /** A new process of the agent: what it says next is understood from the beginning. `fresh_keys`: its keys are its own. */
  | { do: "process"; fresh_keys: boolean }
  /** A message goes to the agent: the next turn of a client is its turn. */
  | { do: "promise"; message: PromisedTurn }
  /** What the connection or a command reported in place of the agent. */
  | { do: "say"; drafts: Draft[] }
  /** What was open is cut short. */
  | { do: "cut"; dormant: boolean }
  /** The agent was lost in the middle of it. */
  | { do: "lost"; exit: ExitInfo | null; message?: string }
  | { do: "end"; data: SessionEnded };

/** Native types of decisions begin with it: they are no messages of the agent. */
export const DECIDED = "daemon:";

/** As it stands in the ledger. What only this process can hold, `native` of a draft, is left out. */
export const decisionJson = (decision: Decision): string =>
  JSON.stringify(decision.do === "say" ? { ...decision, drafts: decision.drafts.map(lasting) } : decision);

const lasting = (draft: Draft): object => ("native" in draft ? { ...draft, native: undefined } : draft);

export function carryOut(scribe: Scribe, decision: Decision): void {
  switch (decision.do) {
    case "process":
      if (decision.fresh_keys) scribe.items.newScope();
      return;
    case "promise":
      return scribe.turns.promise(decision.message);
    case "say":
      return scribe.say(decision.drafts);
    case "cut":
      scribe.cut("interrupted");
      if (decision.dormant) scribe.dormant();
      return;
    case "lost":
      scribe.afterExit(() => {
        scribe.turns.exit = decision.exit;
        if (scribe.turn) scribe.say([lostAgent(decision.message)]);
        scribe.turns.exit = null;
        scribe.cut("error", "execution_error");
        scribe.dormant();
      });
      return;
    case "end":
      return scribe.end(decision.data);
    default:
      return decision satisfies never;
  }
}
