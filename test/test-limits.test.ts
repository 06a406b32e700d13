/**
 * Tests on a loaded machine: no test and no group of tests has less time than the default of `vitest.config.ts`. A shorter limit fails there for nothing, and
 * only there.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import config from "../vitest.config.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const LEAST = config.test?.testTimeout ?? 0;

/** `it("…", { timeout: 1_000 }, …)`, and a number behind the body of a test: `}, 1_000);`. */
const LIMITS = [/(?:^|["'`)] ?, )\{\s*timeout: ([0-9_]+)[^}]*\}, (?:async )?\(/gm, /^\s*\}, ([0-9_]+)\);$/gm];

it("have no shorter limit than the others", () => {
  expect(LEAST).toBeGreaterThan(0);
  const files = execFileSync("git", ["ls-files", "src", "test"], { cwd: ROOT, encoding: "utf8" })
    .split("\n")
    .filter((file) => /\.(test|suite)\.ts$|-cases\.ts$/.test(file));
  const short = files.flatMap((file) => {
    const text = readFileSync(`${ROOT}/${file}`, "utf8");
    return LIMITS.flatMap((pattern) => [...text.matchAll(pattern)])
      .filter((match) => Number(match[1]?.replaceAll("_", "")) < LEAST)
      .map((match) => `${file}: ${match[0].trim()}`);
  });
  expect(short).toEqual([]);
});
