// Agents that agents start, in the foreground and behind the turns.
import { describe, expect, it } from "vitest";
import type { Item } from "../../../schema/item.ts";
import { foldItems } from "../../../schema/projection/item-projection.ts";
import { ask, assistant, call, init, of, type Played, play, result, system, text, toolResult, user } from "./test-frames.ts";

const task = (id: string, tool: string, background: boolean) =>
  system("task_started", {
    task_id: id,
    tool_use_id: tool,
    description: id,
    is_backgrounded: background,
    task_type: "local_agent",
  });
const over = (id: string, tool: string) =>
  system("task_notification", { task_id: id, tool_use_id: tool, status: "completed", summary: `${id} is done` });
const under = (parent: string) => ({ parent_tool_use_id: parent });

const outer = assistant("m1", call("A", "Agent", { prompt: "outer" }));
const inner = [
  assistant("a1", call("B", "Agent", { prompt: "inner", run_in_background: false }), under("A")),
  task("tb", "B", false),
  assistant("b1", call("C", "Bash", { command: "make" }), under("B")),
];
const rest = [
  toolResult("C", "made", under("B")),
  assistant("b2", text("inner is done"), under("B")),
  over("tb", "B"),
  toolResult("B", "inner is done", under("A")),
  over("ta", "A"),
];

const callOf = (played: Played, id: string): Item[] =>
  foldItems(played.events).filter(({ content }) => content.some((part) => part.type === "tool_call" && part.call_id === id));
const resultsOf = (played: Played, id: string) =>
  played.items.flatMap(({ content }) =>
    content.flatMap((part) => (part.type === "tool_result" && part.call_id === id ? part.output : [])),
  );

describe("an agent that a background agent of Claude Code started", () => {
  it.each([
    ["at its start", [task("ta", "A", true)], []],
    ["while it works", [task("ta", "A", false)], [system("task_updated", { task_id: "ta", patch: { is_backgrounded: true } })]],
  ])("goes on after the turn, with its calls, when that one goes there %s", (_, start, moved) => {
    const detail = { tool_use_result: { isAsync: true, agentId: "ta" } };
    const before = [user("x"), init(), outer, ...start, ...inner, ...moved, toolResult("A", "started", detail), result()];
    const resting = play(...before);
    expect(callOf(resting, "C")).toMatchObject([{ status: "in_progress" }]);
    expect(resultsOf(resting, "C")).toEqual([]);
    const played = play(...before, ...rest);
    expect(played.rules).toEqual([]);
    expect(resultsOf(played, "C")).toEqual(["made"]);
    expect(resultsOf(played, "B")).toEqual(["inner is done"]);
    for (const id of ["A", "B", "C"]) expect(callOf(played, id)).toMatchObject([{ status: "completed" }]);
    const [bash] = callOf(played, "C");
    const [agent] = callOf(played, "B");
    const message = foldItems(played.events).find(({ item_id }) => item_id === bash?.parent_id);
    expect(message?.parent_id).toBe(agent?.item_id);
  });
});

describe("a background agent of Claude Code that waits for a permission", () => {
  const cut = [
    ...[user("x"), init(), outer, task("ta", "A", true)],
    toolResult("A", "started", { tool_use_result: { isAsync: true, agentId: "ta" } }),
    assistant("a1", call("C", "Bash", { command: "make" }), under("A")),
    ask("r1", { subtype: "can_use_tool", tool_name: "Bash", tool_use_id: "C", input: { command: "make" } }),
    result({ subtype: "error_during_execution", is_error: true, terminal_reason: "aborted_streaming" }),
  ];

  it("still waits when the turn is interrupted", () => {
    const played = play(...cut);
    expect(of(played, "turn.ended")).toMatchObject([{ stop_reason: "interrupted" }]);
    expect(of(played, "permission.resolved")).toEqual([]);
    expect(callOf(played, "C")).toMatchObject([{ status: "in_progress" }]);
  });

  it("[U3] has its request and its open call ended when it is stopped", () => {
    const stopped = system("task_notification", { task_id: "ta", tool_use_id: "A", status: "stopped", summary: "stopped" });
    const played = play(...cut, stopped);
    expect(played.rules).toEqual([]);
    expect(of(played, "permission.resolved")).toMatchObject([{ status: "denied" }]);
    for (const id of ["A", "C"]) expect(callOf(played, id)).toMatchObject([{ status: "failed" }]);
    expect(resultsOf(played, "C")).toHaveLength(1);
  });
});
