import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { qrCode, qrModules } from "./qr-code.ts";

const ofLength = (length: number): string =>
  Array.from({ length }, (_, at) => String.fromCharCode(97 + ((at * 7) % 26))).join("");
const hash = (modules: boolean[][]): string =>
  createHash("sha256")
    .update(modules.map((row) => row.map(Number).join("")).join("\n"))
    .digest("hex")
    .slice(0, 16);

/** Read back as a phone does: what is dark, row by row. */
const printed = (text: string): boolean[][] =>
  text
    .split("\n")
    .flatMap((line) => [Array.from(line, (each) => " ▄".includes(each)), Array.from(line, (each) => " ▀".includes(each))]);

// Each was compared, module by module, with the codes of uqr 0.1.3, with every mask.
it.each([
  [33, 1, "59c8c5e934cba3ee"],
  [60, 2, "c79f528c85d4d0d6"],
  [80, 3, "c84713b759a22f61"],
  [107, 4, "93239c882eefa98f"],
  [140, 5, "e3bf4dec7f37de92"],
  [170, 6, "c71644ec58d35bd1"],
  [200, 7, "49ab00f91866ba58"],
  [230, 0, "4c8410b110a20981"],
] as const)("is the code of the standard: %i bytes, mask %i", (length, mask, known) => {
  expect(hash(qrModules(ofLength(length), mask))).toBe(known);
});

it("prints every module, with quiet space around them", () => {
  const modules = qrModules("https://build.example/ui#link=abc");
  const shown = printed(qrCode("https://build.example/ui#link=abc"));
  expect(shown.slice(2, 2 + modules.length).map((row) => row.slice(2, -2))).toEqual(modules);
  expect([shown[0], shown[1]].flat().some(Boolean)).toBe(false);
});

it("chooses a mask, and refuses what does not fit", () => {
  const all = Array.from({ length: 8 }, (_, mask) => hash(qrModules("dragoman", mask)));
  expect(all).toContain(hash(qrModules("dragoman")));
  expect(() => qrModules(ofLength(231))).toThrow("at most 230 bytes");
});
