// Token counts of the Messages API and of the CLI's own totals, in the schema's words.
import type { Usage } from "../../../schema/event-data.ts";
import { isRecord, num, rec, records } from "../../json.ts";

/** `usage` of an API message or of a result. */
export function apiUsage(value: unknown): Usage | null {
  if (!isRecord(value)) return null;
  const reasoning = num(rec(value.output_tokens_details).thinking_tokens);
  const read = num(value.cache_read_input_tokens);
  const write = num(value.cache_creation_input_tokens);
  return {
    input_tokens: num(value.input_tokens) ?? 0,
    output_tokens: num(value.output_tokens) ?? 0,
    ...(reasoning === undefined ? {} : { reasoning_tokens: reasoning }),
    ...(read === undefined ? {} : { cache_read_tokens: read }),
    ...(write === undefined ? {} : { cache_write_tokens: write }),
  };
}

/** What the model had before its eyes, including its own answer. */
export const contextOf = (usage: Usage): number =>
  usage.input_tokens + (usage.cache_read_tokens ?? 0) + (usage.cache_write_tokens ?? 0) + usage.output_tokens;

/** `modelUsage` of a result: cumulative for the session, one entry a model. */
export function modelUsage(value: unknown): Usage | null {
  if (!isRecord(value)) return null;
  const models = records(Object.values(value));
  if (models.length === 0) return null;
  const sum = (key: string): number => models.reduce((total, model) => total + (num(model[key]) ?? 0), 0);
  const window = Math.max(...models.map((model) => num(model.contextWindow) ?? 0));
  return {
    input_tokens: sum("inputTokens"),
    output_tokens: sum("outputTokens"),
    reasoning_tokens: sum("thinkingTokens"),
    cache_read_tokens: sum("cacheReadInputTokens"),
    cache_write_tokens: sum("cacheCreationInputTokens"),
    ...(window > 0 ? { context_window: window } : {}),
  };
}

/** Of a turn that took several native ones. */
export function usageSum(before: Usage | null, more: Usage | null): Usage | null {
  if (!before || !more) return before ?? more;
  const sum: Usage = { ...before };
  for (const key of ADDED) if (more[key] !== undefined) sum[key] = (before[key] ?? 0) + more[key];
  return sum;
}

const ADDED = [
  "input_tokens",
  "output_tokens",
  "reasoning_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "cost_usd",
] as const satisfies readonly (keyof Usage)[];
