// The scenarios are data: each is valid, and none has the name of another.
import { describe, expect, it } from "vitest";
import { commonScenarios } from "../../../verify/scenario/index.ts";
import { scenarioErrors } from "../../scenario.ts";
import { opencodeScenarios } from "./scenarios.ts";

describe("OpenCode's own scenarios", () => {
  it.each(opencodeScenarios.map((scenario) => [scenario.name, scenario] as const))("%s is a scenario", (_, scenario) => {
    expect(scenarioErrors(scenario)).toEqual([]);
  });

  it("have names of their own", () => {
    const names = [...commonScenarios, ...opencodeScenarios].map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it("are at least twenty beyond the common ones", () => {
    expect(opencodeScenarios.filter(({ tags }) => !tags?.includes("part")).length).toBeGreaterThanOrEqual(20);
  });
});
