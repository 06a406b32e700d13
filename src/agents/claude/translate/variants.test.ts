// Frames as the protocol allows them and no recorded session has them: repeated ones, streams without an end, reasons of an end, answers of other clients.
import { describe, expect, it } from "vitest";
import {
  answers,
  ask,
  assistant,
  blockStart,
  call,
  init,
  of,
  out,
  play,
  reply,
  result,
  started,
  stopped,
  system,
  text,
  textDelta,
  toolResult,
  user,
} from "./test-frames.ts";

describe("a frame that comes twice", () => {
  it("is told once: its text, its result, its turn", () => {
    const rows = [
      user("x"),
      init(),
      assistant("m", text("Hello")),
      assistant("m", call("t", "Bash", { command: "ls" })),
      toolResult("t", "a"),
      assistant("m2", text("Done")),
      result(),
    ];
    const twice = play(...rows.flatMap((row) => (row.dir === "out" ? [row, row] : [row])));
    expect(twice.rules).toEqual([]);
    expect(twice.unexplained).toEqual([]);
    expect(twice.events.map(({ type, data }) => [type, data])).toEqual(
      play(...rows).events.map(({ type, data }) => [type, data]),
    );
  });
});

describe("a stream without an end", () => {
  const half = [user("x"), init(), started("m"), blockStart(0, { type: "text", text: "" }), textDelta(0, "Half an ans")];

  it("is void when the model was asked again (U17)", () => {
    const again = [
      started("m2"),
      blockStart(0, { type: "text", text: "" }),
      textDelta(0, "Whole"),
      assistant("m2", text("Whole")),
    ];
    const played = play(...half, ...again, stopped(), result());
    expect(played.rules).toEqual([]);
    expect(of(played, "item.removed")).toMatchObject([{ native_item_id: "m" }]);
    expect(answers(played).map(({ native_item_id, status }) => [native_item_id, status])).toEqual([["m2", "completed"]]);
  });

  it("is a failed answer when the turn fails with it", () => {
    const played = play(...half, result({ is_error: true, api_error_status: 500, result: "API Error: 500", stop_reason: null }));
    expect(played.rules).toEqual([]);
    expect(answers(played)).toMatchObject([{ native_item_id: "m", status: "failed" }]);
  });
});

describe("the reason of an end", () => {
  const failed = { subtype: "error_during_execution", is_error: true, errors: ["over"], result: undefined, stop_reason: null };
  it.each([
    ["max_turns", failed, "max_turns", "max_turns"],
    ["budget_exhausted", failed, "max_budget", "max_budget"],
    ["blocking_limit", { is_error: true, result: "No." }, "error", "context_overflow"],
    ["rapid_refill_breaker", { is_error: true, result: "No." }, "error", "context_overflow"],
    ["turn_setup_failed", failed, "error", "execution_error"],
  ])("%s counts, whatever the subtype", (terminal_reason, more, stop_reason, code) => {
    const played = play(user("x"), init(), result({ ...more, terminal_reason }));
    expect(of(played, "turn.ended")).toMatchObject([{ stop_reason }]);
    expect(of(played, "error")).toMatchObject([{ code }]);
  });

  it.each(["success", "error_during_execution"])("aborted is an interrupt, also of a %s", (subtype) => {
    const played = play(user("x"), init(), result({ subtype, terminal_reason: "aborted_streaming", stop_reason: null }));
    expect(of(played, "turn.ended")).toMatchObject([{ stop_reason: "interrupted" }]);
    expect(of(played, "error")).toEqual([]);
  });
});

describe("an answer to a permission, read from the wire", () => {
  const input = { command: "rm a" };
  const rule = {
    type: "addRules",
    rules: [{ toolName: "Bash", ruleContent: "rm a" }],
    behavior: "allow",
    destination: "session",
  };
  const resolved = (answer: Record<string, unknown>) =>
    of(
      play(
        user("x"),
        init(),
        assistant("m", call("t", "Bash", input)),
        ask("r", { subtype: "can_use_tool", tool_name: "Bash", input, tool_use_id: "t", permission_suggestions: [rule] }),
        reply("r", answer),
      ),
      "permission.resolved",
    )[0]?.metadata;

  it("says which option it was, and the input that runs when that is another", () => {
    expect(resolved({ behavior: "allow", updatedInput: input })).toMatchObject({ reply: "once", option_id: "once" });
    expect(resolved({ behavior: "allow", updatedInput: input })).not.toHaveProperty("updated_input");
    expect(resolved({ behavior: "allow", updatedInput: { command: "ls" } })).toMatchObject({ updated_input: { command: "ls" } });
    expect(resolved({ behavior: "allow", updatedPermissions: [rule] })).toMatchObject({ reply: "always", option_id: "always" });
    expect(resolved({ behavior: "deny", message: "no" })).toMatchObject({ reply: "reject", option_id: "reject", message: "no" });
    expect(resolved({ behavior: "deny", message: "no", interrupt: true })).toMatchObject({ option_id: "reject_and_stop" });
  });
});

describe("the set-up that a turn begins with", () => {
  it("names the effort as the variant, once", () => {
    const rows = [user("x"), init({ effort: "high" }), result(), user("y"), init({ effort: "high" }), result()];
    const variants = of(play(...rows), "config.changed").flatMap(({ variant }) => variant ?? []);
    expect(variants).toEqual(["high"]);
    expect(play(out({ type: "system", subtype: "init", effort: null }), system("status", { status: null })).rules).toEqual([]);
  });
});
