// Runs one scenario in a lab and judges it: expectations, grammar, ledger, the live stream against the log, and what was left behind.
import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { diffArrays } from "diff";
import { builtInAgents } from "../agents/registry.ts";
import type { SessionHandle } from "../client/index.ts";
import type { UniversalEvent } from "../schema/event.ts";
import { checkGrammar } from "../schema/grammar.ts";
import { shapeOf } from "./compare/shape.ts";
import { differences, type Evidence } from "./expectations.ts";
import type { Lab } from "./lab.ts";
import { lingering, unexplainedFiles } from "./leftovers.ts";
import { replayTrace } from "./replay.ts";
import { eventLine } from "./report/event-line.ts";
import type { Expectation, Scenario } from "./scenario/index.ts";
import { emptyResult, type ScenarioResult } from "./scenario-result.ts";
import { type PlayedSession, ScenarioRun } from "./scenario-run.ts";
import { type Stage, setUpScenario } from "./scenario-setup.ts";
import { machineTraces, scrubTrace } from "./scrub.ts";
import { parseRow } from "./trace-file.ts";

export type RunOptions = {
  timeLimitMs: number;
  /** How long what was expected may still come after the last turn: an agent may go on by itself. */
  settleMs?: number;
  /** Keep each session's native messages in the result. */
  keepTraces?: boolean;
};

const SETTLE_MS = 6_000;
const CLEAN_UP_MS = 20_000;
const EXIT_GRACE_MS = 4_000;
const TAIL = 15;

export async function runScenario(lab: Lab, scenario: Scenario, options: RunOptions): Promise<ScenarioResult> {
  const began = performance.now();
  const result = emptyResult(lab.profile.agent, scenario);
  const expected = scenario.expect ?? {};
  const limit = AbortSignal.timeout(options.timeLimitMs);
  try {
    const stage = await setUpScenario(lab, scenario);
    const play = new ScenarioRun(lab, scenario, stage, limit);
    await playOut({ lab, scenario, stage, play, expected, limit, options }, result);
    result.failures.push(...play.failures);
    for (const session of play.sessions) {
      await judge(session, expected, result);
      result.failures.push(...(await retold(session, lab.profile.agent)));
      if (options.keepTraces) await keepTrace(lab, stage, session.handle, result);
    }
    result.failures.push(...(await leftBehind(stage, scenario)));
    if (result.verdict !== "passed" || bad(result)) result.tail = play.sessions.flatMap(({ watch }) => tailOf(watch.events));
  } catch (error) {
    result.failures.push(`the runner failed: ${messageOf(error)}`);
  }
  if (result.verdict === "passed" && bad(result)) result.verdict = "failed";
  result.duration_ms = Math.round(performance.now() - began);
  return result;
}

const bad = ({ failures, broken }: ScenarioResult): boolean => failures.length > 0 || broken.length > 0;
const tailOf = (events: readonly UniversalEvent[]): string[] => events.slice(-TAIL).map(eventLine);
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

type Attempt = {
  lab: Lab;
  scenario: Scenario;
  stage: Stage;
  play: ScenarioRun;
  expected: Expectation;
  limit: AbortSignal;
  options: RunOptions;
};

async function playOut(attempt: Attempt, result: ScenarioResult): Promise<void> {
  const { play, limit, options } = attempt;
  try {
    await play.play();
    if (!attempt.expected.refused && !play.excused) result.failures.push(...(await settled(attempt)));
  } catch (error) {
    if (limit.aborted) {
      result.verdict = "hung";
      result.failures.push(`no end after ${options.timeLimitMs / 1000} s, waiting for ${play.waitingFor}`);
    } else result.failures.push(`it could not be played: ${messageOf(error)}`);
  }
}

const evidenceOf = ({ lab, scenario, stage, play }: Attempt): Evidence => ({
  events: play.sessions.flatMap(({ watch }) => watch.events),
  requests: lab.model.requests.filter((request) => request.scenario === scenario.name && request.side === undefined),
  directory: stage.directory,
});

