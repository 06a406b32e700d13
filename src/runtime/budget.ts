/** Where a turn ends by itself: steps, tokens, cost and time. */
import type { TokenCount, TurnEndReason } from "./records.ts";
import type { Limits, Prices } from "./settings.ts";
import type { TurnState } from "./state.ts";

/** Dollars, by prices for a million tokens. Cached tokens are part of the input. */
export const costOf = (tokens: TokenCount, prices: Prices): number =>
  ((tokens.input - tokens.cached) * prices.input + tokens.cached * prices.cached + tokens.output * prices.output) / 1_000_000;

/** A limit that is reached. */
export interface ReachedLimit {
  readonly reason: Extract<TurnEndReason, "max_turns" | "max_budget">;
  readonly message: string;
}

/** Asked before each request; null while there is room. */
export function reachedLimit(turn: TurnState, limits: Limits, prices: Prices | null, now: number): ReachedLimit | null {
  if (turn.steps >= limits.steps) {
    return { reason: "max_turns", message: `The turn has used its ${limits.steps} steps. Send a message to go on.` };
  }
  const tokens = turn.tokens.input + turn.tokens.output;
  if (limits.tokens !== null && tokens >= limits.tokens) {
    return { reason: "max_budget", message: `The turn has used ${tokens} tokens of ${limits.tokens}.` };
  }
  if (limits.cost_usd !== null && prices !== null && costOf(turn.tokens, prices) >= limits.cost_usd) {
    return {
      reason: "max_budget",
      message: `The turn has cost $${costOf(turn.tokens, prices).toFixed(4)} of $${limits.cost_usd}.`,
    };
  }
  if (limits.time_ms !== null && now - turn.startedAt >= limits.time_ms) {
    return { reason: "max_budget", message: `The turn has taken ${now - turn.startedAt} ms of ${limits.time_ms}.` };
  }
  return null;
}
