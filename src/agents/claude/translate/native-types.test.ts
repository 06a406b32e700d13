import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seedOf } from "../../../test-seed.ts";
import type { NativeDirection } from "../../contract.ts";
import { NATIVE_TYPES } from "./native-types.ts";
import { play } from "./test-frames.ts";
import { ClaudeTranslator } from "./translator.ts";

/** The smallest frame of a type of the table; null for types that need a conversation around them. */
function smallest(type: string): unknown {
  const [head = "", tail = ""] = type.split(/[/:](.*)/);
  if (tail === "unknown" || tail === "other") return null;
  if (head === "system") return { type: "system", subtype: tail };
  if (head === "control_request") return { type: "control_request", request_id: "r", request: { subtype: tail } };
  if (head === "result") return { type: "result", subtype: tail };
  const plain =
    /^[a-z_]+$/.test(type) && !["text", "stderr", "exit", "unknown", "not_json", "control_response", "repeated"].includes(type);
  return plain ? { type } : null;
}

const frames = Object.keys(NATIVE_TYPES).flatMap((type) => (smallest(type) === null ? [] : [[type, smallest(type)] as const]));

describe("the table of native types", () => {
  it.each(frames)("%s is what the translator says, even of a frame without fields", (type, data) => {
    const row = NATIVE_TYPES[type];
    const [translation] = new ClaudeTranslator().translate({ dir: "out", data });
    const lonely = ["system/task_progress", "system/task_updated", "system/task_notification", "tool_progress"].includes(type);
    expect(translation).toMatchObject({ type, disposition: lonely ? "noted" : row?.disposition });
  });

  it("has more than fifty internal frames, none of them unparsed", () => {
    const internal = Object.entries(NATIVE_TYPES).filter(([, row]) => row.seen === "types" && row.disposition !== "unparsed");
    expect(internal.length).toBeGreaterThan(50);
  });
});

describe("anything at all", () => {
  const directions: NativeDirection[] = ["in", "out", "err", "exit", "http", "sse"];
  const types = [
    "system",
    "assistant",
    "user",
    "stream_event",
    "result",
    "control_request",
    "control_response",
    "tool_progress",
    "command_lifecycle",
  ];
  const subtypes = [
    "init",
    "status",
    "task_started",
    "task_notification",
    "can_use_tool",
    "elicitation",
    "success",
    "error",
    "message_start",
    "content_block_start",
    "content_block_delta",
    "message_stop",
  ];
  const loose = fc.record(
    {
      type: fc.constantFrom(...types),
      subtype: fc.constantFrom(...subtypes),
      request_id: fc.constantFrom("a", "b"),
      request: fc.record(
        { subtype: fc.constantFrom(...subtypes), tool_use_id: fc.constantFrom("t", "u"), input: fc.jsonValue() },
        { requiredKeys: [] },
      ),
      response: fc.record(
        { subtype: fc.constantFrom("success", "error"), request_id: fc.constantFrom("a", "b"), response: fc.jsonValue() },
        { requiredKeys: [] },
      ),
      message: fc.record(
        {
          id: fc.constantFrom("m", "n"),
          role: fc.constantFrom("user", "assistant"),
          content: fc.oneof(
            fc.jsonValue(),
            fc.array(
              fc.record(
                {
                  type: fc.constantFrom("text", "thinking", "tool_use", "tool_result", "x"),
                  id: fc.constantFrom("t", "u"),
                  tool_use_id: fc.constantFrom("t", "u"),
                  text: fc.string(),
                  thinking: fc.string(),
                  input: fc.jsonValue(),
                },
                { requiredKeys: ["type"] },
              ),
            ),
          ),
        },
        { requiredKeys: [] },
      ),
      event: fc.record(
        {
          type: fc.constantFrom(...subtypes),
          index: fc.nat(3),
          message: fc.record({ id: fc.constantFrom("m", "n") }),
          content_block: fc.record({ type: fc.constantFrom("text", "thinking", "tool_use"), id: fc.constantFrom("t", "u") }),
          delta: fc.record({
            type: fc.constantFrom("text_delta", "thinking_delta", "input_json_delta", "z"),
            text: fc.string(),
            thinking: fc.string(),
            partial_json: fc.string(),
          }),
        },
        { requiredKeys: ["type"] },
      ),
      parent_tool_use_id: fc.constantFrom(null, "t"),
      tool_use_id: fc.constantFrom("t", "u"),
      task_id: fc.constantFrom("k", "l"),
      is_error: fc.boolean(),
      isReplay: fc.boolean(),
      isSynthetic: fc.boolean(),
      is_backgrounded: fc.boolean(),
      abandoned_blocks: fc.record({ from_block_index: fc.nat(2) }),
      uuid: fc.constantFrom("x", "y", "z"),
      supersedes: fc.array(fc.constantFrom("x", "y", "z")),
    },
    { requiredKeys: ["type"] },
  );

  it("[G1-G8] never throws, never says nothing, and never breaks the grammar", () => {
    const row = fc.record({
      t_ms: fc.constant(0),
      dir: fc.oneof(
        { weight: 5, arbitrary: fc.constant<NativeDirection>("out") },
        { weight: 2, arbitrary: fc.constant<NativeDirection>("in") },
        { weight: 1, arbitrary: fc.constantFrom(...directions) },
      ),
      data: fc.oneof({ weight: 8, arbitrary: loose }, { weight: 1, arbitrary: fc.jsonValue() }),
    });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 30 }), (rows) => {
        const played = play(...rows);
        expect(played.unparsed.filter((one) => one.type === "fault" || one.type === "silent")).toEqual([]);
        expect(played.rules).toEqual([]);
      }),
      { seed: seedOf(20_261_115), numRuns: 300 },
    );
  });
});
