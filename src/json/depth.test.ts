import { describe, expect, it } from "vitest";
import { MAX_MESSAGE_DEPTH, nestsDeeper, parseMessage } from "./depth.ts";

const arrays = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
const objects = (levels: number): string => '{"a":'.repeat(levels) + "1" + "}".repeat(levels);

describe("the depth of JSON", () => {
  it.each([arrays, objects])("is counted in brackets of both kinds", (make) => {
    expect(nestsDeeper(make(10), 10)).toBe(false);
    expect(nestsDeeper(make(11), 10)).toBe(true);
  });

  it("does not count what stands in texts, or side by side", () => {
    expect(nestsDeeper(JSON.stringify(["[[[[[[[[", '"[[[[[[', "\\", "[[[[\\\\"]), 3)).toBe(false);
    expect(nestsDeeper(JSON.stringify(Array.from({ length: 50 }, () => [{}])), 3)).toBe(false);
  });

  it("has a limit for messages, far below what breaks the stack", () => {
    expect(parseMessage(arrays(MAX_MESSAGE_DEPTH))).toBeInstanceOf(Array);
    for (const levels of [MAX_MESSAGE_DEPTH + 1, 100_000]) expect(() => parseMessage(arrays(levels))).toThrow(/nested deeper/);
    expect(() => parseMessage("{")).toThrow(SyntaxError);
  });
});
