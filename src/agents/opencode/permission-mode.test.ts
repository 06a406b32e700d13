// What each permission mode means in OpenCode's rules.
import { describe, expect, it } from "vitest";
import { agentFor, permissionRules } from "./permission-mode.ts";

const none = { mcp_servers: [] };
const actions = (...args: Parameters<typeof permissionRules>) =>
  Object.fromEntries(permissionRules(...args).map(({ permission, action }) => [permission, action]));

describe("permission modes", () => {
  it("default asks for everything that changes something, sub-agents and MCP tools among it", () => {
    const lab = { mcp_servers: [{ name: "lab", type: "http" as const, url: "http://127.0.0.1" }] };
    expect(actions("default", lab, false)).toEqual({
      edit: "ask",
      bash: "ask",
      webfetch: "ask",
      websearch: "ask",
      task: "ask",
      "lab_*": "ask",
    });
  });

  it("default leaves the person's own rules alone", () => {
    expect(actions("default", none, true)).toEqual({});
    expect(actions("accept_edits", none, true)).toEqual({ edit: "allow" });
  });

  it("bypass allows all, plan leaves it to the plan agent", () => {
    expect(actions("bypass", none, true)).toEqual({ "*": "allow" });
    expect(actions("plan", none, false)).toEqual({});
    expect([agentFor("plan", null), agentFor("plan", "build"), agentFor("plan", "poet"), agentFor("default", null)]).toEqual([
      "plan",
      "plan",
      "poet",
      null,
    ]);
  });
});
