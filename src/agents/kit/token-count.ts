/**
 * Token counts in the schema's words: the input includes what came from the cache or went into it, the output includes the thinking. Providers and agents differ in
 * what they count apart. Pure. Not here: which native field holds what, which each agent reads itself.
 */
import type { Usage } from "../../schema/event-data.ts";

export type CountedTokens = {
  readonly input: number | undefined;
  readonly output: number | undefined;
  readonly reasoning?: number | undefined;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
};

/** What stands beside the input or the output natively, and not in it. */
export type CountedApart = { readonly cache?: boolean; readonly reasoning?: boolean };

export function tokenCount(counted: CountedTokens, apart: CountedApart): Usage {
  const { input = 0, output = 0, reasoning, cacheRead, cacheWrite } = counted;
  return {
    input_tokens: input + (apart.cache ? (cacheRead ?? 0) + (cacheWrite ?? 0) : 0),
    output_tokens: output + (apart.reasoning ? (reasoning ?? 0) : 0),
    ...(reasoning === undefined ? {} : { reasoning_tokens: reasoning }),
    ...(cacheRead === undefined ? {} : { cache_read_tokens: cacheRead }),
    ...(cacheWrite === undefined ? {} : { cache_write_tokens: cacheWrite }),
  };
}
