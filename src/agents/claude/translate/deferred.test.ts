/** A call that a hook put off (`permissionDecision: defer`): the turn ends with it, and it runs when the session is resumed. */
import { expect, it } from "vitest";
import { assistant, call, exit, init, of, play, result, text, toolResult, user } from "./test-frames.ts";

const deferred = [
  user("x"),
  init(),
  assistant("m", call("t", "Bash", { command: "make" })),
  result({
    terminal_reason: "tool_deferred",
    stop_reason: "tool_use",
    deferred_tool_use: { id: "t", name: "Bash", input: { command: "make" } },
  }),
];

it("[U3] has not run: it failed, and its result says why", () => {
  const played = play(...deferred);
  expect(played.rules).toEqual([]);
  expect(played.items.filter(({ kind }) => kind.startsWith("tool")).map(({ kind, status }) => `${kind} ${status}`)).toEqual([
    "tool_call failed",
    "tool_result failed",
  ]);
  expect(played.items.at(-1)?.content).toMatchObject([{ is_error: true, output: "A hook deferred this call: it has not run." }]);
  expect(of(played, "turn.ended")).toMatchObject([{ stop_reason: "end_turn" }]);
});

it("breaks nothing when its result comes after the session was resumed", () => {
  const resumed = play(
    ...deferred,
    exit(0),
    user("go on"),
    init(),
    toolResult("t", "made"),
    assistant("n", text("Done.")),
    result(),
    exit(0),
  );
  expect(resumed.rules).toEqual([]);
  expect(resumed.unparsed).toEqual([]);
  const outputs = resumed.items.flatMap(({ content }) =>
    content.flatMap((part) => (part.type === "tool_result" ? part.output : [])),
  );
  expect(outputs).toContain("made");
});
