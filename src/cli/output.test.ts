import { PassThrough } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exact, exactLine, Output, plainText } from "./output.ts";
import { paintFor, table } from "./style.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are made of them
const OUR_COLOURS = /\u001b\[(?:1|2|3|4|22|23|24|31|32|33|36|39)m/g;
const CONTROLS = /(?![\n\t])\p{Cc}/u;
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 6 }),
      fc.constantFrom("\u001b[31m", "\u001b]52;c;eA==\u0007", "\u009b2J", "\u0001", "\u202e"),
    ),
  )
  .map((parts) => parts.join(""));

function written(isTTY: boolean, write: (output: Output) => void): string {
  const device = Object.assign(new PassThrough(), { isTTY });
  write(new Output(device));
  return (device.read() as Buffer | null)?.toString("utf8") ?? "";
}

describe("the output of a command", () => {
  it("passes no control character of any text, to a terminal or a pipe", () => {
    fc.assert(
      fc.property(hostile, fc.boolean(), (text, isTTY) => {
        const bytes = written(isTTY, (output) => {
          output.write(text);
          output.write(table(["A", "B"], [[text, exact(text)]], paintFor({ isTTY }, {})));
          output.writeBytes(Buffer.from(isTTY ? text : ""), () => {});
        });
        expect(CONTROLS.test(isTTY ? bytes.replace(OUR_COLOURS, "") : bytes)).toBe(false);
      }),
    );
  });

  it("keeps our own colours, and nobody else's, even when they look the same", () => {
    const paint = paintFor({ isTTY: true }, {});
    const text = written(true, (output) => output.write(`${paint.red("bad")} \u001b[32mgood\u001b[39m`));
    expect(text).toBe("\u001b[31mbad\u001b[39m good");
    expect(written(false, (output) => output.write(paintFor({ isTTY: false }, {}).red("bad")))).toBe("bad");
  });

  it("counts widths without colours and puts every cell on one line", () => {
    const paint = paintFor({ isTTY: true }, {});
    expect(plainText(paint.bold("four"))).toBe("four");
    const rows = table(["A", "B"], [["x\ny", paint.green("z\u202e")]], { ...paint, dim: (text) => text }).split("\n");
    expect(rows.map(plainText)).toEqual(["A    B", "x␊y  z⟦U+202E⟧"]);
    expect(exactLine("a\r\nb")).toBe("a␍␊b");
  });

  it("gives bytes to a pipe as they are, and shows them as text on a terminal", () => {
    const bytes = Buffer.from([0x1b, 0x5b, 0x32, 0x4a, 0xff, 0x00]);
    const device = Object.assign(new PassThrough(), { isTTY: false });
    new Output(device).writeBytes(bytes, () => {});
    expect(device.read()).toEqual(bytes);
    expect(written(true, (output) => output.writeBytes(bytes, () => {}))).toBe("␛[2J\ufffd␀");
  });
});
