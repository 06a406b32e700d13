import { describe, expect, it } from "vitest";
import { mockAgent } from "../agents/mock/agent.ts";
import { mockProfile } from "../agents/mock/verify/profile.ts";
import { commonScenarios, type Scenario } from "./scenario/index.ts";
import { needsOwnDaemon, skipReason } from "./skip-reasons.ts";

const named = (name: string): Scenario => {
  const found = commonScenarios.find((scenario) => scenario.name === name);
  if (!found) throw new Error(`There is no scenario ${name}.`);
  return found;
};
const able = { ...mockAgent.capabilities, mcp_servers: true };

describe("what a scenario needs", () => {
  it("is nothing for an agent that can do everything", () => {
    const profile = { ...mockProfile, compact: "/compact", permissive: async () => ({}) };
    const skills = { project: [], user: [], upwards: false, door: "plugin_directory" as const };
    const full = { capabilities: { ...able, system_prompt: true }, skills, forkPlace: async () => null };
    const unmet = commonScenarios.map((scenario) => [scenario.name, skipReason(scenario, full, profile)] as const);
    // There are two ways to hand over skills, and an agent has one.
    expect(unmet.filter(([, need]) => need !== null)).toEqual([["skill-by-tool", "is not handed skills that way"]]);
  });

  it.each([
    ["image-input", { images: false }, "takes no images"],
    ["question-single", { questions: false }, "asks no questions"],
    ["permission-allow", { permissions: false }, "asks for no permissions"],
    ["resume", { resume: false }, "cannot resume"],
    ["interrupt-text", { interrupt: false }, "cannot be interrupted"],
    ["mcp-tool", { mcp_servers: false }, "takes no MCP servers"],
    ["mode-text-shell-plan", { permission_modes: ["default" as const] }, "no permission mode plan"],
  ])("%s is skipped when the agent cannot do it", (name, lacking, reason) => {
    expect(skipReason(named(name), { capabilities: { ...able, ...lacking } }, mockProfile)).toBe(reason);
  });

  it("is a way to hand over skills where one is handed over", () => {
    expect(skipReason(named("skill-handed-over"), { capabilities: able }, mockProfile)).toBe("is not handed skills that way");
  });

  it("is skipped when the profile has no word for it", () => {
    expect(skipReason(named("compact"), { capabilities: able }, mockProfile)).toBe("cannot be asked to compact");
    expect(skipReason(named("set-model"), { capabilities: able }, { ...mockProfile, models: {} })).toBe("has one model only");
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
