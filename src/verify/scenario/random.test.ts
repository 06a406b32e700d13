/** Random scenarios: the same seed gives the same one, each is a valid scenario, and many of them have something of everything. */
import { expect, it } from "vitest";
import { scenarioErrors } from "../../agents/scenario.ts";
import { randomNames, randomScenario } from "./random.ts";

const many = randomNames(200, 1).flatMap((name) => randomScenario(name) ?? []);

it("are the same whenever they are named, and no other name is one", () => {
  expect(randomScenario("random-7")).toEqual(many[6]);
  for (const name of ["random-", "random-x", "random-7*", "text"]) expect(randomScenario(name)).toBeUndefined();
});

it("are valid, and none says the same word for a place twice", () => {
  for (const scenario of many) {
    expect(scenarioErrors(scenario)).toEqual([]);
    const texts = scenario.expect?.seen_text ?? [];
    expect(new Set(texts).size).toBe(texts.length);
  }
});

it("have together what a conversation can have", () => {
  const turns = many.flatMap((scenario) => scenario.turns);
  const steps = turns.flatMap((turn) => turn.steps);
  const blocks = steps.flatMap((step) => step.blocks);
  const tools = blocks.flatMap((block) => (block.type === "tool" && "name" in block ? [block.name] : []));
  expect(new Set(tools)).toEqual(new Set(["shell", "write", "read", "edit"]));
  expect(new Set(blocks.map(({ type }) => type))).toEqual(new Set(["text", "thinking", "tool"]));
  expect(new Set(steps.flatMap(({ fault }) => fault?.kind ?? []))).toEqual(new Set(["http", "cut", "eof", "sse_error"]));
  expect(steps.some((step) => step.blocks.filter(({ type }) => type === "tool").length > 2)).toBe(true);
  expect(turns.some(({ delivery }) => delivery?.mode === "queue")).toBe(true);
  expect(turns.some(({ actions }) => actions?.[0]?.do === "interrupt")).toBe(true);
  expect(many.some(({ replies }) => replies?.permissions?.some(({ reply }) => reply === "reject"))).toBe(true);
  // Most of them know what must come of them.
  expect(many.filter(({ expect: wanted }) => wanted?.seen_text).length).toBeGreaterThan(80);
});
