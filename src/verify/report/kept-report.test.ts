import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { readVerifyReport } from "../../daemon/verify-reports.ts";
import { emptyResult, type ScenarioResult } from "../scenario-result.ts";
import type { AgentReport } from "../verify-agent.ts";
import { keepReport } from "./kept-report.ts";

const folder = mkdtempSync(join(tmpdir(), "kept-report-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(folder, "data-"));
});

const result = (scenario: string, more: Partial<ScenarioResult> = {}): ScenarioResult => ({
  ...emptyResult("mock", { name: scenario, title: `The ${scenario} one` }),
  ...more,
});
const report = (results: ScenarioResult[], version = "1"): AgentReport => ({
  agent: "mock",
  installed: true,
  version,
  problems: [],
  results,
});
const verdicts = async () =>
  (await readVerifyReport(dataDir, "mock"))?.scenarios.map(({ scenario, verdict }) => [scenario, verdict]);

describe("the kept report", () => {
  it("is private, whole, and says what the daemon shows", async () => {
    const broken = [{ rule: "G3" as const, sequence: 7, event_type: "item.delta", message: "never started" }];
    const first = report([
      result("text", { duration_ms: 12.6, unparsed: 2 }),
      result("edit", { verdict: "failed", broken, unparsed: 3 }),
    ]);
    await keepReport(dataDir, first, new Date(0));
    expect(readdirSync(join(dataDir, "verify"))).toEqual(["mock.json"]);
    expect(statSync(join(dataDir, "verify", "mock.json")).mode & 0o777).toBe(0o600);
    expect(statSync(join(dataDir, "verify")).mode & 0o777).toBe(0o700);
    expect(await readVerifyReport(dataDir, "mock")).toMatchObject({
      version: "1",
      verified_at: "1970-01-01T00:00:00.000Z",
      totals: { passed: 1, failed: 1, hung: 0, skipped: 0, unparsed: 3, broken: 1 },
      scenarios: [
        { scenario: "text", duration_ms: 13 },
        { scenario: "edit", broken: [{ rule: "G3", sequence: 7, message: "never started" }] },
      ],
    });
  });

  it("takes up a second run of some scenarios, and begins anew with another version", async () => {
    await keepReport(dataDir, report([result("text"), result("edit", { verdict: "hung" })]));
    await keepReport(dataDir, report([result("edit")]));
    expect(await verdicts()).toEqual([
      ["text", "passed"],
      ["edit", "passed"],
    ]);
    await keepReport(dataDir, report([result("plan", { verdict: "skipped", failures: ["it has no plans"] })], "2"));
    expect(await verdicts()).toEqual([["plan", "skipped"]]);
  });

  it("stays small whatever an agent says", async () => {
    const failures = Array.from({ length: 500 }, () => "x".repeat(100_000));
    await keepReport(dataDir, report([result("text", { verdict: "failed", failures, tail: failures })]));
    expect(readFileSync(join(dataDir, "verify", "mock.json")).length).toBeLessThan(20_000);
  });

  it("is not there when it is damaged or of another agent", async () => {
    expect(await readVerifyReport(dataDir, "mock")).toBeUndefined();
    await keepReport(dataDir, report([result("text")]));
    const file = join(dataDir, "verify", "mock.json");
    writeFileSync(join(dataDir, "verify", "codex.json"), readFileSync(file));
    expect(await readVerifyReport(dataDir, "codex")).toBeUndefined();
    writeFileSync(file, readFileSync(file, "utf8").slice(0, -20));
    expect(await readVerifyReport(dataDir, "mock")).toBeUndefined();
  });
});
