import { expect, it } from "vitest";
import { readUsage } from "./usage.ts";

it("an ACP agent's cached tokens are in the input, whether it counts them there or beside it", () => {
  const counts = { inputTokens: 100, outputTokens: 20, cachedReadTokens: 10, cachedWriteTokens: 5 };
  expect(readUsage({ ...counts, totalTokens: 120 })).toMatchObject({ input_tokens: 100, cache_read_tokens: 10 });
  expect(readUsage({ ...counts, totalTokens: 135 })).toMatchObject({ input_tokens: 115, cache_read_tokens: 10 });
  expect(readUsage(counts)).toMatchObject({ input_tokens: 100 });
});
