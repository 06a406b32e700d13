import { expect, it } from "vitest";
import { scenarioErrors } from "../../scenario.ts";
import { acpDefinitions } from "../definitions.ts";
import { acpScenarios } from "./scenarios.ts";

it.each(acpScenarios.map((scenario) => [scenario.name, scenario] as const))(
  "%s is a scenario, for agents that exist",
  (_name, scenario) => {
    expect(scenarioErrors(scenario)).toEqual([]);
    const ids = acpDefinitions.map((definition) => definition.id);
    expect(scenario.only?.every((id) => ids.includes(id))).toBe(true);
  },
);

it("names each scenario once", () => {
  expect(new Set(acpScenarios.map((scenario) => scenario.name)).size).toBe(acpScenarios.length);
});
