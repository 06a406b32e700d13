import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  editableJson,
  escapedJson,
  printableJson,
  visibleLine,
  visibleParts,
  visibleText,
  withoutControls,
  withoutReordering,
} from "./visible-text.ts";

const CONTROLS = /(?![\n\t])\p{Cc}/u;
const HIDDEN =
  /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/u;
/** Any characters, and many of those this is about. */
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 8 }),
      fc.integer({ min: 0, max: 0xa0 }).map((code) => String.fromCharCode(code)),
      fc.constantFrom(
        "\u202e",
        "\u2066",
        "\u200b",
        "\u2028",
        "\ufeff",
        "\u00ad",
        "\u{e0041}",
        "\u001b]52;c;",
        "\u009d0;",
        "\u001b[31m",
      ),
    ),
  )
  .map((parts) => parts.join(""));

describe("text that may hide something", () => {
  it("spells out what reorders or cannot be seen, and leaves the rest", () => {
    expect(visibleText("rm -rf \u202egnp.\u202c")).toBe("rm -rf ⟦U+202E⟧gnp.⟦U+202C⟧");
    expect(visibleText("a\u200bb\u2066c\u2069\ufeff\u00ad\u2028\u{e0041}")).toBe(
      "a⟦U+200B⟧b⟦U+2066⟧c⟦U+2069⟧⟦U+FEFF⟧⟦U+00AD⟧⟦U+2028⟧⟦U+E0041⟧",
    );
    expect(visibleText("\u001b]0;x\u0007\u009b2J\u007f\r")).toBe("␛]0;x␇⟦U+009B⟧2J␡␍");
    expect(visibleText("Grüße, שלום, 你好\n\tokay")).toBe("Grüße, שלום, 你好\n\tokay");
    expect(visibleLine("one\ntwo\tthree")).toBe("one␊two three");
  });

  it("leaves a selector that chooses the picture of a symbol, and spells out one that carries data", () => {
    expect(visibleText("❤\ufe0f 1\ufe0f\u20e3")).toBe("❤\ufe0f 1\ufe0f\u20e3");
    expect(visibleText("a\ufe0f1\ufe0fx\u{e0100}")).toBe("a⟦U+FE0F⟧1⟦U+FE0F⟧x⟦U+E0100⟧");
  });

  it("says which parts were spelled out", () => {
    expect(visibleParts("a\u202eb")).toEqual([
      { text: "a", hidden: false },
      { text: "⟦U+202E⟧", hidden: true },
      { text: "b", hidden: false },
    ]);
  });

  it("leaves nothing hidden in any text", () => {
    fc.assert(fc.property(hostile, (text) => !HIDDEN.test(visibleText(text)) && !/[\n\t]/.test(visibleLine(text))));
  });

  it("leaves no control character in any text but tab and line feed", () => {
    fc.assert(fc.property(hostile, (text) => !CONTROLS.test(withoutControls(text))));
    fc.assert(fc.property(hostile, (text) => !/[\u202a-\u202e\u2066-\u2069]/.test(withoutReordering(text))));
    expect(withoutControls("\u001b[1;31mred\u001b[0m\r\nnext")).toBe("red\nnext");
  });

  it("prints any JSON without control characters, and it is the same JSON", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const value = { [text]: [text] };
        for (const json of [printableJson(value), escapedJson(JSON.stringify(value)), editableJson(value)]) {
          expect(JSON.parse(json)).toEqual(value);
          expect(CONTROLS.test(json)).toBe(false);
        }
        expect(HIDDEN.test(editableJson(value))).toBe(false);
      }),
    );
  });
});
