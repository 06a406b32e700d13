import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seedOf } from "../test-seed.ts";
import { LineParser } from "./line-parser.ts";

const SEED = seedOf(20_261_116);

/** Every line as `JSON.parse` reads it, the order of keys too, and none changed by those after it. */
function expectSame(lines: string[]): void {
  const parser = new LineParser();
  const made = lines.map((line) => parser.parse(line));
  for (const [index, value] of made.entries()) {
    const expected: unknown = JSON.parse(lines[index] ?? "");
    expect(value).toEqual(expected);
    expect(JSON.stringify(value)).toBe(JSON.stringify(expected));
  }
}

const chunk = (text: string, at = 1, id = "m-1"): string =>
  `{"method":"session/update","params":{"id":"${id}","update":{"content":{"type":"text","text":"${text}"},"tags":["a",{"n":${at}}]}},"at":${at}}`;

describe("LineParser", () => {
  it("reads pieces of an answer, whatever their text", () => {
    expectSame(
      ["a", "b", "", "a longer text, of 30 characters", "日本 👩‍💻", "\\n\\u00e9", '\\"', "b", "\\\\"].map((text) => chunk(text)),
    );
  });

  it("reads lines that differ in several places, and go on differing in others", () => {
    expectSame([
      chunk("a", 1),
      chunk("b", 2),
      chunk("c", 30),
      chunk("d", -4),
      chunk("d", 0, "m-2"),
      chunk("e", 12, "m-2"),
      `${chunk("f", 13, "m-2")} `,
      chunk("g", 1.5, "m-2"),
      chunk("h", 1e300, "m-2"),
    ]);
  });

  it("tells numbers apart from what only begins like one", () => {
    for (const odd of ["-0", "1.25", "1e3", "1E3", "12345678901234567890", "true", "null", '"1"', "[]"])
      expectSame(['{"a":1,"b":"x"}', '{"a":2,"b":"y"}', `{"a":${odd},"b":"z"}`, '{"a":3,"b":"z"}']);
  });

  it("takes the last of two equal keys, and __proto__ as a key like others", () => {
    expectSame(['{"a":"1","a":"z"}', '{"a":"2","a":"z"}', '{"a":"3","a":"z"}', '{"a":"3","a":"y"}', '{"a":"4","a":"x"}']);
    expectSame(['{"__proto__":{"a":"1"}}', '{"__proto__":{"a":"2"}}', '{"__proto__":{"a":"3"}}']);
    expectSame(['{"a":{"b":"1"},"a":"z"}', '{"a":{"b":"2"},"a":"z"}', '{"a":{"b":"3"},"a":"z"}']);
  });

  it("refuses what JSON.parse refuses, also where it nearly fits", () => {
    const parser = new LineParser();
    for (const text of ["a", "b", "c"]) parser.parse(chunk(text));
    for (const line of [chunk('a"b'), chunk("tab\there"), chunk("x").slice(0, -1), `${chunk("x")}}`, "", chunk("\\x")])
      expect(() => parser.parse(line)).toThrow(SyntaxError);
    expect(parser.parse(chunk("d"))).toEqual(JSON.parse(chunk("d")));
    const numbers = new LineParser();
    for (const number of ["1", "2", "3"]) numbers.parse(`{"a":${number}}`);
    for (const odd of ["", "-", "01", "1-2", "--1"]) expect(() => numbers.parse(`{"a":${odd}}`)).toThrow(SyntaxError);
  });

  it("makes what lies on the way to a text anew for each line", () => {
    const parser = new LineParser();
    const values = ["a", "b", "c", "d"].map((text) => parser.parse(chunk(text)));
    expect(new Set(values).size).toBe(4);
    const tags = values.map((value) => (value as { params: { update: { tags: unknown } } }).params.update.tags);
    expect(tags[3]).toBe(tags[2]);
    expect(() => Object.assign(tags[3] as object, { 0: "changed" })).toThrow(TypeError);
    expect(values.map((value) => JSON.stringify(value))).toEqual(["a", "b", "c", "d"].map((text) => chunk(text)));
  });

  it("reads any JSON in any order as JSON.parse does", () => {
    const leaf = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.integer(),
      fc.double(),
      fc.constantFrom("", "a", "b", '"', "\\", 0, -1),
    );
    const alike = fc
      .tuple(fc.jsonValue({ maxDepth: 2 }), fc.string(), fc.array(fc.tuple(leaf, leaf, leaf), { minLength: 1, maxLength: 8 }))
      .map(([shared, key, leaves]) =>
        leaves.map(([one, two, three]) => JSON.stringify({ shared, [key]: [one, { deep: { two }, shared }], three })),
      );
    const spaced = fc.jsonValue({ maxDepth: 3 }).map((value) => [JSON.stringify(value, null, 1).replaceAll("\n", " ")]);
    fc.assert(
      fc.property(fc.array(fc.oneof(alike, alike, spaced), { maxLength: 4 }), (groups) => {
        expectSame(groups.flat());
      }),
      { seed: SEED, numRuns: 300 },
    );
  });
});
