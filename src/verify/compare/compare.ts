/**
 * Holds the same scenario of several agents side by side. The story that most of them report is the common one; every line in which another agent differs must
 * be explained in its table of accepted differences. What nothing explains is a fault.
 */
import { diffArrays } from "diff";
import type { AcceptedDifference } from "../../agents/kit/verify/differences.ts";
import type { AgentReport } from "../verify-agent.ts";

export type Deviation = {
  agent: string;
  /** `- ` a line of the common story that is missing, `+ ` one that is more. */
  line: string;
  /** Null: nothing explains it. */
  reason: string | null;
};

export type Comparison = {
  scenario: string;
  /** Agents that report the common story, and all that were compared. */
  same: string[];
  agents: string[];
  shape: string[];
  deviations: Deviation[];
};

type Told = { agent: string; version: string | null; shape: string[] };

/** Of the scenarios that at least two agents played to their end. `differencesOf`: the table of an agent. */
export function compareReports(
  reports: readonly AgentReport[],
  isCommon: (scenario: string) => boolean,
  differencesOf: (agent: string) => readonly AcceptedDifference[],
): Comparison[] {
  const scenarios = new Map<string, Told[]>();
  for (const { agent, version, results } of newest(reports))
    for (const result of results) {
      if (result.verdict !== "passed" || !isCommon(result.scenario)) continue;
      const told = { agent, version, shape: inAnyOrder(result.shape) };
      scenarios.set(result.scenario, [...(scenarios.get(result.scenario) ?? []), told]);
    }
  return [...scenarios]
    .filter(([, told]) => told.length > 1)
    .map(([scenario, told]) => compareScenario(scenario, told, differencesOf));
}

/** Results of calls that ran at the same time come as they come: neighbours are sorted. */
function inAnyOrder(shape: readonly string[]): string[] {
  const isResult = (line: string): boolean => line.startsWith("item tool_result");
  const sorted: string[] = [];
  for (let at = 0; at < shape.length; ) {
    let end = at + 1;
    while (isResult(shape[at] ?? "") && isResult(shape[end] ?? "")) end++;
    sorted.push(...shape.slice(at, end).sort());
    at = end;
  }
  return sorted;
}

/** An agent that is there in two versions is compared in the last one. */
function newest(reports: readonly AgentReport[]): AgentReport[] {
  return [...new Map(reports.map((report) => [report.agent, report])).values()];
}

export function compareScenario(
  scenario: string,
  told: readonly Told[],
  differencesOf: (agent: string) => readonly AcceptedDifference[],
): Comparison {
  const shape = commonShape(told);
  const isSame = (other: readonly string[]): boolean => other.join("\n") === shape.join("\n");
  return {
    scenario,
    shape,
    agents: told.map(({ agent }) => agent),
    same: told.filter((one) => isSame(one.shape)).map(({ agent }) => agent),
    deviations: told.flatMap((one) => {
      const accepted = differencesOf(one.agent).filter((difference) => isAbout(difference, scenario, one.version));
      return deviationsOf(shape, one.shape).map((line) => ({ agent: one.agent, line, reason: reasonFor(line, accepted) }));
    }),
  };
}

/** Reported by most agents; of several, by the first one. */
function commonShape(told: readonly Told[]): string[] {
  const counts = new Map<string, { shape: string[]; count: number }>();
  for (const { shape } of told) {
    const name = shape.join("\n");
    const known = counts.get(name) ?? { shape, count: 0 };
    known.count++;
    counts.set(name, known);
  }
  let best: { shape: string[]; count: number } = { shape: [], count: 0 };
  for (const each of counts.values()) if (each.count > best.count) best = each;
  return best.shape;
}

const deviationsOf = (common: string[], shape: string[]): string[] =>
  diffArrays(common, shape).flatMap(({ added, removed, value }) =>
    added ? value.map((line) => `+ ${line}`) : removed ? value.map((line) => `- ${line}`) : [],
  );

const fits = (name: string, pattern: string): boolean =>
  pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;

const isAbout = ({ scenarios, version }: AcceptedDifference, scenario: string, installed: string | null): boolean =>
  scenarios.some((name) => fits(scenario, name)) && (version === undefined || (installed ?? "").startsWith(version));

function reasonFor(line: string, accepted: readonly AcceptedDifference[]): string | null {
  const [missing, name] = [line.startsWith("- "), line.slice(2)];
  const found = accepted.find(({ lacks, adds }) => (missing ? lacks : adds)?.some((pattern) => fits(name, pattern)));
  return found?.reason ?? null;
}

/** Sentences about what nothing explains. */
export const unexplained = (comparisons: readonly Comparison[]): string[] =>
  comparisons.flatMap(({ scenario, deviations }) =>
    deviations.flatMap(({ agent, line, reason }) => (reason === null ? [`${scenario}: ${agent} ${line}`] : [])),
  );

/** The stories, each once, with every agent that reports it differently. */
export function comparisonText(comparisons: readonly Comparison[]): string {
  return comparisons.map(scenarioText).join("\n");
}

function scenarioText({ scenario, shape, same, agents, deviations }: Comparison): string {
  const others = agents.filter((agent) => !same.includes(agent));
  const lines = [`${scenario}: ${same.join(", ")}`, ...shape.map((line) => `    ${line}`)];
  for (const agent of others) {
    lines.push(`  ${agent}`);
    for (const { line, reason } of deviations.filter((deviation) => deviation.agent === agent))
      lines.push(`    ${line}  (${reason ?? "UNEXPLAINED"})`);
  }
  return `${lines.join("\n")}\n`;
}
