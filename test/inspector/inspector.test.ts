// The inspector in a real browser, against a real daemon with the mock agent.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { accessCases } from "./access-cases.ts";
import { accessibilityCases } from "./accessibility-cases.ts";
import { composerCases } from "./composer-cases.ts";
import { debuggingCases } from "./debugging-cases.ts";
import { layoutCases } from "./layout-cases.ts";
import { listCases } from "./list-cases.ts";
import { requestCases } from "./request-cases.ts";
import { robustnessCases } from "./robustness-cases.ts";
import { sharingCases } from "./sharing-cases.ts";
import { terminalCases } from "./terminal-cases.ts";
import { transcriptCases } from "./transcript-cases.ts";
import { hasBrowser, World } from "./world.ts";

if (!hasBrowser && process.env.CI) throw new Error("Chromium is missing: apt-get install chromium, or set CHROMIUM_PATH.");

describe.skipIf(!hasBrowser)(`inspector${hasBrowser ? "" : " (skipped: install chromium or set CHROMIUM_PATH)"}`, () => {
  const world = new World();

  beforeAll(() => world.start());
  afterAll(() => world.stop());
  afterEach(async () => {
    await world.closeOthers();
    expect(world.faults.splice(0)).toEqual([]);
  });

  describe("transcript", () => transcriptCases(world));
  describe("composer", () => composerCases(world));
  describe("list", () => listCases(world));
  describe("requests", () => requestCases(world));
  describe("access", () => accessCases(world));
  describe("layout", () => layoutCases(world));
  describe("terminal", () => terminalCases(world));
  describe("debugging", () => debuggingCases(world));
  describe("sharing", () => sharingCases(world));
  describe("accessibility", () => accessibilityCases(world));
  describe("robustness", () => robustnessCases(world));

  it("has nothing left to complain about", () => expect(world.faults).toEqual([]));
});
