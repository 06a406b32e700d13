import { describe, expect, it } from "vitest";
import { STDERR_LINE_BYTES, StderrTail } from "./stderr-tail.ts";

const numbered = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => `line ${from + i}`);

function tailOf(text: string | Buffer): StderrTail {
  const tail = new StderrTail();
  tail.push(Buffer.from(text));
  return tail;
}

describe("StderrTail", () => {
  it("is empty at first", () => {
    expect(new StderrTail().output()).toEqual({ head: null, tail: null, truncated: false, total_lines: 0 });
  });

  it("keeps all of up to 70 lines, blank ones too", () => {
    const lines = ["", ...numbered(2, 70)];
    expect(tailOf(`${lines.join("\r\n")}\n`).output()).toEqual({
      head: lines.join("\n"),
      tail: null,
      truncated: false,
      total_lines: 70,
    });
  });

  it.each([71, 72, 119, 120, 121, 1_000])("keeps the first 20 and the last 50 of %i lines", (total) => {
    expect(tailOf(`${numbered(1, total).join("\n")}\n`).output()).toEqual({
      head: numbered(1, 20).join("\n"),
      tail: numbered(total - 49, total).join("\n"),
      truncated: true,
      total_lines: total,
    });
  });

  it("counts an unfinished last line, before and after the end", () => {
    const tail = tailOf(`${numbered(1, 70).join("\n")}\nlast words`);
    const expected = {
      head: numbered(1, 20).join("\n"),
      tail: [...numbered(22, 70), "last words"].join("\n"),
      truncated: true,
      total_lines: 71,
    };
    expect(tail.output()).toEqual(expected);
    tail.end();
    expect(tail.output()).toEqual(expected);
  });

  it("cuts long lines and says by how much", () => {
    const seen: string[] = [];
    const tail = new StderrTail((line) => seen.push(line));
    for (let i = 0; i < 100; i++) tail.push(Buffer.alloc(1_000_000, "x"));
    tail.push(Buffer.from("\nshort\n"));
    const cut = `${"x".repeat(STDERR_LINE_BYTES)}… [${100_000_000 - STDERR_LINE_BYTES} more bytes]`;
    expect(seen).toEqual([cut, "short"]);
    expect(tail.output()).toEqual({ head: `${cut}\nshort`, tail: null, truncated: false, total_lines: 2 });
  });

  it("keeps characters whole that were split between chunks", () => {
    const tail = new StderrTail();
    for (const byte of Buffer.from("Fehler: ungültig 💥\n")) tail.push(Buffer.from([byte]));
    expect(tail.output().head).toBe("Fehler: ungültig 💥");
  });
});
