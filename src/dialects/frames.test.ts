import { describe, expect, it } from "vitest";
import type { ContentPart } from "../schema/content.ts";
import { frameOf, framesDialect } from "./frames.ts";
import { eventOf, itemOf } from "./test-events.ts";

const CALL: ContentPart = { type: "tool_call", call_id: "c1", name: "shell", arguments: '{"command":"ls"}' };
const RESULT: ContentPart = { type: "tool_result", call_id: "c1", output: "out" };

it("has the stream-scoped envelope, with session_id as its alias, and seq from 0", () => {
  const event = eventOf("session.started", { metadata: {} }, 1);
  expect(frameOf(event)).toEqual({
    id: "evt_1",
    stream_kind: "session",
    stream_id: "s1",
    session_id: "s1",
    seq: 0,
    timestamp_ms: 1893456000250,
    type: "session_started",
    input: "",
  });
  expect(framesDialect(JSON.stringify(event))).toEqual([JSON.stringify(frameOf(event))]);
});

describe("tools", () => {
  it("keep one tool_id from start to end", () => {
    const start = eventOf("item.started", { item: itemOf({ kind: "tool_call", native_item_id: "c1", content: [CALL] }) });
    const output = eventOf("item.delta", {
      item_id: "itm_2",
      native_item_id: "c1",
      part_index: 0,
      part_type: "tool_output",
      delta: "out",
    });
    const end = eventOf("item.completed", {
      item: itemOf({ kind: "tool_result", role: "tool", native_item_id: "c1", content: [{ ...RESULT, exit_code: 3 }] }),
    });
    expect([start, output, end].map(frameOf)).toMatchObject([
      { type: "tool_started", tool_id: "c1", name: "shell", args: { command: "ls" }, timeout_ms: null },
      { type: "tool_stdout", tool_id: "c1", chunk: "out" },
      { type: "tool_ended", tool_id: "c1", exit_code: 3, duration_ms: 100, artifacts: { output: "out" } },
    ]);
  });

  it("fail when they never ran to an end", () => {
    const item = itemOf({ kind: "tool_result", role: "tool", status: "failed", content: [{ ...RESULT, is_error: true }] });
    expect(frameOf(eventOf("item.completed", { item }))).toMatchObject({ type: "tool_failed", tool_id: "n1", error: "out" });
  });

  it("name where the whole output lies", () => {
    const artifact = { artifact_id: "a", path: "/v1/artifacts/a", bytes: 9 };
    const item = itemOf({ kind: "tool_result", role: "tool", content: [{ ...RESULT, artifact }] });
    expect(frameOf(eventOf("item.completed", { item }))).toMatchObject({ artifacts: { refs: [artifact] } });
  });
});

it("streams text", () => {
  const data = { item_id: "i", native_item_id: null, part_index: 0, part_type: "text" as const, delta: "hi" };
  expect(frameOf(eventOf("item.delta", data))).toMatchObject({ type: "output_text_delta", delta: "hi" });
});

it("has checkpoints, with times in milliseconds", () => {
  const data = {
    checkpoint_id: "c",
    label: "l",
    created_at: "2030-01-01T00:00:00.000Z",
    files: ["a"],
    auto: true,
    tool_name: null,
  };
  expect(frameOf(eventOf("checkpoint.created", data))).toMatchObject({
    type: "checkpoint_created",
    created_at_ms: 1893456000000,
    files: ["a"],
  });
  expect(frameOf(eventOf("checkpoint.failed", { action: "create", error: "e" })).type).toBe("checkpoint_failed");
});

it("a frame of output is exactly the contract's", () => {
  const event = eventOf("task.output", { task_id: "t", stream: "pty", chunk: "x", offset: 7, bytes: 1 });
  const { type, task_id, stream, chunk, ...rest } = { ...frameOf(event) } as Record<string, unknown>;
  expect([type, task_id, stream, chunk]).toEqual(["tool_task_output_delta", "t", "pty", "x"]);
  expect(Object.keys(rest)).not.toEqual(expect.arrayContaining(["offset"]));
  expect(Object.keys(rest)).not.toEqual(expect.arrayContaining(["bytes"]));
});

it("has the whole life of a background task", () => {
  expect(
    [
      eventOf("task.spawned", { task_id: "t", tool_name: "shell", args: {}, execution_mode: "pty" }),
      eventOf("task.status", { task_id: "t", status: "running", started_at: "2030-01-01T00:00:00.000Z" }),
      eventOf("task.output", { task_id: "t", stream: "pty", chunk: "x" }),
      eventOf("task.stdin", { task_id: "t", chunk_b64: "eA==" }),
      eventOf("task.resized", { task_id: "t", rows: 1, cols: 2 }),
      eventOf("task.signalled", { task_id: "t", signal: "SIGINT" }),
      eventOf("task.cancel_requested", { task_id: "t", reason: "r" }),
      eventOf("task.cancelled", { task_id: "t", reason: "r" }),
    ].map((event) => frameOf(event).type),
  ).toEqual([
    "tool_task_spawned",
    "tool_task_status",
    "tool_task_output_delta",
    "tool_task_stdin_written",
    "tool_task_resized",
    "tool_task_signalled",
    "tool_task_cancel_requested",
    "tool_task_cancelled",
  ]);
});

it("makes what has no frame a provider_event, and what could not be read an invalid one", () => {
  expect(frameOf({ ...eventOf("limits.updated", { windows: [] }), raw: { a: 1 } })).toMatchObject({
    type: "provider_event",
    status: "event",
    event_name: "limits.updated",
    data: { windows: [] },
    raw: '{"a":1}',
    errors: [],
  });
  expect(frameOf(eventOf("agent.unparsed", { error: "no JSON", location: "stdout" }))).toMatchObject({
    status: "invalid_json",
    errors: ["no JSON"],
  });
});

it("ends with session_ended", () => {
  expect(frameOf(eventOf("session.ended", { reason: "completed", terminated_by: "agent" }))).toMatchObject({
    type: "session_ended",
    reason: "completed",
  });
});
