import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SearchHit } from "../schema/search.ts";
import { hitText } from "./commands/search.ts";
import { plainText } from "./output.ts";
import { paintFor, table } from "./style.ts";
import { columnsOf, cut, tableColumns, width, wrap } from "./text-layout.ts";

const paint = paintFor({ isTTY: true }, {});
const text = fc
  .array(fc.oneof(fc.constantFrom("a", "word ", "日本", "🙂", " ", paint.red("red"), "e\u0301", "longerword")), { maxLength: 30 })
  .map((parts) => parts.join(""));

describe("layout", () => {
  it("cuts to a width, whatever the letters and colours, and closes the colours", () => {
    expect(cut("abcdef", 4)).toBe("abc…");
    expect(cut("日本語", 4)).toBe("日…");
    expect(plainText(cut(paint.red("abcdef"), 4))).toBe("abc…");
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 20 }), (line, columns) => {
        expect(width(cut(line, columns))).toBeLessThanOrEqual(columns);
        expect(cut(line, columns).split(paint.red("|").split("|")[1] ?? "").length).toBe(
          line.split(paint.red("|").split("|")[1] ?? "").length,
        );
      }),
    );
  });

  it("breaks lines at spaces, loses no letter, and makes none too long", () => {
    expect(wrap("one two three four", 9, "  ")).toEqual(["one two", "  three", "  four"]);
    fc.assert(
      fc.property(text, fc.integer({ min: 4, max: 20 }), (line, columns) => {
        const lines = wrap(line, columns);
        expect(lines.every((each) => width(each) <= columns)).toBe(true);
        expect(lines.join("").replace(/\s/g, "")).toBe(line.replace(/\s/g, ""));
      }),
    );
  });

  it("knows how wide a screen is: 80 in a pipe unless COLUMNS says otherwise, and tables in a pipe are not cut", () => {
    expect([columnsOf({ columns: 120 }, {}), columnsOf({}, {}), columnsOf({}, { COLUMNS: "200" })]).toEqual([120, 80, 200]);
    expect([tableColumns({ columns: 120 }, {}), tableColumns({}, {})]).toEqual([120, Number.POSITIVE_INFINITY]);
  });

  it("fits a table to a width: the widest cells are cut, the first column never, columns may be left away", () => {
    const head = ["ID", "TITLE", "DIRECTORY"];
    const rows = [["sess_0123456789", "a title that is rather long", "/a/directory/that/is/long/too"]];
    const plain = { ...paint, dim: (each: string) => each };
    expect(table(head, rows, plain, { columns: 50 }).split("\n")).toEqual([
      "ID               TITLE            DIRECTORY",
      "sess_0123456789  a title that i…  /a/directory/th…",
    ]);
    const narrow = table(head, rows, plain, { columns: 30, drop: ["DIRECTORY"] }).split("\n");
    expect(narrow).toEqual(["ID               TITLE", "sess_0123456789  a title that…"]);
  });

  it("leaves a column away rather than a word of every title", () => {
    const head = ["ID", "STATUS", "TITLE", "DIRECTORY"];
    const rows = [["sess_01m7r2745zm4zkm00000", "waiting for you", "Fix the failing parser tests", "/home/me/work/parser"]];
    const drop = ["DIRECTORY"];
    expect(plainText(table(head, rows, paint, { columns: 74, drop })).split("\n")).toEqual([
      "ID                         STATUS           TITLE",
      "sess_01m7r2745zm4zkm00000  waiting for you  Fix the failing parser tests",
    ]);
  });

  it("breaks what a search found between words, on a screen", () => {
    const hit = {
      session_id: "sess_01m7r2745zm4zkm00000",
      agent: "mock",
      title: "Fix the failing parser tests",
      sequence: 7,
      time: "2026-11-18T19:26:32.065Z",
      kind: "tool" as const,
      snippet: "+++ b/hello.txt -hello +hello world again",
      highlights: [{ start: 17, end: 22 }],
    } as SearchHit;
    const [head, ...said] = plainText(hitText(hit, paint, 32)).split("\n");
    expect(said).toEqual(["  tool: +++ b/hello.txt -hello", "  +hello world again"]);
    expect(head).toHaveLength(32);
    expect(plainText(hitText(hit, paint, Number.POSITIVE_INFINITY)).split("\n")[1]).toBe(`  tool: ${hit.snippet}`);
  });
});
