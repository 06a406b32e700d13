import { describe, expect, it } from "vitest";
import { foldItems } from "../../../schema/projection/item-projection.ts";
import {
  answers,
  ask,
  assistant,
  blockStart,
  call,
  delta,
  init,
  of,
  out,
  type Played,
  play,
  result,
  started,
  stopped,
  stream,
  system,
  text,
  textDelta,
  toolResult,
  user,
} from "./test-frames.ts";

/** What stands in the transcript, as kind and role. */
function shown({ events }: Played): string[] {
  return foldItems(events).map(({ kind, role }) => `${kind} ${role}`);
}

describe("API messages", () => {
  it("[G4] makes one item of one API message, its parts in block order, when whole blocks come one by one", () => {
    const played = play(
      user("hi"),
      init(),
      assistant("msg_1", { type: "thinking", thinking: "hm", signature: "s" }),
      assistant("msg_1", text("Hello")),
      assistant("msg_1", text(" again")),
      result(),
    );
    expect(played.rules).toEqual([]);
    expect(answers(played).map((item) => [item.native_item_id, item.content])).toEqual([
      [
        "msg_1",
        [
          { type: "reasoning", text: "hm", visibility: "public" },
          { type: "text", text: "Hello" },
          { type: "text", text: " again" },
        ],
      ],
    ]);
  });

  it("[G4] streams text and thoughts into their own parts; a tool call between them is no part", () => {
    const played = play(
      user("hi"),
      init(),
      started("msg_1"),
      blockStart(0, { type: "thinking", thinking: "" }),
      delta(0, { type: "thinking_delta", thinking: "hm" }),
      delta(0, { type: "signature_delta", signature: "x" }),
      assistant("msg_1", { type: "thinking", thinking: "hm" }),
      blockStart(1, { type: "tool_use", id: "t1", name: "Bash", input: {} }),
      delta(1, { type: "input_json_delta", partial_json: '{"command":"ls"}' }),
      assistant("msg_1", call("t1", "Bash", { command: "ls" })),
      blockStart(2, text("")),
      textDelta(2, "done"),
      assistant("msg_1", text("done")),
      stream({ type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { input_tokens: 3, output_tokens: 9 } }),
      stopped(),
      toolResult("t1", "a b", { tool_use_result: { stdout: "a b", stderr: "", interrupted: false } }),
      result(),
    );
    expect(played.rules).toEqual([]);
    expect(
      of(played, "item.delta")
        .filter((one) => one.native_item_id === "msg_1")
        .map((one) => [one.part_index, one.part_type, one.delta]),
    ).toEqual([
      [0, "reasoning", "hm"],
      [1, "text", "done"],
    ]);
    expect(of(played, "step.ended")[0]).toMatchObject({ finish_reason: "tool_use", usage: { output_tokens: 9 } });
  });

  it("an empty text block never becomes a part", () => {
    const played = play(user("hi"), init(), started("m"), blockStart(0, text("")), stopped(), result());
    expect(answers(played)[0]?.content).toEqual([]);
  });

  it("redacted thinking, and thinking without words, are private", () => {
    const played = play(
      user("hi"),
      init(),
      assistant("m", { type: "redacted_thinking", data: "xx" }),
      assistant("m", { type: "thinking", thinking: "" }),
      result(),
    );
    expect(answers(played)[0]?.content).toEqual([
      { type: "reasoning", text: "", visibility: "private" },
      { type: "reasoning", text: "", visibility: "private" },
    ]);
  });

  it("a block type of the future is carried as JSON, in its place", () => {
    const played = play(user("hi"), init(), assistant("m", { type: "brand_new", a: 1 }), assistant("m", text("after")), result());
    expect(played.unparsed).toEqual([]);
    expect(answers(played)[0]?.content).toEqual([
      { type: "json", json: { type: "brand_new", a: 1 } },
      { type: "text", text: "after" },
    ]);
  });

  it("blocks abandoned by an interrupt are dropped, and the message with them when nothing is left", () => {
    const played = play(
      user("hi"),
      init(),
      started("m"),
      blockStart(0, { type: "thinking", thinking: "" }),
      delta(0, { type: "thinking_delta", thinking: "half a" }),
      stopped({ abandoned_blocks: { api_message_id: "m", from_block_index: 0 } }),
      result({ subtype: "error_during_execution", is_error: true, terminal_reason: "aborted_streaming" }),
    );
    expect(played.rules).toEqual([]);
    expect(of(played, "item.removed").map((one) => one.native_item_id)).toEqual(["m"]);
  });

  it("a half streamed tool call that was abandoned is removed, the text before it stays", () => {
    const played = play(
      user("hi"),
      init(),
      started("m"),
      blockStart(0, text("")),
      textDelta(0, "I will"),
      assistant("m", text("I will")),
      blockStart(1, { type: "tool_use", id: "t", name: "Bash", input: {} }),
      delta(1, { type: "input_json_delta", partial_json: '{"com' }),
      stopped({ abandoned_blocks: { api_message_id: "m", from_block_index: 1 } }),
      result({ subtype: "error_during_execution", is_error: true, terminal_reason: "aborted_streaming" }),
    );
    expect(played.rules).toEqual([]);
    expect(of(played, "item.removed").map((one) => one.native_item_id)).toEqual(["t"]);
    expect(answers(played)).toMatchObject([{ status: "failed", content: [{ type: "text", text: "I will" }] }]);
  });

  it("[U17] a stream that was cut and begins again with the same id is asked again: what was said before is void", () => {
    const begun = (words: string) => [started("m"), blockStart(0, text("")), textDelta(0, words)];
    const played = play(
      user("x"),
      init(),
      ...begun("Half"),
      ...begun("Whole"),
      assistant("m", text("Whole")),
      stopped(),
      result(),
    );
    expect(played.rules).toEqual([]);
    expect(of(played, "item.removed")).toHaveLength(1);
    expect(answers(played).map(({ content, status }) => [content, status])).toMatchObject([[[{ text: "Whole" }], "completed"]]);
  });

  it("text cut by an interrupt is kept as a failed message", () => {
    const played = play(
      user("hi"),
      init(),
      started("m"),
      blockStart(0, text("")),
      textDelta(0, "This is a slow"),
      assistant("m", text("This is a slow"), { aborted: true }),
      stopped({ abandoned_blocks: { api_message_id: "m", from_block_index: 1 } }),
      result({ subtype: "error_during_execution", is_error: true, terminal_reason: "aborted_streaming" }),
    );
    expect(answers(played)).toMatchObject([{ status: "failed", content: [{ type: "text", text: "This is a slow" }] }]);
    expect(of(played, "turn.ended")).toMatchObject([{ stop_reason: "interrupted" }]);
    expect(of(played, "error")).toEqual([]);
  });

  it("[G7] a stream that simply stops (2.1.197) is closed with its turn", () => {
    const played = play(
      user("hi"),
      init(),
      started("m"),
      blockStart(0, text("")),
      textDelta(0, "half"),
      result({ subtype: "error_during_execution", is_error: true, terminal_reason: "aborted_streaming" }),
    );
    expect(played.rules).toEqual([]);
    expect(answers(played)).toHaveLength(1);
  });

  it("a retracted message is removed, and the one that supersedes it stays", () => {
    const played = play(
      user("hi"),
      init(),
      assistant("m1", text("I"), { uuid: "gone" }),
      system("model_refusal_fallback", {
        direction: "retry",
        original_model: "m",
        fallback_model: "n",
        retracted_message_uuids: ["gone"],
        content: "flagged",
      }),
      assistant("m2", text("The fallback answered."), { supersedes: ["gone"] }),
      result(),
    );
    expect(played.rules).toEqual([]);
    expect(of(played, "item.removed").map((one) => one.native_item_id)).toEqual(["m1"]);
    expect(answers(played).map((item) => item.native_item_id)).toEqual(["m2"]);
    expect(of(played, "config.changed").at(-1)).toMatchObject({ model: "n" });
  });

  it("[U17] the calls of a retracted message go with it, with what was asked about them and came of them", () => {
    const sub = { parent_tool_use_id: "t2", agent_id: "a1" };
    const task = { task_id: "a1", run_id: "r", tool_use_id: "t2", task_type: "local_agent" };
    const played = play(
      user("hi"),
      init(),
      assistant("m1", text("I"), { uuid: "g1" }),
      assistant("m1", call("t1", "Bash", { command: "ls" }), { uuid: "g2" }),
      toolResult("t1", "a.txt"),
      assistant("m1", call("t2", "Agent", { description: "work", prompt: "Do it." }), { uuid: "g3" }),
      system("task_started", { ...task, description: "work" }),
      out({ type: "user", message: { role: "user", content: [text("Do it.")] }, ...sub }),
      system("task_progress", { ...task, description: "Looking" }),
      assistant("s1", text("Found it."), sub),
      assistant("s1", call("t3", "Bash", { command: "touch x" }), sub),
      ask("r3", { subtype: "can_use_tool", tool_name: "Bash", input: { command: "touch x" }, tool_use_id: "t3" }),
      assistant("m1", call("t4", "Bash", { command: "touch y" }), { uuid: "g4" }),
      ask("r4", { subtype: "can_use_tool", tool_name: "Bash", input: { command: "touch y" }, tool_use_id: "t4" }),
      system("model_refusal_fallback", {
        direction: "retry",
        original_model: "m",
        fallback_model: "n",
        retracted_message_uuids: ["g1", "g2", "g3", "g4"],
        content: "flagged",
      }),
      toolResult("t4", "aborted", {}, true),
      assistant("m2", text("The fallback answered."), { supersedes: ["g1", "g2", "g3", "g4"] }),
      result(),
    );
    expect(played.rules).toEqual([]);
    expect(of(played, "permission.resolved")).toMatchObject([{ status: "denied" }, { status: "denied" }]);
    expect(shown(played)).toEqual(["message user", "system system", "message assistant"]);
    expect(of(played, "turn.ended")).toMatchObject([{ stop_reason: "end_turn" }]);
  });

  it.each([["while it is open", []] as const, ["when it is over", [stopped()]] as const])(
    "[U17] one block of a message that is retracted %s leaves the others",
    (_, over) => {
      const played = play(
        user("hi"),
        init(),
        started("m1"),
        assistant("m1", text("I look."), { uuid: "kept" }),
        assistant("m1", call("t1", "Bash", { command: "ls" }), { uuid: "gone" }),
        ...over,
        out({ type: "tombstone", message: { uuid: "gone" } }),
        result(),
      );
      expect(played.rules).toEqual([]);
      expect(of(played, "item.removed").map((one) => one.native_item_id)).toEqual(["t1"]);
      expect(shown(played)).toEqual(["message user", "message assistant"]);
    },
  );

  it.each([false, true])("a sub-agent's prompt, work and end stand in this order (in the background: %s)", (is_backgrounded) => {
    const sub = { parent_tool_use_id: "t1", agent_id: "a1" };
    const task = { task_id: "a1", run_id: "r", tool_use_id: "t1", task_type: "local_agent" };
    const played = play(
      user("hi"),
      init(),
      assistant("m1", call("t1", "Agent", { description: "work", prompt: "Do it." })),
      system("task_started", { ...task, description: "work", is_backgrounded }),
      out({ type: "user", message: { role: "user", content: [text("Do it.")] }, ...sub }),
      system("task_progress", { ...task, description: "Looking" }),
      assistant("s1", text("Found it."), sub),
      system("task_updated", { ...task, patch: { status: "completed" } }),
      system("task_notification", { ...task, status: "completed", summary: "It is done." }),
      toolResult("t1", "Found it."),
      result(),
    );
    expect(played.rules).toEqual([]);
    const tool = played.items.find((item) => item.kind === "tool_call");
    const begun = of(played, "item.started").flatMap(({ item: { item_id } }) =>
      played.items.filter((one) => one.item_id === item_id),
    );
    const under = begun.filter((item) => item.parent_id === tool?.item_id && item.kind !== "tool_result");
    const words = under.map(({ content: [part] }) => {
      if (part?.type === "status") return `${part.label}: ${part.detail}`;
      return part?.type === "text" ? part.text : part;
    });
    expect(words).toEqual(["Do it.", "work: Looking", "Found it.", "It is done.: completed"]);
    expect(new Set(under.map(({ status }) => status))).toEqual(new Set(["completed"]));
  });

  it("[G5] a sub-agent's words stand under the call that started it, also after their turn", () => {
    const sub = { parent_tool_use_id: "t1", agent_id: "a1" };
    const played = play(
      user("hi"),
      init(),
      assistant("m1", call("t1", "Agent", { description: "work", run_in_background: true })),
      system("task_started", { task_id: "a1", run_id: "r", tool_use_id: "t1", description: "work", is_backgrounded: true }),
      toolResult("t1", "launched", { tool_use_result: { isAsync: true, agentId: "a1" } }),
      assistant("s1", text("first"), sub),
      result(),
      assistant("s1", text("later"), sub),
      system("task_notification", { task_id: "a1", tool_use_id: "t1", status: "completed", summary: "done" }),
      init(),
      assistant("m2", text("It is done.")),
      result({ origin: { kind: "task-notification" } }),
    );
    expect(played.rules).toEqual([]);
    const tool = played.items.find((item) => item.kind === "tool_call");
    expect(answers(played).filter((item) => item.parent_id === tool?.item_id)).toHaveLength(2);
    expect(of(played, "turn.started").map((turn) => turn.initiator)).toEqual(["client", "agent"]);
    expect(tool?.status).toBe("completed");
  });
});
