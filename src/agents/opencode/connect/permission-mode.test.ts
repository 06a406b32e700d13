/** What each permission mode means in OpenCode's rules, evaluated as OpenCode does: the last rule that matches counts. */
import { describe, expect, it } from "vitest";
import type { PermissionMode } from "../../../schema/event-data.ts";
import {
  agentFor,
  allowsUnasked,
  configuredRules,
  endsWith,
  freeAgents,
  matches,
  permissionRules,
  type Rule,
} from "./permission-mode.ts";

const sources = { own: [], freeAgents: [], data: "/data" };
const rules = (mode: PermissionMode, own: Rule[] = []) => permissionRules(mode, { ...sources, own });
const last = (list: readonly Rule[], permission: string, text = "x") =>
  list.findLast((rule) => matches(permission, rule.permission) && matches(text, rule.pattern))?.action;
const each = (list: readonly Rule[]) =>
  Object.fromEntries(["bash", "edit", "read", "task", "lab_tool", "external_directory"].map((name) => [name, last(list, name)]));

describe("permission modes", () => {
  it("default asks for everything that changes something, tools nobody described among it", () => {
    const asked = { bash: "ask", edit: "ask", read: "allow", task: "ask", lab_tool: "ask", external_directory: "ask" };
    expect(each(rules("default"))).toEqual(asked);
    expect(each(rules("accept_edits"))).toEqual({ ...asked, edit: "allow" });
    expect(each(rules("plan"))).toEqual({ ...asked, edit: "deny" });
    expect(new Set(Object.values(each(rules("bypass"))))).toEqual(new Set(["allow"]));
  });

  it("each mode overrides every other that stands before it", () => {
    const modes: PermissionMode[] = ["plan", "default", "accept_edits", "bypass"];
    for (const before of modes)
      for (const after of modes) expect(each([...rules(before), ...rules(after)])).toEqual(each(rules(after)));
  });

  it("what the person allows counts in default and never in plan; what the person denies counts always", () => {
    const own = configuredRules(
      { permission: { bash: { "git *": "allow" }, webfetch: "deny" }, tools: { lab_tool: false } },
      "build",
    );
    expect(last(rules("default", own), "bash", "git log")).toBe("allow");
    expect(last(rules("default", own), "bash", "touch x")).toBe("ask");
    expect(last(rules("plan", own), "bash", "git log")).toBe("ask");
    for (const mode of ["plan", "default", "accept_edits", "bypass"] as const) {
      expect(last(rules(mode, own), "webfetch")).toBe("deny");
      expect(last(rules(mode, own), "lab_tool")).toBe("deny");
    }
  });

  it("reads rules of every shape; what holds for all names stands first", () => {
    expect(configuredRules({ permission: "allow" }, "build")).toEqual([{ permission: "*", pattern: "*", action: "allow" }]);
    const config = { permission: { bash: "allow", "*": "ask" }, agent: { build: { permission: { task: "deny" } } } };
    expect(configuredRules(config, "build").map(({ permission, action }) => [permission, action])).toEqual([
      ["*", "ask"],
      ["bash", "allow"],
      ["task", "deny"],
    ]);
  });

  it("in plan, sub-agents that may run commands are not started", () => {
    const agent = (name: string, ...permission: Rule[]) => ({ name, mode: "subagent", permission });
    const ask: Rule = { permission: "*", pattern: "*", action: "ask" };
    const agents = [
      agent("general", { ...ask, action: "allow" }, ask),
      agent("free", ask, { permission: "bash", pattern: "*", action: "allow" }),
      agent("partly", ask, { permission: "bash", pattern: "git *", action: "allow" }),
    ];
    expect(freeAgents(agents)).toEqual(["free", "partly"]);
    const plan = permissionRules("plan", { ...sources, freeAgents: ["free"] });
    expect([last(plan, "task", "free"), last(plan, "task", "general")]).toEqual(["deny", "ask"]);
  });

  it("rules that stand last are not appended again", () => {
    const list = [...rules("bypass"), ...rules("default")];
    expect([endsWith(list, rules("default")), endsWith(list, rules("bypass")), endsWith(undefined, rules("plan"))]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it("answers for sub-agents what the mode would not ask", () => {
    expect(allowsUnasked("bypass", "bash")).toBe(true);
    expect([allowsUnasked("accept_edits", "edit"), allowsUnasked("accept_edits", "bash")]).toEqual([true, false]);
    expect([allowsUnasked("default", "edit"), allowsUnasked("plan", "edit")]).toEqual([false, false]);
  });

  it("plan works with the plan agent, every other mode with any", () => {
    expect([agentFor("plan", null), agentFor("plan", "build"), agentFor("plan", "poet"), agentFor("default", null)]).toEqual([
      "plan",
      "plan",
      "poet",
      null,
    ]);
  });
});
