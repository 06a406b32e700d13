import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MarkdownStream, renderMarkdown } from "./markdown.ts";
import { plainText } from "./output.ts";
import { paintFor } from "./style.ts";

const paint = paintFor({ isTTY: true }, {});
const style = { paint, columns: 40 };
const shown = (text: string): string => plainText(renderMarkdown(text, style));

const TEXT = `# The plan

A paragraph with **bold**, \`code\` and a
[link](https://example.org/x).

- one
- two, which is long enough to go on in a second line
  1. inner
- [x] done

> quoted

\`\`\`ts
const answer = 42;

export { answer };
\`\`\`

| name | value |
| --- | --- |
| a | 1 |
`;

describe("Markdown on a terminal", () => {
  it("is laid out: headings, lists, quotes, code, tables, addresses of links", () => {
    expect(shown(TEXT).split("\n")).toEqual([
      "The plan",
      "",
      "A paragraph with bold, code and a link",
      "(https://example.org/x).",
      "",
      "• one",
      "• two, which is long enough to go on in",
      "  a second line",
      "  1. inner",
      "• ✔ done",
      "",
      "│ quoted",
      "",
      "    const answer = 42;",
      "",
      "    export { answer };",
      "",
      "name  value",
      "a     1",
    ]);
    expect(renderMarkdown("**b**", style)).toBe(paint.bold("b"));
    expect(renderMarkdown("`c`", style)).toBe(paint.cyan("c"));
  });

  it("is the same whether it comes at once or in pieces, and a block is printed before the next one ends", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 80 }), (sizes) => {
        const stream = new MarkdownStream(() => style);
        let printed = "";
        let at = 0;
        for (const size of sizes) {
          printed += stream.push(TEXT.slice(at, at + size));
          at += size;
        }
        printed += stream.push(TEXT.slice(at)) + stream.end();
        expect(printed).toBe(`${renderMarkdown(TEXT, style)}\n`);
      }),
    );
    const stream = new MarkdownStream(() => style);
    expect(plainText(stream.push("first\n\nsec"))).toBe("first\n");
    expect(stream.tail).toBe("sec");
    expect(plainText(stream.push("ond") + stream.end())).toBe("\nsecond\n");
  });

  it("shows HTML and unfinished marks as they are", () => {
    expect(shown("<script>x</script> **never closed")).toBe("<script>x</script> **never closed");
  });
});