/** Looks until what is expected has come, or the grace is over. */
async function settled(attempt: Attempt): Promise<string[]> {
  const { play, limit, expected, options } = attempt;
  const until = Date.now() + (options.settleMs ?? SETTLE_MS);
  for (;;) {
    const found = await differences(expected, evidenceOf(attempt));
    if (found.length === 0 || Date.now() > until || play.sessions.at(-1)?.watch.ended) return found;
    const watch = play.sessions.at(-1)?.watch;
    const known = watch?.events.length ?? 0;
    const patience = AbortSignal.any([limit, AbortSignal.timeout(250)]);
    await watch?.until(() => watch.events.length > known, patience).catch(() => {});
    if (watch && watch.events.length > known) await play.idle();
  }
}

/** Ends the session and looks at all it left in the log. */
async function judge(session: PlayedSession, expected: Expectation, result: ScenarioResult): Promise<void> {
  const { handle, watch } = session;
  const limit = AbortSignal.timeout(CLEAN_UP_MS);
  await handle.terminate(limit);
  await watch.until(() => watch.ended, limit).catch(() => result.failures.push("session.ended did not reach the live stream"));
  watch.close();
  const events = await allEvents(handle, limit);
  result.events += events.length;
  result.shape.push(...shapeOf(events));
  result.broken.push(...checkGrammar(events, { strict: true }));
  const live = watch.events.map((event) => event.event_id).join();
  if (live !== events.map((event) => event.event_id).join())
    result.failures.push("the live stream and the log have different events");
  const { totals, types } = await handle.coverage(limit);
  result.mapped += totals.mapped;
  result.noted += totals.noted;
  result.heartbeat += totals.heartbeat;
  result.unparsed += totals.unparsed;
  result.native += totals.mapped + totals.noted + totals.heartbeat + totals.unparsed;
  result.types.push(...types);
  if (totals.unparsed > 0 && !expected.events?.includes("agent.unparsed")) {
    const names = types.filter((row) => row.disposition === "unparsed").map((row) => `${row.type} ×${row.count}`);
    result.failures.push(`not understood: ${names.join(", ")}`);
  }
}

/** The ledger alone must give the same story again. */
async function retold({ handle, watch: { events } }: PlayedSession, agent: string): Promise<string[]> {
  const create = builtInAgents.find(({ id }) => id === agent)?.createTranslator;
  if (!create) return [];
  const rows = (await handle.native(AbortSignal.timeout(CLEAN_UP_MS))).split("\n").flatMap((line) => {
    const parsed = line === "" ? { fault: "" } : parseRow(line);
    return "row" in parsed ? [parsed.row] : [];
  });
  const told = replayTrace(create, rows, { location: agent }).sessions.flatMap((session) => shapeOf(session.events));
  const lines = diffArrays(shapeOf(events), told).flatMap(({ added, removed, value }) =>
    added ? value.map((line) => `+ ${line}`) : removed ? value.map((line) => `- ${line}`) : [],
  );
  return lines.length === 0 ? [] : [`its ledger gives another story: ${lines.join(" · ")}`];
}

/** The recording, rewritten so that it names no machine. */
async function keepTrace(lab: Lab, stage: Stage, handle: SessionHandle, result: ScenarioResult): Promise<void> {
  const facts = { ...lab.place, directory: stage.directory, modelPort: lab.model.port };
  const trace = scrubTrace(await handle.native(AbortSignal.timeout(CLEAN_UP_MS)), facts);
  result.traces.push(trace);
  for (const name of machineTraces(trace, facts)) result.failures.push(`the recording still says ${JSON.stringify(name)}`);
}

async function allEvents(handle: SessionHandle, signal: AbortSignal): Promise<UniversalEvent[]> {
  const events: UniversalEvent[] = [];
  for (;;) {
    const page = await handle.page({ after: events.at(-1)?.sequence ?? 0, limit: 1000, signal });
    events.push(...page.events);
    if (!page.has_more) return events;
  }
}

async function leftBehind(stage: Stage, scenario: Scenario): Promise<string[]> {
  const base = dirname(stage.directory);
  const processes = await lingering(base, "directory", EXIT_GRACE_MS);
  const strays = readdirSync(base).filter((name) => name !== "repo" && name !== "own");
  return [
    ...processes.map(({ pid, command }) => `process ${pid} lives on: ${command.slice(0, 200)}`),
    ...strays.map((name) => `${name} was written outside the session's folder`),
    ...unexplainedFiles(stage.directory, scenario).map((path) => `${path} was left in the session's folder`),
  ];
}
