import { describe, expect, it } from "vitest";
import { assistant, blockStart, init, of, play, result, started, stopped, stream, text, textDelta, user } from "./test-frames.ts";

const counts = { input_tokens: 200, cache_read_input_tokens: 1000, cache_creation_input_tokens: 50, output_tokens: 34 };
const whole = { input_tokens: 1250, cache_read_tokens: 1000, cache_write_tokens: 50, output_tokens: 34 };

const streamed = (start: object, end: object) => [
  user("x"),
  init(),
  stream({ type: "message_start", message: { id: "m", model: "m", content: [], usage: start } }),
  blockStart(0, { type: "text", text: "" }),
  textDelta(0, "a"),
  assistant("m", text("a")),
  stream({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: end }),
  stopped(),
];

describe("token counts of Claude Code", () => {
  it("have cached tokens in the input, as with every agent: of a step, of a turn and of the session", () => {
    const model = { inputTokens: 200, outputTokens: 34, cacheReadInputTokens: 1000, cacheCreationInputTokens: 50 };
    const played = play(...streamed(counts, counts), result({ usage: counts, modelUsage: { m: model } }));
    expect(of(played, "step.ended")[0]?.usage).toEqual(whole);
    expect(of(played, "turn.ended")[0]?.usage).toMatchObject(whole);
    expect(of(played, "usage.updated")[0]).toMatchObject({ scope: "session", ...whole, context_used: 1284 });
  });

  it("keep what the start of an answer counted when its end counts the output alone", () => {
    const start = { ...counts, output_tokens: 1 };
    const end = { output_tokens: 34, cache_read_input_tokens: null };
    expect(of(play(...streamed(start, end), result()), "step.ended")[0]?.usage).toEqual(whole);
  });

  it("are those of the answer itself when it came whole after a stream was cut", () => {
    const message = { id: "m2", model: "m", role: "assistant", content: [text("b")], stop_reason: "end_turn", usage: counts };
    const played = play(user("x"), init(), started("m"), stopped(), assistant("m2", text("b"), { message }), result());
    expect(of(played, "step.ended").at(-1)).toMatchObject({ finish_reason: "end_turn", usage: whole });
  });

  it("have no cost when the first total of a resumed process holds the cost of earlier turns", () => {
    const turn = { input_tokens: 20, output_tokens: 5 };
    const total = (times: number) => ({
      usage: turn,
      modelUsage: { m: { inputTokens: 20 * times, outputTokens: 5 * times } },
      total_cost_usd: 0.25 * times,
    });
    const costs = (first: number) =>
      of(play(user("x"), init(), result(total(first)), user("y"), init(), result(total(first + 1))), "turn.ended").map(
        ({ usage }) => usage?.cost_usd,
      );
    expect(costs(1)).toEqual([0.25, 0.25]);
    expect(costs(8)).toEqual([undefined, 0.25]);
  });
});
