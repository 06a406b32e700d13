// Scenarios in which the provider fails: errors, broken streams, limits. A turn after each shows that the session lives on.

import type { Expectation, Fault, ModelStep, Scenario } from "../../../agents/scenario.ts";
import type { ErrorCode } from "../../../schema/event-data.ts";

const say = (text: string): ModelStep => ({ blocks: [{ type: "text", text }] });
const failing = (fault: Fault, text = "This text may come in part."): ModelStep => ({
  blocks: [{ type: "text", text, chunks: 6 }],
  fault,
});

function fault(name: string, title: string, steps: ModelStep[], expect: Expectation, rest: Partial<Scenario> = {}): Scenario {
  return { name, title, tags: ["fault"], turns: [{ prompt: "Please answer.", steps }], expect, ...rest };
}

const http = (status: number, more: Partial<Extract<Fault, { kind: "http" }>> = {}): Fault => ({ kind: "http", status, ...more });
const soon = { "retry-after": "1", "retry-after-ms": "50" };
const failed = (...codes: ErrorCode[]): Expectation => ({ stop_reason: "error", error_code: codes });

export const faultScenarios: readonly Scenario[] = [
  fault("http-400", "the request is refused", [failing(http(400))], failed("api_error", "execution_error", "unknown")),
  fault("http-401", "the key is refused", [failing(http(401))], failed("provider_auth")),
  fault("http-402", "no money left", [failing(http(402))], failed("provider_auth", "api_error", "rate_limit")),
  fault("http-403", "the key has no right to it", [failing(http(403))], failed("provider_auth", "api_error")),
  fault("http-404", "no such model", [failing(http(404))], failed("api_error")),
  fault("http-413", "the request is too large", [failing(http(413))], { stop_reason: ["error", "end_turn"] }),
  fault(
    "http-429-then-ok",
    "asked to slow down once, then it works",
    [failing(http(429, { times: 1, headers: soon }), "Back again.")],
    {
      stop_reason: "end_turn",
      final_text: ["Back again."],
    },
  ),
  fault("http-429", "asked to slow down for ever", [failing(http(429, { headers: soon }))], failed("rate_limit", "api_error")),
  fault("http-500", "the provider is broken", [failing(http(500))], failed("api_error")),
  fault("http-500-then-ok", "the provider is broken once", [failing(http(500, { times: 1 }), "Mended.")], {
    stop_reason: "end_turn",
    final_text: ["Mended."],
  }),
  fault("http-503", "the provider is not there", [failing(http(503))], failed("api_error")),
  fault("http-529", "the provider is overloaded", [failing(http(529))], failed("api_error", "rate_limit")),
  {
    name: "error-then-ok",
    title: "a turn fails, the next one works",
    tags: ["fault"],
    turns: [
      { prompt: "This fails.", steps: [failing(http(400))] },
      { prompt: "This works.", steps: [say("The session lives on.")] },
    ],
    expect: { stop_reason: "end_turn", final_text: ["The session lives on."] },
  },
  {
    name: "error-after-tool",
    title: "the provider fails after a tool has run",
    tags: ["fault"],
    session: { permission_mode: "bypass" },
    turns: [
      {
        prompt: "Run a command and fail.",
        steps: [
          { blocks: [{ type: "tool", name: "shell", input: { command: "echo ran-before-the-fault" } }] },
          failing(http(400)),
        ],
      },
    ],
    expect: { stop_reason: "error", tools: ["shell"], seen_text: ["ran-before-the-fault"] },
  },
  fault("context-overflow", "the conversation is too long", [failing({ kind: "context_overflow" })], {
    stop_reason: ["error", "end_turn"],
  }),
  fault(
    "max-tokens",
    "the answer is cut at the token limit",
    [
      { blocks: [{ type: "text", text: "This answer stops in the mid" }], stop: "max_tokens" },
      say("dle of a word, and is taken up again."),
    ],
    { stop_reason: ["output_length", "end_turn", "error"] },
  ),
  fault("refusal", "the model refuses", [{ blocks: [{ type: "refusal", text: "I will not do that." }] }], {
    stop_reason: ["refusal", "end_turn", "error", "output_length"],
  }),
  fault(
    "content-filter",
    "the provider's filter stops the answer",
    [{ blocks: [{ type: "text", text: "Well, " }], stop: "content_filter" }],
    {
      stop_reason: ["refusal", "end_turn", "error", "output_length"],
    },
  ),
  fault("empty-answer", "the model says nothing at all", [{ blocks: [] }, say("Now I say something.")], {
    stop_reason: ["end_turn", "error"],
  }),
  fault("empty-text", "the model says an empty text", [{ blocks: [{ type: "text", text: "" }] }, say("Now I say something.")], {
    stop_reason: ["end_turn", "error"],
  }),
  fault(
    "pause-turn",
    "the provider pauses a long answer",
    [{ blocks: [{ type: "text", text: "One moment. " }], stop: "pause" }, say("Here it is.")],
    {
      stop_reason: ["end_turn"],
    },
  ),
  fault(
    "stream-cut-then-ok",
    "the socket dies once in mid-answer",
    [failing({ kind: "cut", after_chunks: 3, times: 1 }, "Whole after all.")],
    {
      stop_reason: ["end_turn", "error"],
    },
  ),
  fault("stream-cut", "the socket dies in every answer", [failing({ kind: "cut", after_chunks: 3 })], {
    stop_reason: ["error", "end_turn"],
  }),
  fault(
    "stream-eof",
    "the stream ends too early, in good order",
    [failing({ kind: "eof", after_chunks: 3, times: 2 }, "Complete this time.")],
    {
      stop_reason: ["error", "end_turn"],
    },
  ),
  fault(
    "stream-cut-in-arguments",
    "the socket dies once in the middle of a tool's arguments",
    [
      {
        blocks: [{ type: "tool", name: "shell", input: { command: "echo arguments-were-cut" }, chunks: 6 }],
        fault: { kind: "cut", after_chunks: 4, times: 1 },
      },
      say("It ran in the end."),
    ],
    { stop_reason: ["end_turn", "error"] },
    { session: { permission_mode: "bypass" } },
  ),
  fault(
    "sse-error",
    "an error inside the stream, once",
    [failing({ kind: "sse_error", after_chunks: 2, times: 1 }, "Past the error.")],
    {
      stop_reason: ["error", "end_turn"],
    },
  ),
  fault("failed", "the provider reports failure after it has begun", [failing({ kind: "failed", code: "server_error" })], {
    stop_reason: ["error", "end_turn"],
  }),
  fault(
    "garbage",
    "bytes in the stream that are not the protocol, once",
    [failing({ kind: "garbage", after_chunks: 2, times: 1 }, "Clean again.")],
    {
      stop_reason: ["error", "end_turn"],
    },
  ),
  fault(
    "connection-reset",
    "the connection is reset once before any answer",
    [failing({ kind: "refuse_connection", times: 1 }, "Connected.")],
    {
      stop_reason: "end_turn",
      final_text: ["Connected."],
    },
  ),
];
