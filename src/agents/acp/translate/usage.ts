// Token counts: ACP agents say them in five places, here they become one shape.
import type { Draft } from "../../../schema/draft.ts";
import type { Usage } from "../../../schema/event-data.ts";
import { isRecord, type JsonRecord, num, rec, str } from "../../json.ts";
import { type CountedApart, tokenCount } from "../../kit/token-count.ts";
import type { SessionState } from "./session-state.ts";

/** Reads {inputTokens,…} (prompt result, v2 idle, qwen's chunks) and gemini's {input_tokens,…}. */
export function readUsage(value: unknown): Usage | null {
  if (!isRecord(value)) return null;
  const input = num(value.inputTokens) ?? num(value.input_tokens);
  const output = num(value.outputTokens) ?? num(value.output_tokens);
  if (input === undefined && output === undefined) return null;
  const reasoning = num(value.thoughtTokens) ?? num(value.reasoningOutputTokens);
  const cacheRead = num(value.cachedReadTokens) ?? num(value.cachedInputTokens);
  const cacheWrite = num(value.cachedWriteTokens) ?? num(value.cacheWriteInputTokens);
  const counted = { input, output, reasoning, cacheRead, cacheWrite };
  const rest = (num(value.totalTokens) ?? 0) - (input ?? 0) - (output ?? 0);
  return tokenCount(counted, apart(rest, (cacheRead ?? 0) + (cacheWrite ?? 0), reasoning ?? 0));
}

/** Agents pass on what their provider counts; only the sum of all shows what stands beside the input and the output. `rest`: what both leave of it. */
function apart(rest: number, cached: number, thought: number): CountedApart {
  if (rest <= 0) return {};
  if (rest === thought && rest !== cached) return { reasoning: true };
  return { cache: cached > 0 && rest >= cached, reasoning: rest >= cached + thought };
}

/** Usage of a turn, from its answer: `usage`, else `_meta.quota.token_count`, else what the steps said. */
export function turnUsage(state: SessionState, result: JsonRecord): Usage | null {
  const steps = state.turnUsage;
  state.turnUsage = null;
  const said = readUsage(result.usage) ?? readUsage(rec(rec(result._meta).quota).token_count);
  return said ?? steps;
}

/** qwen: usage of one model call. */
export function stepUsage(state: SessionState, value: JsonRecord): Draft[] {
  const usage = readUsage(value);
  if (usage === null) return [];
  state.turnUsage = state.turnUsage === null ? usage : sum(state.turnUsage, usage);
  return [{ do: "event", type: "usage.updated", data: { scope: "step", ...usage } }];
}

/** usage_update: how full the context is, and what the session has cost so far. Not its tokens, which its turns say. */
export function contextUsage(state: SessionState, update: JsonRecord): Draft[] {
  const used = num(update.used);
  const size = num(update.size);
  const cost = rec(update.cost);
  const amount = inDollars(cost) ? num(cost.amount) : undefined;
  if (used === undefined && size === undefined && amount === undefined) return [];
  const usage: Usage = {
    ...state.context,
    ...(amount === undefined ? {} : { cost_usd: amount }),
    ...(used === undefined ? {} : { context_used: used }),
    ...(size === undefined ? {} : { context_window: size }),
  };
  state.context = usage;
  if (!state.isNews("usage", usage)) return [];
  return [{ do: "event", type: "usage.updated", data: { scope: "session", ...usage } }];
}

export const inDollars = ({ amount, currency }: JsonRecord): boolean =>
  num(amount) !== undefined && (str(currency) ?? "USD") === "USD";

function sum(a: Usage, b: Usage): Usage {
  const total: Usage = { input_tokens: a.input_tokens + b.input_tokens, output_tokens: a.output_tokens + b.output_tokens };
  for (const field of ["reasoning_tokens", "cache_read_tokens", "cache_write_tokens"] as const) {
    if (a[field] !== undefined || b[field] !== undefined) total[field] = (a[field] ?? 0) + (b[field] ?? 0);
  }
  return total;
}
