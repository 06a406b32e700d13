// Token counts of Amp's messages, which it passes on as the Messages API counts them.
import type { Usage } from "../../../schema/event-data.ts";
import { isRecord, num } from "../../json.ts";
import { tokenCount } from "../../kit/token-count.ts";

export function readUsage(native: unknown): Usage | null {
  if (!isRecord(native)) return null;
  const counted = {
    input: num(native.input_tokens),
    output: num(native.output_tokens),
    cacheRead: num(native.cache_read_input_tokens),
    cacheWrite: num(native.cache_creation_input_tokens),
  };
  const usage = tokenCount(counted, { cache: true });
  // Amp calls the size of the context window `max_tokens`.
  const window = num(native.max_tokens);
  return {
    ...usage,
    context_used: usage.input_tokens,
    ...(window === undefined ? {} : { context_window: window }),
  };
}

/** Tokens add up; the context is what the last request says it is. */
export const addUsage = (total: Usage, step: Usage): Usage => ({
  ...step,
  input_tokens: total.input_tokens + step.input_tokens,
  output_tokens: total.output_tokens + step.output_tokens,
  cache_read_tokens: (total.cache_read_tokens ?? 0) + (step.cache_read_tokens ?? 0),
  cache_write_tokens: (total.cache_write_tokens ?? 0) + (step.cache_write_tokens ?? 0),
});
