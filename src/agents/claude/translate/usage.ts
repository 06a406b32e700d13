// Token counts of the Messages API and of the CLI's own totals, in the schema's words.
import type { Usage } from "../../../schema/event-data.ts";
import { isRecord, type JsonRecord, num, rec, records } from "../../json.ts";
import { tokenCount } from "../../kit/token-count.ts";

/** `usage` of an API message or of a result. The Messages API counts cached input beside the rest. */
export function apiUsage(value: unknown): Usage | null {
  if (!isRecord(value)) return null;
  return tokenCount(
    {
      input: num(value.input_tokens),
      output: num(value.output_tokens),
      reasoning: num(rec(value.output_tokens_details).thinking_tokens),
      cacheRead: num(value.cache_read_input_tokens),
      cacheWrite: num(value.cache_creation_input_tokens),
    },
    { cache: true },
  );
}

/** The end of a message may repeat the counts of its start, or say only what it adds: the output. */
export function usageSoFar(before: JsonRecord | null, more: unknown): JsonRecord | null {
  if (!isRecord(more)) return before;
  return { ...before, ...Object.fromEntries(Object.entries(more).filter(([, count]) => count !== null)) };
}

/** What the model had before its eyes, including its own answer. */
export const contextOf = (usage: Usage): number => usage.input_tokens + usage.output_tokens;

/** `modelUsage` of a result: cumulative for the session, one entry a model. */
export function modelUsage(value: unknown): Usage | null {
  if (!isRecord(value)) return null;
  const models = records(Object.values(value));
  if (models.length === 0) return null;
  const sum = (key: string): number => models.reduce((total, model) => total + (num(model[key]) ?? 0), 0);
  const window = Math.max(...models.map((model) => num(model.contextWindow) ?? 0));
  const counted = {
    input: sum("inputTokens"),
    output: sum("outputTokens"),
    reasoning: sum("thinkingTokens"),
    cacheRead: sum("cacheReadInputTokens"),
    cacheWrite: sum("cacheCreationInputTokens"),
  };
  return { ...tokenCount(counted, { cache: true }), ...(window > 0 ? { context_window: window } : {}) };
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
