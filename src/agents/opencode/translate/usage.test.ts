import { expect, it } from "vitest";
import { readUsage } from "./turns.ts";

it("OpenCode counts each token in one place; the schema has the cache in the input and the thinking in the output", () => {
  const tokens = { total: 157, input: 76, output: 12, reasoning: 5, cache: { read: 64, write: 0 } };
  expect(readUsage(tokens, 0)).toMatchObject({
    input_tokens: 140,
    output_tokens: 17,
    reasoning_tokens: 5,
    cache_read_tokens: 64,
    context_used: 157,
  });
});
