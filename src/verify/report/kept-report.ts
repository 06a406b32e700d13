// What is kept of a run for the daemon to show: verdicts, counts and reasons, bounded. Traces and the tails of events are not.
import { readVerifyReport, writeVerifyReport } from "../../daemon/verify-reports.ts";
import type { VerifyReport, VerifyScenario } from "../../schema/session.ts";
import type { ScenarioResult } from "../scenario-result.ts";
import type { AgentReport } from "../verify-agent.ts";

const MOST_SCENARIOS = 1_000;
const MOST_LINES = 20;
const LONGEST_LINE = 500;

/** A run of some scenarios replaces those in the report of the same version, and leaves the others; another version begins anew. */
export async function keepReport(dataDir: string, report: AgentReport, now = new Date()): Promise<VerifyReport> {
  const before = await readVerifyReport(dataDir, report.agent);
  const kept = keptReport(report, before?.version === report.version ? before : undefined, now.toISOString());
  await writeVerifyReport(dataDir, kept);
  return kept;
}

export function keptReport(report: AgentReport, before: VerifyReport | undefined, verified_at: string): VerifyReport {
  const scenarios = new Map((before?.scenarios ?? []).map((scenario) => [scenario.scenario, scenario]));
  for (const result of report.results) scenarios.set(result.scenario, keptScenario(result, verified_at));
  const all = [...scenarios.values()].slice(-MOST_SCENARIOS);
  return {
    agent: report.agent,
    version: report.version,
    verified_at,
    totals: totalsOf(all),
    problems: lines(report.problems),
    scenarios: all,
  };
}

const keptScenario = (result: ScenarioResult, verified_at: string): VerifyScenario => ({
  scenario: result.scenario,
  title: result.title,
  verdict: result.verdict,
  verified_at,
  duration_ms: Math.round(result.duration_ms),
  native: result.native,
  mapped: result.mapped,
  noted: result.noted,
  heartbeat: result.heartbeat,
  unparsed: result.unparsed,
  broken: result.broken
    .slice(0, MOST_LINES)
    .map(({ rule, sequence, message }) => ({ rule, sequence, message: message.slice(0, LONGEST_LINE) })),
  reasons: lines(result.failures),
});

const lines = (all: readonly string[]): string[] => all.slice(0, MOST_LINES).map((line) => line.slice(0, LONGEST_LINE));

/** A scenario that is about messages nobody understands passes when they are kept as such: only what no scenario expects counts as unparsed. */
function totalsOf(scenarios: readonly VerifyScenario[]): VerifyReport["totals"] {
  const totals = { passed: 0, failed: 0, hung: 0, skipped: 0, unparsed: 0, broken: 0 };
  for (const { verdict, unparsed, broken } of scenarios) {
    totals[verdict]++;
    totals.unparsed += verdict === "passed" ? 0 : unparsed;
    totals.broken += broken.length;
  }
  return totals;
}
