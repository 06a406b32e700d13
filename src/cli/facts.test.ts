import { expect, it } from "vitest";
import { factLines } from "./facts.ts";
import { paintFor } from "./style.ts";

const plain = paintFor({}, {});

it("aligns what is known, leaves out what is not, and wraps below its own column", () => {
  const facts = [
    ["Title", null],
    ["Agent", "mock 0.1.0"],
    ["Waiting for you", "Run: rm -rf dist and then build everything again"],
  ] as const;
  expect(factLines(facts, 40, plain)).toEqual([
    "Agent            mock 0.1.0",
    "Waiting for you  Run: rm -rf dist and",
    "                 then build everything",
    "                 again",
  ]);
});

it("keeps a value on its line, whatever it holds", () => {
  expect(factLines([["Title", "one\ntwo\u001b[2J"]], 80, plain)).toHaveLength(1);
});
