// `dragoman verify`: runs scenarios with installed agents, prints what came of them, and says by its exit code whether all is understood.
import { builtInAgents } from "../agents/registry.ts";
import { printableJson } from "../schema/visible-text.ts";
import type { CommandIo } from "./command-io.ts";
import { type Comparison, compareReports, comparisonText, unexplained } from "./compare/compare.ts";
import { comparedScenarios } from "./compare/scenarios.ts";
import { closeOpenLabs } from "./lab.ts";
import { verifyProfiles } from "./profiles.ts";
import { recordTraces } from "./record.ts";
import { keepReport } from "./report/kept-report.ts";
import { Progress } from "./report/progress.ts";
import { agentSummary, failureLines, summarize, tableHead, tableLine } from "./report/table.ts";
import { randomScenario } from "./scenario/random.ts";
import type { ScenarioResult } from "./scenario-result.ts";
import { type AgentReport, verifyAgent } from "./verify-agent.ts";

export type VerifyCommandOptions = {
  /** Ids; empty: every installed agent that need not be named. */
  agents: readonly string[];
  /** Names, or beginnings that end with `*`; `random-7` is made up from its number; empty: all that are known. */
  scenario?: readonly string[];
  json?: boolean;
  /** Folder for traces. */
  record?: string;
  parallel?: number;
  /** Only the scenarios that are compared, and what the agents say side by side. */
  compare?: boolean;
  /** For one scenario. */
  timeLimitMs?: number;
  /** The daemon's data directory: the last report of each agent is kept there for it to show. */
  dataDir?: string;
};

/** 0: all passed. 1: something is unparsed, broken or failed, or a named agent is not installed. 2: the question makes no sense. */
export async function verifyCommand(options: VerifyCommandOptions, io: CommandIo): Promise<number> {
  const unknown = options.agents.filter((id) => !verifyProfiles.has(id));
  if (unknown.length > 0) {
    const known = [...verifyProfiles.keys()].join(", ");
    io.stderr.write(`Cannot verify ${unknown.join(", ")}. Agents with scenarios: ${known}.\n`);
    return 2;
  }
  const breakOff = () => void closeOpenLabs().finally(() => process.exit(130));
  process.once("SIGINT", breakOff).once("SIGTERM", breakOff);
  try {
    return conclude(await verifyAgents(options, io), options, io);
  } finally {
    process.off("SIGINT", breakOff).off("SIGTERM", breakOff);
  }
}

/** One agent after the other, because they share what is global in this process. Prints as it goes. */
export async function verifyAgents(options: VerifyCommandOptions, io: CommandIo): Promise<AgentReport[]> {
  const named = options.agents.length > 0;
  const ids = named
    ? options.agents
    : [...verifyProfiles.values()].filter(({ onlyByName }) => !onlyByName).map(({ agent }) => agent);
  const reports: AgentReport[] = [];
  for (const id of ids) {
    const report = await verifyOne(id, options, io);
    await keep(report, options, io);
    if (report.installed || named) reports.push(report);
  }
  return reports;
}

/** A report that cannot be kept is no fault of the agent. */
async function keep(report: AgentReport, { dataDir }: VerifyCommandOptions, io: CommandIo): Promise<void> {
  if (dataDir === undefined || !report.installed) return;
  try {
    await keepReport(dataDir, report);
  } catch (error) {
    io.stderr.write(`The report could not be kept in ${dataDir}: ${error instanceof Error ? error.message : String(error)}\n`);
  }
}

async function verifyOne(id: string, options: VerifyCommandOptions, io: CommandIo): Promise<AgentReport> {
  const agent = builtInAgents.find((one) => one.id === id);
  const profile = verifyProfiles.get(id);
  if (!agent || !profile) throw new Error(`There is no agent ${id}.`);
  const out = options.json ? io.stderr : io.stdout;
  const progress = new Progress(io.stderr);
  const only = options.scenario ?? [];
  const random = only.flatMap((name) => randomScenario(name) ?? []);
  let version: string | null = null;
  const recorded: Promise<unknown>[] = [];
  const report = await verifyAgent({
    agent,
    // The others stay: a sub-agent's side is played from them.
    profile: { ...profile, scenarios: [...profile.scenarios, ...random] },
    only,
    within: options.compare ? comparedScenarios : null,
    parallel: options.parallel,
    timeLimitMs: options.timeLimitMs,
    keepTraces: options.record !== undefined,
    env: io.env,
    onPlan: (count, info) => {
      version = info.version;
      out.write(`\n${agent.name} ${info.version ?? ""} (${info.path ?? "no path"}): ${count} scenarios\n${tableHead()}`);
      progress.begin(id, count);
    },
    onStart: (scenario) => progress.start(scenario.name),
    onResult: (result) => {
      progress.finish(result.scenario);
      progress.print(() => out.write(tableLine(result) + failureLines(result)));
      if (options.record !== undefined) recorded.push(recordTraces(options.record, version, result));
    },
  }).catch((error: unknown): AgentReport => {
    const problem = `It could not be verified: ${error instanceof Error ? error.message : String(error)}`;
    return { agent: id, installed: true, version, problems: [problem], results: [] };
  });
  progress.clear();
  await Promise.all(recorded);
  for (const problem of report.problems) out.write(`${id}: ${problem}\n`);
  if (report.installed) out.write(agentSummary(report));
  return report;
}

function conclude(reports: readonly AgentReport[], options: VerifyCommandOptions, io: CommandIo): number {
  const results = reports.flatMap((report) => report.results);
  const summary = summarize(results);
  const problems = reports.flatMap((report) => report.problems);
  const compared = options.compare ? compareAgents(reports) : [];
  const told = options.compare ? { compared } : {};
  if (options.json) io.stdout.write(`${printableJson({ agents: reports.map(withoutTraces), summary, ...told })}\n`);
  if (summary.passed + summary.failed + summary.skipped === 0) {
    io.stderr.write(
      reports.some((report) => report.installed)
        ? "No scenario fits. List the names with a run without --scenario.\n"
        : "Nothing was verified: no agent could be found. Install one with `dragoman agents install`.\n",
    );
    return 1;
  }
  if (!options.json) {
    if (compared.length > 0) io.stdout.write(`\n${comparisonText(compared)}`);
    io.stdout.write(`\n${summary.passed} passed, ${summary.failed} failed, ${summary.skipped} skipped\n`);
    if (options.compare) io.stdout.write(comparisonSummary(compared));
  }
  return summary.failed > 0 || problems.length > 0 || unexplained(compared).length > 0 ? 1 : 0;
}

/** What the agents reported in the scenarios that at least two of them played. */
export const compareAgents = (reports: readonly AgentReport[]): Comparison[] =>
  compareReports(
    reports.filter(({ agent }) => verifyProfiles.get(agent)?.differences !== undefined),
    (name) => comparedScenarios.includes(name),
    (agent) => verifyProfiles.get(agent)?.differences ?? [],
  );

export function comparisonSummary(compared: readonly Comparison[]): string {
  const faults = unexplained(compared);
  const accepted = compared.flatMap(({ deviations }) => deviations).length - faults.length;
  const counts = `${compared.length} scenarios compared: ${accepted} accepted differences, ${faults.length} unexplained\n`;
  return `${faults.map((fault) => `${fault}\n`).join("")}${counts}`;
}

const withoutTraces = (report: AgentReport) => ({
  ...report,
  results: report.results.map(({ traces: _, ...result }: ScenarioResult) => result),
});
