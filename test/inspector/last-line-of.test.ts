// The last line of a session in the list: whole words of the end of a text, without marks of Markdown.
import { describe, expect, it } from "vitest";
import { lastLineOf } from "../../inspector/src/state/last-line-of.ts";

describe("the last line", () => {
  it("is the last one of several, without marks", () => {
    expect(lastLineOf("First.\n\n- the **second** in `code`\n")).toBe("the second in code");
  });

  it("of a long paragraph begins with a sentence", () => {
    const sentence = "I check every link of the site, one after the other. ";
    const line = lastLineOf(sentence.repeat(12));
    expect(line.startsWith("I check every link")).toBe(true);
    expect(line.length).toBeLessThanOrEqual(200);
    expect(lastLineOf(`${sentence.repeat(12)}Now the la`).endsWith("Now the la")).toBe(true);
  });

  it("of one long sentence begins with a word", () => {
    expect(lastLineOf(`${"word ".repeat(100)}end`)).toMatch(/^… word .* end$/);
    expect(lastLineOf("x".repeat(500))).toBe(`… ${"x".repeat(200)}`);
  });
});
