import { describe, expect, it } from "vitest";
import { mockAgent } from "../agents/mock/agent.ts";
import { mockProfile } from "../agents/mock/verify/profile.ts";
import { needsOwnDaemon, unmetNeed } from "./needs.ts";
import { commonScenarios, type Scenario } from "./scenario/index.ts";

const named = (name: string): Scenario => {
  const found = commonScenarios.find((scenario) => scenario.name === name);
  if (!found) throw new Error(`There is no scenario ${name}.`);
  return found;
};
const able = { ...mockAgent.capabilities, mcp_servers: true };

describe("what a scenario needs", () => {
  it("is nothing for an agent that can do everything", () => {
    const profile = { ...mockProfile, compact: "/compact", permissive: async () => ({}) };
    const full = { ...able, system_prompt: true };
    expect(commonScenarios.map((scenario) => unmetNeed(scenario, full, profile)).filter((need) => need !== null)).toEqual([]);
  });

  it.each([
    ["image-input", { images: false }, "takes no images"],
    ["question-single", { questions: false }, "asks no questions"],
    ["permission-allow", { permissions: false }, "asks for no permissions"],
    ["resume", { resume: false }, "cannot resume"],
    ["interrupt-text", { interrupt: false }, "cannot be interrupted"],
    ["mcp-tool", { mcp_servers: false }, "takes no MCP servers"],
    ["plan-approve", { permission_modes: ["default" as const] }, "no permission mode plan"],
  ])("%s is skipped when the agent cannot do it", (name, lacking, reason) => {
    expect(unmetNeed(named(name), { ...able, ...lacking }, mockProfile)).toBe(reason);
  });

  it("is skipped when the profile has no word for it", () => {
    expect(unmetNeed(named("compact"), able, mockProfile)).toBe("cannot be told to compact");
    expect(unmetNeed(named("set-model"), able, { ...mockProfile, models: {} })).toBe("has one model only");
  });

  it("is a daemon of its own for those that restart it or kill the agent", () => {
    expect(["resume", "kill-agent", "text", "terminate"].map((name) => needsOwnDaemon(named(name)))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});
