// Faults Codex reports in words of its own: error codes of the Responses protocol and of its provider.
import type { Scenario } from "../../scenario.ts";
import { free, play, say, shell, step } from "./scenario-steps.ts";

type Expected = NonNullable<NonNullable<Scenario["expect"]>["error_code"]>;

const failed = (code: string, expected: Expected): Scenario =>
  play(
    `failed-${code.replaceAll("_", "-")}`,
    `response.failed with ${code}`,
    [{ blocks: [], fault: { kind: "failed", code, message: `scripted ${code}` } }],
    {
      expect: { stop_reason: "error", error_code: expected, events: ["error", "turn.ended"] },
    },
  );

export const faultScenarios: readonly Scenario[] = [
  failed("context_length_exceeded", "context_overflow"),
  failed("insufficient_quota", "api_error"),
  failed("server_is_overloaded", "api_error"),
  failed("cyber_policy", "api_error"),
  failed("invalid_prompt", "api_error"),
  play(
    "usage-limit",
    "a used-up plan is reported at once, without retries",
    [
      {
        blocks: [],
        fault: {
          kind: "http",
          status: 429,
          body: { error: { type: "usage_limit_reached", message: "The usage limit has been reached", plan_type: "pro" } },
        },
      },
    ],
    { expect: { stop_reason: "error", error_code: "rate_limit" } },
  ),
  play(
    "rate-limit-retry",
    "a rate limit that says when to come back",
    [
      {
        ...say("Back in time."),
        fault: {
          kind: "failed",
          code: "rate_limit_exceeded",
          message: "Rate limit reached. Please try again in 0.2s.",
          times: 1,
        },
      },
    ],
    { expect: { stop_reason: "end_turn", events: ["session.status"], no_events: ["error"], final_text: ["Back in time."] } },
  ),
  play("missing-key", "the provider's key is not set", [say("Never said.")], {
    session: { ...free, native: { provider: 'env_key = "NO_SUCH_KEY_FOR_VERIFY"' } },
    expect: { stop_reason: "error", error_code: "provider_auth" },
  }),
  play(
    "cut-after-tool",
    "the stream is lost after a tool call: the tool runs once",
    [
      {
        ...step(shell("echo once >> count.txt"), { type: "text", text: "Half a sentence that is lost" }),
        fault: { kind: "cut", after_chunks: 2, times: 1 },
      },
      say("Counted."),
    ],
    { expect: { stop_reason: "end_turn", final_text: ["Counted."] } },
  ),
  {
    name: "codex-overflow-then-compact",
    title: "after an overflow the next turn compacts first",
    session: free,
    turns: [
      {
        prompt: "Too much.",
        steps: [{ blocks: [], fault: { kind: "failed", code: "context_length_exceeded", message: "too long" } }],
      },
      { prompt: "Again.", steps: [say("Fits now.")] },
    ],
    expect: { stop_reason: "end_turn", events: ["error", "session.compacted"], final_text: ["Fits now."] },
  },
];
