/** `user` frames that hold more than one thing. */
import { describe, expect, it } from "vitest";
import { assistant, call, init, of, out, play, result, stream, text, toolResult, user } from "./test-frames.ts";

const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } };
const frame = (content: unknown[], more: object = {}) =>
  out({ type: "user", message: { role: "user", content }, parent_tool_use_id: null, uuid: "u", session_id: "s", ...more });

describe("what stands beside the result of a tool", () => {
  it("is an item of its own", () => {
    const played = play(
      user("x"),
      init(),
      assistant("m", call("t", "Read", { file_path: "/w/a.pdf" })),
      frame([{ type: "tool_result", tool_use_id: "t", content: "read" }, text("A reminder."), image]),
      result(),
    );
    expect(played.rules).toEqual([]);
    expect(played.items.map(({ kind, content }) => [kind, content.map((part) => part.type)]).slice(2)).toEqual([
      ["tool_call", ["tool_call"]],
      ["tool_result", ["tool_result", "file_ref"]],
      ["system", ["text", "image"]],
    ]);
  });

  it("is no item when it only says that the turn was interrupted", () => {
    const played = play(
      user("x"),
      init(),
      assistant("m", call("t", "Bash", { command: "ls" })),
      frame([
        { type: "tool_result", tool_use_id: "t", content: "cut", is_error: true },
        text("[Request interrupted by user for tool use]"),
      ]),
      result({ subtype: "error_during_execution", is_error: true, terminal_reason: undefined }),
    );
    expect(played.rules).toEqual([]);
    expect(played.items.map(({ kind }) => kind)).toEqual(["message", "message", "tool_call", "tool_result"]);
    expect(of(played, "turn.ended")).toMatchObject([{ stop_reason: "interrupted" }]);
  });
});

it("pictures that the CLI adds in the user's name are shown", () => {
  const played = play(user("x"), init(), frame([image], { isSynthetic: true }), assistant("m", text("I see.")), result());
  expect(played.rules).toEqual([]);
  expect(played.items.map(({ kind, content }) => [kind, content.map((part) => part.type)])[1]).toEqual(["system", ["image"]]);
});

describe("a stream event outside of any message", () => {
  it("of an unknown type is unparsed, and an error is shown", () => {
    const played = play(
      user("x"),
      init(),
      stream({ type: "brand_new" }),
      stream({ type: "error", error: { type: "overloaded_error" } }),
      result(),
    );
    expect(of(played, "agent.unparsed")).toHaveLength(1);
    expect(of(played, "agent.notice")).toMatchObject([{ name: "stream_error" }]);
  });
});

it("[U10] leaving plan mode is of the kind plan, as with every agent", () => {
  const played = play(
    user("x"),
    init(),
    assistant("m", call("t", "ExitPlanMode", { plan: "1." })),
    toolResult("t", "ok"),
    result(),
  );
  expect(played.items[2]?.content[0]).toMatchObject({ tool_kind: "plan" });
});

it.each([false, true])(
  "[U2] what comes in the guise of a person, and is of no person, is a system item (replayed: %s)",
  (isReplay) => {
    const played = play(
      init(),
      frame([text("A task has ended.")], { origin: { kind: "task-notification" }, ...(isReplay ? { isReplay } : {}) }),
      frame([text("I wrote this.")], { origin: { kind: "human" }, uuid: "v", ...(isReplay ? { isReplay } : {}) }),
      result(),
    );
    expect(played.rules).toEqual([]);
    expect(played.items.map(({ role }) => role)).toEqual(["system", "user"]);
  },
);
