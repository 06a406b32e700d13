import { describe, expect, it } from "vitest";
import { expects, skips } from "../agents/kit/verify/adjustments.ts";
import type { Scenario } from "../agents/scenario.ts";
import { profiles } from "../agents/verified.ts";
import { adjusted } from "./profiles.ts";
import { commonScenarios } from "./scenario/index.ts";

const scenario = (name: string): Scenario => ({
  name,
  title: name,
  turns: [],
  expect: { stop_reason: "end_turn", final_text: ["a"] },
});

describe("the adjustments of an agent", () => {
  it("leave scenarios out, and change what is expected field by field", () => {
    const list = adjusted(
      [scenario("one"), scenario("two-a"), scenario("two-b")],
      [skips("cannot", "two-*"), expects("gives up", { stop_reason: "error" }, "one"), expects("more", { events: [] }, "one")],
    );
    expect(list).toEqual([{ ...scenario("one"), expect: { stop_reason: "error", final_text: ["a"], events: [] } }]);
  });

  it("name scenarios that exist, and say why", () => {
    const names = commonScenarios.map(({ name }) => name);
    for (const { agent, adjustments = [] } of profiles)
      for (const { scenarios, reason } of adjustments)
        for (const pattern of scenarios) {
          const found = names.some((name) => (pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern));
          expect([agent, pattern, found, reason.length > 10]).toEqual([agent, pattern, true, true]);
        }
  });
});
