import { describe, expect, it } from "vitest";
import { scenarioErrors } from "../../../agents/scenario.ts";
import { startModelServer } from "../../model-server/index.ts";
import { bodies, paths, post } from "../../model-server/test-client.ts";
import { promptFor } from "../marker.ts";
import { commonScenarios } from "./index.ts";

describe("the common library", () => {
  it.each(commonScenarios.map((one) => [one.name, one] as const))("%s is a scenario, and plain data", (_name, one) => {
    expect(scenarioErrors(one)).toEqual([]);
    expect(JSON.parse(JSON.stringify(one))).toEqual(one);
  });

  it("has at least 60 scenarios to run, each with a name of its own and something to expect", () => {
    const names = commonScenarios.map((one) => one.name);
    expect(new Set(names).size).toBe(names.length);
    const runnable = commonScenarios.filter((one) => !one.tags?.includes("part"));
    expect(runnable.length).toBeGreaterThanOrEqual(60);
    expect(runnable.filter((one) => one.expect === undefined).map((one) => one.name)).toEqual([]);
  });

  it("names only scenarios that exist", () => {
    const known = new Set(commonScenarios.map((one) => one.name));
    const named = [...JSON.stringify(commonScenarios).matchAll(/\[\[scenario:([a-z0-9-]+)/g)].map((found) => found[1] ?? "");
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  it("can be played over every protocol", async () => {
    const server = await startModelServer({ scenarios: commonScenarios });
    const playable = commonScenarios.filter((one) =>
      one.turns.every((turn) => turn.steps.every((step) => !step.fault && !step.chunk_delay_ms)),
    );
    for (const one of playable) {
      for (const protocol of ["anthropic", "chat", "responses", "gemini"] as const) {
        const response = await post(
          `${server.url}${paths[protocol]}`,
          bodies[protocol]([{ user: promptFor(one, 0, "/tmp/somewhere") }]),
        );
        const text = await response.text();
        expect([one.name, response.status, text.includes("{{cwd}}")]).toEqual([one.name, 200, false]);
      }
    }
    expect(server.requests.every((request) => !request.past_end && request.position?.turn === 0)).toBe(true);
    await server.close();
  });

  it("finds what is wrong with what is no scenario", () => {
    expect(scenarioErrors({ name: "Bad Name", title: "x", turns: [] })).toHaveLength(1);
    const turns = [{ prompt: "p", steps: [{ blocks: [{ type: "tool", name: "no-logical-tool", input: {} }] }] }];
    expect(scenarioErrors({ name: "x", title: "x", turns })).not.toEqual([]);
  });
});
