import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mockProfile } from "../agents/mock/verify/profile.ts";
import { Lab } from "./lab.ts";
import { runScenario } from "./runner.ts";
import type { Scenario } from "./scenario/index.ts";
import type { ScenarioResult } from "./scenario-result.ts";

const scenario = (prompt: string, rest: Partial<Scenario> = {}): Scenario => ({
  name: "made-up",
  title: "a scenario of this test",
  turns: [{ prompt, steps: [] }],
  ...rest,
});

describe("the runner, with the mock agent and a real daemon", () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await Lab.open({ profile: mockProfile, scenarios: [] });
  });
  afterAll(async () => {
    expect(await lab.close()).toEqual([]);
  });
  const play = (one: Scenario, timeLimitMs = 20_000): Promise<ScenarioResult> =>
    runScenario(lab, one, { timeLimitMs, settleMs: 300 });

  it("passes what happens as expected, and counts every native message", async () => {
    const result = await play(scenario("say Hello.", { expect: { stop_reason: "end_turn", final_text: ["Hello."] } }));
    expect(result).toMatchObject({ verdict: "passed", failures: [], broken: [], unparsed: 0 });
    expect(result.native).toBe(result.mapped + result.noted + result.heartbeat);
    expect(result.native).toBeGreaterThan(3);
  });

  it("fails what happens otherwise, and says how", async () => {
    const expected = {
      turns: 2,
      stop_reason: "error",
      final_text: ["Bye."],
      events: ["item.removed"],
      no_events: ["turn.ended"],
      tools: ["shell"],
    };
    const result = await play(scenario("say Hello.", { expect: expected as NonNullable<Scenario["expect"]> }));
    expect(result.verdict).toBe("failed");
    expect(result.failures).toEqual([
      "there were 1 turns, not 2",
      'the last turn ended with "end_turn", not "error"',
      "no item.removed came",
      "turn.ended came and should not",
      'the last message is "Hello.", without "Bye."',
      "no call of a shell tool is visible; calls: none",
    ]);
    expect(result.tail.at(-1)).toContain("session.ended");
  });

  it("fails when something was not understood and nobody expected that", async () => {
    const result = await play(scenario("garbage"));
    expect(result.verdict).toBe("failed");
    expect(result.unparsed).toBeGreaterThan(0);
    expect(result.failures.join()).toContain("not understood");
  });

  it("reports one that hangs, with what it waited for and the last events, and cleans up", async () => {
    const result = await play(scenario("hang"), 1_500);
    expect(result.verdict).toBe("hung");
    expect(result.failures).toEqual(["no end after 1.5 s, waiting for the end of the turn"]);
    expect(result.tail.some((line) => line.includes("turn.started"))).toBe(true);
    expect(result.broken).toEqual([]);
  });

  it("fails when the moment of an action never comes", async () => {
    const actions: Scenario["turns"][number]["actions"] = [{ do: "interrupt", when: { on: "text", text: "never said" } }];
    const result = await play(scenario("", { turns: [{ prompt: "say Hello.", steps: [], actions }] }));
    expect(result.failures).toEqual(['the moment to interrupt never came: {"on":"text","text":"never said"}']);
  });

  it("fails when the session cannot be made", async () => {
    const result = await play(scenario("say Hello.", { session: { env: { "NOT A NAME": "x" } } }));
    expect(result.verdict).toBe("failed");
    expect(result.failures[0]).toContain("it could not be played");
  });
});
