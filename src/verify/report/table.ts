// The table of `verify`: one line a scenario, and a closing line.
import type { ScenarioResult } from "../scenario-result.ts";
import type { AgentReport } from "../verify-agent.ts";

const NAME = 34;
const columns = ["native", "mapped", "noted", "unparsed", "broken"] as const;

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

export const tableHead = (): string =>
  `${"scenario".padEnd(NAME)}${columns.map((name) => name.padStart(10)).join("")}${"time".padStart(10)}  result\n`;

export function tableLine(result: ScenarioResult): string {
  const counts = [result.native, result.mapped, result.noted, result.unparsed, result.broken.length];
  const name = result.scenario.padEnd(NAME);
  if (result.verdict === "skipped") return `${name}${"".padStart(60)}  skipped: ${result.failures.join("; ")}\n`;
  return `${name}${counts.map((count) => String(count).padStart(10)).join("")}${seconds(result.duration_ms).padStart(10)}  ${result.verdict}\n`;
}

/** Why a scenario did not pass, indented under its line. */
export function failureLines(result: ScenarioResult): string {
  if (result.verdict === "passed" || result.verdict === "skipped") return "";
  const broken = result.broken.map(({ rule, sequence, message }) => `[${rule}] event ${sequence}: ${message}`);
  const lines = [...result.failures, ...broken];
  const tail = result.tail.length > 0 ? ["last events:", ...result.tail.map((line) => `  ${line}`)] : [];
  return [...lines, ...tail].map((line) => `    ${line}\n`).join("");
}

export type Summary = {
  passed: number;
  failed: number;
  skipped: number;
  native: number;
  mapped: number;
  noted: number;
  heartbeat: number;
  /** Those of scenarios that are about such messages, and passed, do not count. */
  unparsed: number;
  broken: number;
};

export function summarize(results: readonly ScenarioResult[]): Summary {
  const sum = (of: (result: ScenarioResult) => number) => results.reduce((total, result) => total + of(result), 0);
  const count = (...verdicts: string[]) => results.filter((result) => verdicts.includes(result.verdict)).length;
  return {
    passed: count("passed"),
    failed: count("failed", "hung"),
    skipped: count("skipped"),
    native: sum((result) => result.native),
    mapped: sum((result) => result.mapped),
    noted: sum((result) => result.noted),
    heartbeat: sum((result) => result.heartbeat),
    unparsed: sum(({ verdict, unparsed }) => (verdict === "passed" ? 0 : unparsed)),
    broken: sum((result) => result.broken.length),
  };
}

export function agentSummary(report: AgentReport): string {
  const { passed, failed, skipped, native, mapped, noted, heartbeat, unparsed, broken } = summarize(report.results);
  const name = `${report.agent}${report.version ? ` ${report.version}` : ""}`;
  return (
    `${name}: ${passed} passed, ${failed} failed, ${skipped} skipped · ${native} native messages: ${mapped} mapped, ${noted} noted, ` +
    `${heartbeat} heartbeats, ${unparsed} unparsed · ${broken} rules broken\n`
  );
}
