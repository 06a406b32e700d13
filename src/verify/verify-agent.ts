// Runs many scenarios with one agent: two at a time in one lab, and those that restart the daemon or kill the agent alone, in labs of their own.
import type { Agent } from "../agents/contract.ts";
import type { VerifyProfile } from "../agents/kit/verify/profile.ts";
import type { AgentInfo } from "../schema/session.ts";
import { Lab } from "./lab.ts";
import { type RunOptions, runScenario } from "./runner.ts";
import { runsOn, type Scenario } from "./scenario/index.ts";
import { emptyResult, type ScenarioResult } from "./scenario-result.ts";
import { killsDaemon, needsOwnDaemon, skipReason } from "./skip-reasons.ts";

export const DEFAULT_TIME_LIMIT_MS = 60_000;
/** Scenarios tagged `long` have many turns. */
const LONG = 4;

export type VerifyAgentOptions = {
  agent: Agent;
  profile: VerifyProfile;
  /** Names of the scenarios to run; all when empty. A name may end with `*`. */
  only: readonly string[];
  /** Only these of them; null: any. */
  within?: readonly string[] | null;
  parallel?: number | undefined;
  timeLimitMs?: number | undefined;
  keepTraces?: boolean;
  env?: NodeJS.ProcessEnv | undefined;
  onPlan?(count: number, info: AgentInfo): void;
  onStart?(scenario: Scenario): void;
  onResult?(result: ScenarioResult): void;
};

export type AgentReport = {
  agent: string;
  installed: boolean;
  version: string | null;
  /** What to do when it is not installed; what was left behind; why no lab could be opened. */
  problems: string[];
  results: ScenarioResult[];
};

export async function verifyAgent(options: VerifyAgentOptions): Promise<AgentReport> {
  const { agent, profile } = options;
  const report: AgentReport = { agent: agent.id, installed: false, version: null, problems: [], results: [] };
  const shared = await Lab.open({ profile, scenarios: profile.scenarios, ...(options.env ? { env: options.env } : {}) });
  try {
    const info = await shared.client().agent(agent.id);
    report.installed = info.installed;
    report.version = info.version;
    if (!info.installed) {
      report.problems.push(info.advice ?? `${agent.name} is not installed.`);
      return report;
    }
    const scenarios = profile.scenarios.filter(({ name }) => options.within?.includes(name) ?? true);
    const chosen = choose(scenarios, agent.id, options.only);
    options.onPlan?.(chosen.length, info);
    const [alone, together] = [true, false].map((own) => chosen.filter((scenario) => needsOwnDaemon(scenario) === own));
    await inParallel(together ?? [], options.parallel ?? profile.parallel, (scenario) => one(shared, scenario, options, report));
    report.problems.push(...(await shared.close()));
    for (const scenario of alone ?? []) await inOwnLab(scenario, options, report);
    return report;
  } finally {
    await shared.close();
  }
}

function choose(scenarios: readonly Scenario[], agent: string, only: readonly string[]): Scenario[] {
  const wanted = (name: string) =>
    only.length === 0 || only.some((one) => (one.endsWith("*") ? name.startsWith(one.slice(0, -1)) : name === one));
  return scenarios.filter((scenario) => !scenario.tags?.includes("part") && runsOn(scenario, agent) && wanted(scenario.name));
}

async function one(lab: Lab, scenario: Scenario, options: VerifyAgentOptions, report: AgentReport): Promise<void> {
  const missing = skipReason(scenario, options.agent, options.profile);
  const result = missing
    ? { ...emptyResult(options.agent.id, scenario), verdict: "skipped" as const, failures: [missing] }
    : await run(lab, scenario, options);
  report.results.push(result);
  options.onResult?.(result);
}

function run(lab: Lab, scenario: Scenario, options: VerifyAgentOptions): Promise<ScenarioResult> {
  options.onStart?.(scenario);
  const run: RunOptions = {
    timeLimitMs:
      (options.timeLimitMs ?? options.profile.timeLimitMs ?? DEFAULT_TIME_LIMIT_MS) *
      (scenario.tags?.includes("long") ? LONG : 1),
    keepTraces: options.keepTraces === true,
  };
  return runScenario(lab, scenario, run);
}

async function inOwnLab(scenario: Scenario, options: VerifyAgentOptions, report: AgentReport): Promise<void> {
  const { profile, env } = options;
  const lab = await Lab.open({
    profile,
    scenarios: profile.scenarios,
    ownProcess: killsDaemon(scenario),
    ...(env ? { env } : {}),
  });
  try {
    await one(lab, scenario, options, report);
  } finally {
    report.problems.push(...(await lab.close()).map((problem) => `${scenario.name}: ${problem}`));
  }
}

async function inParallel<T>(list: readonly T[], width: number, work: (one: T) => Promise<void>): Promise<void> {
  const rest = list.values();
  const worker = async () => {
    for (const one of rest) await work(one);
  };
  await Promise.all(Array.from({ length: Math.max(1, width) }, worker));
}
