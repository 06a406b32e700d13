import { expect, it } from "vitest";
import { Talk } from "./test-talk.ts";
import { readUsage } from "./usage.ts";

it("an ACP agent's cached tokens are in the input, whether it counts them there or beside it", () => {
  const counts = { inputTokens: 100, outputTokens: 20, cachedReadTokens: 10, cachedWriteTokens: 5 };
  expect(readUsage({ ...counts, totalTokens: 120 })).toMatchObject({ input_tokens: 100, cache_read_tokens: 10 });
  expect(readUsage({ ...counts, totalTokens: 135 })).toMatchObject({ input_tokens: 115, cache_read_tokens: 10 });
  expect(readUsage(counts)).toMatchObject({ input_tokens: 100 });
});

it("an ACP agent's thinking is in the output, whether it counts it there or beside it", () => {
  const counts = { inputTokens: 90, outputTokens: 15, thoughtTokens: 5, cachedReadTokens: 10 };
  expect(readUsage({ ...counts, totalTokens: 120 })).toMatchObject({ input_tokens: 100, output_tokens: 20, reasoning_tokens: 5 });
  expect(readUsage({ ...counts, totalTokens: 115 })).toMatchObject({ input_tokens: 100, output_tokens: 15 });
  expect(readUsage({ ...counts, totalTokens: 110 })).toMatchObject({ input_tokens: 90, output_tokens: 20 });
  expect(readUsage({ ...counts, totalTokens: 105 })).toMatchObject({ input_tokens: 90, output_tokens: 15 });
  // The thinking alone is more than what was cached.
  const cached = { ...counts, thoughtTokens: 30, totalTokens: 135 };
  expect(readUsage(cached)).toMatchObject({ input_tokens: 90, output_tokens: 45 });
});

it("a report of the context says no tokens of the session: only turns do, of which some may be from another process", () => {
  const talk = Talk.with("claude-agent-acp");
  for (const used of [119, 138]) {
    talk.prompt("go");
    talk.update("usage_update", { used, size: 1000 });
    talk.answer({ stopReason: "end_turn", usage: { inputTokens: 100, outputTokens: 20, totalTokens: 120 } });
  }
  const reports = talk
    .of("event")
    .filter(({ type, data }) => type === "usage.updated" && "scope" in data && data.scope === "session");
  expect(reports.map(({ data }) => data)).toEqual(
    [119, 138].map((context_used) => ({
      scope: "session",
      input_tokens: 0,
      output_tokens: 0,
      context_used,
      context_window: 1000,
    })),
  );
});
