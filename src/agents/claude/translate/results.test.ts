import { describe, expect, it } from "vitest";
import { answers, assistant, call, init, of, out, play, result, SESSION, system, text, toolResult, user } from "./test-frames.ts";

const failure = (error: string, words: string, more: Record<string, unknown> = {}) =>
  assistant("e", text(words), {
    message: { id: "e", model: "<synthetic>", role: "assistant", content: [text(words)] },
    error,
    is_api_error_message: true,
    ...more,
  });
const failed = (words: string, more: Record<string, unknown> = {}) =>
  result({ is_error: true, result: words, terminal_reason: "api_error", stop_reason: "stop_sequence", ...more });

describe("ends of turns", () => {
  it.each([
    ["authentication_failed", { api_error_status: 401 }, "provider_auth"],
    ["rate_limit", { api_error_status: 429 }, "rate_limit"],
    ["server_error", { api_error_status: 500 }, "api_error"],
    ["model_not_found", { api_error_status: 404 }, "api_error"],
    ["billing_error", { api_error_status: 400 }, "api_error"],
    ["cloud_credential_error", {}, "provider_auth"],
    ["max_output_tokens", { api_error_params: { cut: "context_window" } }, "context_overflow"],
    ["invalid_request", { api_error_status: 413 }, "context_overflow"],
    ["unknown", { api_error_status: 400 }, "api_error"],
  ])("an API error %s arrives as a success with is_error and is told once", (native, more, code) => {
    const played = play(user("x"), init(), failure(native, "It failed.", more), failed("It failed."));
    expect(played.rules).toEqual([]);
    expect(of(played, "error")).toMatchObject([
      { code, message: "It failed.", details: { native_code: native, error_source: "provider" } },
    ]);
    expect(of(played, "turn.ended")).toMatchObject([{ stop_reason: "error", error_code: code }]);
    expect(answers(played)).toEqual([]);
  });

  it("a failure inside a sub-agent is not the turn's", () => {
    const played = play(
      user("x"),
      init(),
      assistant("m", call("t", "Agent", { description: "d" })),
      failure("server_error", "It failed there.", { parent_tool_use_id: "t" }),
      toolResult("t", "failed", {}, true),
      result({ subtype: "error_during_execution", is_error: true, terminal_reason: "model_error", errors: ["Another reason"] }),
    );
    expect(played.rules).toEqual([]);
    expect(of(played, "error")).toMatchObject([{ message: "Another reason" }]);
    expect(played.items.filter((item) => item.kind === "system")).toHaveLength(1);
  });

  it("a prompt that is too long is an overflow of the context", () => {
    const played = play(
      user("x"),
      init(),
      failure("invalid_request", "Prompt is too long · ~1250000 tokens"),
      failed("Prompt is too long", { terminal_reason: "prompt_too_long" }),
    );
    expect(of(played, "error")).toMatchObject([{ code: "context_overflow" }]);
  });

  it("an output limit that never fits ends with output_length", () => {
    const played = play(user("x"), init(), failure("max_output_tokens", "Too long."), failed("Too long."));
    expect(of(played, "turn.ended")).toMatchObject([{ stop_reason: "output_length" }]);
  });

  it.each([
    ["error_max_turns", "max_turns", "max_turns"],
    ["error_max_budget_usd", "max_budget", "max_budget"],
    ["error_max_structured_output_retries", "error", "execution_error"],
    ["error_of_tomorrow", "error", "execution_error"],
  ])("%s", (subtype, stop_reason, code) => {
    const played = play(
      user("x"),
      init(),
      result({ subtype, is_error: true, terminal_reason: "t", errors: ["Reached it"], result: undefined }),
    );
    expect(of(played, "turn.ended")).toMatchObject([{ stop_reason }]);
    expect(of(played, "error")).toMatchObject([{ code, message: "Reached it" }]);
  });

  it("an interrupt is no error, and its diagnostics are no message", () => {
    const played = play(
      user("x"),
      init(),
      result({
        subtype: "error_during_execution",
        is_error: true,
        terminal_reason: "aborted_tools",
        errors: ["[ede_diagnostic] noise"],
      }),
    );
    expect(of(played, "turn.ended")).toMatchObject([{ stop_reason: "interrupted" }]);
    expect(of(played, "error")).toEqual([]);
  });

  it("retries are a status, not errors", () => {
    const played = play(
      user("x"),
      init(),
      system("api_retry", { attempt: 1, max_retries: 2, retry_delay_ms: 500, error_status: 529, error: "overloaded" }),
      assistant("m", text("ok")),
      result(),
    );
    expect(of(played, "error")).toEqual([]);
    expect(of(played, "session.status").map((one) => one.status)).toEqual(["running", "retrying", "running", "idle"]);
  });

  it("a refusal of every model is a refusal, in the CLI's words, without an error", () => {
    const words = "API Error: flagged this message";
    const played = play(
      user("x"),
      init(),
      system("model_refusal_no_fallback", { original_model: "m", content: "" }),
      assistant("r", text(words), {
        message: { id: "r", model: "<synthetic>", role: "assistant", stop_reason: "refusal", content: [text(words)] },
        error: "invalid_request",
      }),
      failed(words, { stop_reason: "refusal" }),
    );
    expect(of(played, "turn.ended")).toMatchObject([{ stop_reason: "refusal" }]);
    expect(of(played, "error")).toEqual([]);
    expect(answers(played)[0]?.content).toEqual([{ type: "refusal", text: words }]);
  });

  it("structured output is a JSON part", () => {
    const played = play(
      user("x"),
      init(),
      assistant("m", call("t", "StructuredOutput", { n: 1 })),
      toolResult("t", "ok"),
      result({ structured_output: { n: 1 }, result: '{"n":1}' }),
    );
    expect(answers(played).at(-1)?.content).toEqual([{ type: "json", json: { n: 1 } }]);
  });

  it("usage is the turn's, totals are the session's", () => {
    const models = (output: number) => ({ m: { inputTokens: 5, outputTokens: output, costUSD: 1, contextWindow: 1000 } });
    const played = play(
      user("a"),
      init(),
      result({ total_cost_usd: 1, modelUsage: models(2), usage: { input_tokens: 5, output_tokens: 2 } }),
      user("b"),
      init(),
      result({ total_cost_usd: 1.5, modelUsage: models(4) }),
    );
    expect(of(played, "turn.ended").map((turn) => turn.usage?.cost_usd)).toEqual([1, 0.5]);
    expect(of(played, "usage.updated").at(-1)).toMatchObject({
      scope: "session",
      output_tokens: 4,
      cost_usd: 1.5,
      context_window: 1000,
    });
  });

  it("a start that failed before any turn is noted: the connection tells why", () => {
    const played = play(
      result({
        subtype: "error_during_execution",
        is_error: true,
        startup_failure_reason: "config_file_invalid",
        errors: ["broken"],
      }),
    );
    expect(of(played, "turn.started")).toEqual([]);
    expect(of(played, "agent.notice")).toMatchObject([{ name: "startup_failure" }]);
  });

  it.each([
    ["turn_setup_failed", "error", "execution_error"],
    ["malformed_tool_use_exhausted", "error", "execution_error"],
    ["max_turns", "max_turns", "max_turns"],
    ["budget_exhausted", "max_budget", "max_budget"],
  ])("a failure whose only reason is %s ends the turn with %s", (terminal_reason, stop_reason, code) => {
    const played = play(user("x"), init(), failed("It ended.", { terminal_reason }));
    expect(played.rules).toEqual([]);
    expect(of(played, "error")).toMatchObject([{ code }]);
    expect(of(played, "turn.ended")).toMatchObject([{ stop_reason }]);
  });

  it("rate limits and sign-in become their own events", () => {
    const played = play(
      user("x"),
      out({
        type: "rate_limit_event",
        rate_limit_info: { status: "rejected", resetsAt: 1900000000, rateLimitType: "five_hour", utilization: 0.934 },
        session_id: SESSION,
      }),
      out({ type: "auth_status", isAuthenticating: true, output: ["open the page"], session_id: SESSION }),
    );
    expect(of(played, "limits.updated")).toEqual([
      { windows: [{ name: "five_hour", used_percent: 93.4, resets_at: "2030-03-17T17:46:40.000Z", status: "rejected" }] },
    ]);
    expect(of(played, "auth.status")).toEqual([{ status: "in_progress", message: "open the page" }]);
  });
});
