// The table of attacks in docs/security.md: each row names its tests, and they are there.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const rows = readFileSync(join(ROOT, "docs/security.md"), "utf8")
  .split("\n")
  .flatMap((line) => {
    const [, number, attack, tests] = /^\| (\d+) \| (.+?) \| (.+) \|$/.exec(line) ?? [];
    return number && attack && tests ? [{ number: Number(number), attack, tests }] : [];
  });

/** A file in backticks, and the titles in quotation marks after it. `…` stands for what is left out. */
const named = (tests: string): { file: string; titles: string[] }[] =>
  [...tests.matchAll(/`((?:src|test)\/[^`]+)`([^`]*)/g)].map(([, file = "", after = ""]) => ({
    file,
    titles: [...after.matchAll(/"([^"]+)"/g)].map(([, title = ""]) => title),
  }));

it("has all attacks, numbered without a gap, and a test for each", () => {
  expect(rows.length).toBeGreaterThanOrEqual(33);
  expect(rows.map(({ number }) => number)).toEqual(rows.map((_, index) => index + 1));
  for (const { number, tests } of rows) expect({ number, tests: named(tests).length }).not.toEqual({ number, tests: 0 });
});

it.each(rows)("names tests that exist: $number $attack", ({ tests }) => {
  for (const { file, titles } of named(tests)) {
    expect({ file, exists: existsSync(join(ROOT, file)) }).toEqual({ file, exists: true });
    const text = readFileSync(join(ROOT, file), "utf8");
    for (const title of titles)
      for (const piece of title.split("…")) expect({ file, piece, found: text.includes(piece) }).toMatchObject({ found: true });
  }
});
