// The last line of a session in the list: whole words of the end of a text, without marks of Markdown.
import { describe, expect, it } from "vitest";
import { lastLineOf, lineOf } from "../../inspector/src/state/last-line-of.ts";
import type { Item } from "../../src/schema/item.ts";

describe("the last line", () => {
  it("is the last one of several, without marks", () => {
    expect(lastLineOf("First.\n\n- the **second** in `code`\n")).toBe("the second in code");
  });

  it("is a line of words, not of a table or of code, unless there is nothing else", () => {
    const table = "| file | change |\n|---|---|\n| sum.mjs | `-` is `+` |";
    expect(lastLineOf(`The test passes now.\n\n${table}\n`)).toBe("The test passes now.");
    expect(lastLineOf("It has to add:\n\n```js\na + b\n```\n")).toBe("It has to add:");
    expect(lastLineOf("```js\na + b\n```\nThat is all.")).toBe("That is all.");
    expect(lastLineOf("```js\na + b\n```")).toBe("a + b");
    expect(lastLineOf(table)).toBe("sum.mjs | - is + |");
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

  it("of a call is what its card says, and of a question what it asks", () => {
    const lineIn = (part: object, status = "in_progress") =>
      lineOf({ kind: "tool_call", status, content: [{ type: "tool_call", call_id: "c", ...part }] } as unknown as Item);
    const line = (part: object, status?: string) => lineIn(part, status)?.text;
    const search = { name: "web_search", tool_kind: "web_search", arguments: '{"query":"dead links"}' };
    expect(line(search)).toBe("Searching the web dead links");
    expect(line({ name: "bash", tool_kind: "shell", arguments: '{"command":"npm test"}' }, "completed")).toBe("Ran npm test");
    expect(lineIn({ name: "bash", tool_kind: "shell", arguments: '{"command":"npm test"}' })?.asked).toBe(
      "Wants to run npm test",
    );
    const ask = {
      name: "ask",
      tool_kind: "question",
      arguments: '{"questions":[{"question":"Which colour?"},{"question":"Why?"}]}',
    };
    expect(line(ask)).toBe("Which colour?");
  });
});
