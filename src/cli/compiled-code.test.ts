/** The cache of compiled code: made only in a data directory that is there, and of one build. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import * as nodeModule from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { storeCompiledCode, takeCompiledCode } from "./compiled-code.ts";

const folder = mkdtempSync(join(tmpdir(), "dragoman-code-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const able = "enableCompileCache" in nodeModule;

it("makes no data directory", () => {
  takeCompiledCode(join(folder, "none"));
  expect(existsSync(join(folder, "none"))).toBe(false);
});

it.skipIf(able)("is left out by a Node that has none", () => {
  takeCompiledCode(folder);
  storeCompiledCode();
  expect(readdirSync(folder)).toEqual([]);
});

it.skipIf(!able)("keeps what this build compiled, and removes what another one left", () => {
  const left = join(folder, "code-cache", "1");
  mkdirSync(left, { recursive: true });
  writeFileSync(join(left, "old"), "");
  takeCompiledCode(folder);
  storeCompiledCode();
  expect(readdirSync(join(folder, "code-cache"))).toEqual([expect.stringMatching(/^\d{5,}$/)]);
});
