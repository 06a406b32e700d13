import { describe, expect, it } from "vitest";
import { eventOf, itemOf } from "../../dialects/test-events.ts";
import { emptyResult } from "../scenario-result.ts";
import type { AgentReport } from "../verify-agent.ts";
import { compareReports, compareScenario, comparisonText, unexplained } from "./compare.ts";
import { shapeOf } from "./shape.ts";

const report = (agent: string, shape: string[], verdict: "passed" | "failed" = "passed"): AgentReport => ({
  agent,
  installed: true,
  version: "1.2.3",
  problems: [],
  results: [{ ...emptyResult(agent, { name: "text", title: "" }), shape, verdict }],
});

describe("the shape of a story", () => {
  it("has items where they began, as they were in the end, without words and deltas", () => {
    const call = { type: "tool_call", call_id: "c", name: "Bash", arguments: "{}", tool_kind: "shell" } as const;
    const message = itemOf({ item_id: "m", content: [{ type: "text", text: "hi" }] });
    const tool = itemOf({ item_id: "t", kind: "tool_call", status: "failed", content: [call] });
    expect(
      shapeOf([
        eventOf("turn.started", { turn_id: "t", initiator: "client" }),
        eventOf("item.started", { item: { ...message, content: [] } }),
        eventOf("item.delta", { item_id: "m", native_item_id: null, part_index: 0, part_type: "text", delta: "hi" }),
        eventOf("item.started", { item: tool }),
        eventOf("item.completed", { item: tool }),
        eventOf("item.completed", { item: message }),
        eventOf("usage.updated", { scope: "turn", input_tokens: 1, output_tokens: 1 }),
        eventOf("error", { message: "no", code: "rate_limit", details: { error_source: "provider" } }),
        eventOf("turn.ended", { turn_id: "t", stop_reason: "error", error_code: "rate_limit" }),
      ]),
    ).toEqual([
      "turn.started client",
      "item message/assistant [text]",
      "item tool_call/assistant [tool_call] shell failed",
      "error rate_limit",
      "turn.ended error rate_limit",
    ]);
  });
});

describe("a comparison", () => {
  const told = (...shapes: string[][]) => shapes.map((shape, index) => ({ agent: `agent-${index}`, version: "1.2.3", shape }));

  it("takes the story most agents tell, and names every line in which one differs", () => {
    const compared = compareScenario("text", told(["a", "x"], ["a", "b"], ["a", "b"]), () => []);
    expect(compared).toMatchObject({ shape: ["a", "b"], same: ["agent-1", "agent-2"] });
    expect(unexplained([compared])).toEqual(["text: agent-0 - b", "text: agent-0 + x"]);
    expect(comparisonText([compared])).toContain("    + x  (UNEXPLAINED)");
  });

  it("accepts what the agent's table explains, for its scenario and its version alone", () => {
    const explained = (version: string, scenarios: string[]) =>
      unexplained([
        compareScenario("text", told(["a", "b"], ["a", "b"], ["a", "x 1"]), () => [
          { scenarios, version, lacks: ["b"], adds: ["x*"], reason: "it cannot" },
        ]),
      ]);
    expect(explained("1.", ["te*"])).toEqual([]);
    expect(explained("2.", ["te*"])).toHaveLength(2);
    expect(explained("1.", ["texture"])).toHaveLength(2);
  });

  it("takes neighbouring results in any order", () => {
    const results = ["item tool_result/tool [tool_result+file_ref]", "item tool_result/tool [tool_result]"];
    const reports = [report("a", ["x", ...results, "y"]), report("b", ["x", ...results.toReversed(), "y"])];
    const compared = compareReports(
      reports,
      () => true,
      () => [],
    );
    expect(compared.map(({ same }) => same)).toEqual([["a", "b"]]);
  });

  it("is made of what at least two agents played to its end", () => {
    const reports = [report("a", ["x"]), report("b", ["y"], "failed"), report("c", ["x"])];
    expect(
      compareReports(
        reports,
        () => true,
        () => [],
      ).map(({ agents }) => agents),
    ).toEqual([["a", "c"]]);
    expect(
      compareReports(
        reports.slice(0, 2),
        () => true,
        () => [],
      ),
    ).toEqual([]);
    expect(
      compareReports(
        reports,
        () => false,
        () => [],
      ),
    ).toEqual([]);
  });
});
