import { describe, expect, it } from "vitest";
import { acpAgents, geminiAgent } from "./agent.ts";

describe("what an ACP agent cannot set", () => {
  it.each(["gemini", "qwen"])("%s has no variants, and says so before one breaks a session", (id) => {
    const agent = [geminiAgent, ...acpAgents].find((each) => each.id === id);
    expect(agent?.capabilities.settings.variant).toBe(false);
  });
});
