// Whatever the server sends, the translator neither throws nor stays silent, and what it says obeys the grammar.
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seedOf } from "../../../test-seed.ts";
import { replayTrace, type TraceRow } from "../../../verify/replay.ts";
import { OpencodeTranslator } from "./translator.ts";

const SEED = seedOf(20_261_115);
const { events, parts, tool_states } = JSON.parse(readFileSync(new URL("./generated/events.json", import.meta.url), "utf8")) as {
  events: string[];
  parts: string[];
  tool_states: string[];
};

const session = fc.constantFrom("ses_1", "ses_2");
const message = fc.constantFrom("msg_1", "msg_2", "msg_3");
const partId = fc.constantFrom("prt_1", "prt_2", "prt_3");
const short = fc.constantFrom("", "a", "ab", "abc");
const part = fc.record({
  id: partId,
  messageID: message,
  sessionID: session,
  type: fc.constantFrom(...parts, "song"),
  text: short,
  tool: fc.constantFrom("bash", "task", "edit", "lab_echo"),
  callID: partId,
  synthetic: fc.boolean(),
  time: fc.constantFrom({ start: 1 }, { start: 1, end: 2 }),
  state: fc.record({
    status: fc.constantFrom(...tool_states),
    input: fc.constantFrom({}, { command: "x" }, { filePath: "/a" }),
    output: short,
    metadata: fc.constantFrom({}, { output: "a" }, { output: "ab" }, { sessionId: "ses_2" }, { exit: 1 }),
  }),
});
const info = fc.record({
  id: fc.oneof(message, session),
  sessionID: session,
  parentID: fc.oneof(message, session),
  role: fc.constantFrom("user", "assistant"),
  time: fc.constantFrom({ created: 1 }, { created: 1, completed: 2 }),
  finish: fc.constantFrom(undefined, "stop", "tool-calls", "length"),
  summary: fc.constantFrom(undefined, true),
  error: fc.constantFrom(
    undefined,
    { name: "APIError", data: { message: "x", statusCode: 500 } },
    { name: "MessageAbortedError", data: {} },
  ),
  revert: fc.constantFrom(undefined, undefined, { messageID: "msg_1" }, { messageID: "msg_2", partID: "prt_1" }),
});
const properties = fc.record({
  sessionID: session,
  messageID: message,
  assistantMessageID: message,
  partID: partId,
  id: fc.constantFrom("per_1", "que_1"),
  requestID: fc.constantFrom("per_1", "que_1"),
  reply: fc.constantFrom("once", "always", "reject"),
  callID: partId,
  delta: short,
  text: short,
  part,
  info,
  status: fc.constantFrom({ type: "busy" }, { type: "idle" }, { type: "retry", attempt: 1, message: "m", next: 5 }),
  error: fc.constantFrom(
    { name: "ContextOverflowError", data: { message: "o" } },
    { name: "UnknownError", data: { message: "u\n  at x (y:1:1)" } },
  ),
  todos: fc.constantFrom([], [{ content: "c", status: "pending" }]),
  questions: fc.constantFrom([], [{ question: "q", header: "h", options: [] }]),
});
const likely = fc.record({ type: fc.constantFrom(...events), properties });
const event = fc.oneof(
  { weight: 6, arbitrary: likely },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom(...events), properties: fc.jsonValue() }) },
);
const row = fc.oneof(
  { weight: 12, arbitrary: event.map((json) => ({ dir: "sse" as const, data: { stream: "/event", json } })) },
  {
    weight: 2,
    arbitrary: session.map((id) => ({
      dir: "http" as const,
      data: { id: 1, phase: "request", method: "POST", path: `/session/${id}/prompt_async`, body: {} },
    })),
  },
  { weight: 1, arbitrary: fc.constant({ dir: "exit" as const, data: { code: null, signal: "SIGKILL" } }) },
  { weight: 1, arbitrary: fc.jsonValue().map((data) => ({ dir: "http" as const, data })) },
);

describe("any traffic", () => {
  it("[G1-G8] is translated without a throw, a silence or a broken rule", () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 60 }), (list) => {
        const rows: TraceRow[] = list.map((one, t_ms) => ({ ...one, t_ms }));
        const replay = replayTrace(() => new OpencodeTranslator(), rows, { location: "fuzz" });
        expect(replay.unparsed.filter(({ type }) => type === "fault" || type === "silent")).toEqual([]);
        expect(replay.sessions.flatMap(({ violations }) => violations)).toEqual([]);
      }),
      { seed: SEED, numRuns: 300 },
    );
  });
});
