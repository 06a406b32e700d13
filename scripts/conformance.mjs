// Installs the pinned real agents once, into the user's cache, and verifies each against the scripted model server. No account, no internet beyond npm.
//   npm run conformance                      all pinned agents
//   npm run conformance -- claude codex      only these
//   npm run conformance -- --scenario=text   only this one; may be repeated, and may end with a star
//   npm run conformance -- --scenario=inspector   only the runs in a browser
//   npm run conformance -- --scenario=crash       only the runs in which the daemon is killed with -9
//   npm run conformance -- --scenario=first-use   only the runs of the packed package, installed by a new user
//   npm run conformance -- --short           the short set: a few minutes, for every change
//   npm run conformance -- --random=20 --seed=7   so many scenarios that nobody wrote beside the known ones, from this seed (whole: 10, short: 2)
//   npm run conformance -- --compare         prints what the agents tell in the scenarios they all play; it is compared in any case
//   npm run conformance -- --versions        older versions of the agents, the short set: a table of what passed
//   npm run conformance -- --install-only    downloads and stops
// A scenario that fails is played once more before it counts: real agents on a busy machine are late now and then. Both tries are printed.
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { commandVariable } from "../build/daemon/agent-host.js";
import { comparisonText, unexplained } from "../build/verify/compare/compare.js";
import { closeOpenLabs } from "../build/verify/lab.js";
import { builtIn, PINNED_NODE, pinnedAgents, SHORT_SET } from "../build/verify/pinned.js";
import { agentSummary, summarize } from "../build/verify/report/table.js";
import { randomNames } from "../build/verify/scenario/random.js";
import { compareAgents, comparisonSummary, verifyAgents } from "../build/verify/verify-command.js";
import { crash } from "./conformance-crash.mjs";
import { firstUse } from "./conformance-first-use.mjs";
import { BROWSED, browse } from "./conformance-inspector.mjs";
import { installPinned } from "./install-pinned.mjs";

const argv = process.argv.slice(2);
const flags = new Set(argv.filter((arg) => arg.startsWith("-")));
const named = argv.filter((arg) => arg.startsWith("--scenario=")).map((arg) => arg.slice("--scenario=".length));
const wanted = argv.filter((arg) => !arg.startsWith("-"));
const known = [...pinnedAgents.map(({ agent }) => agent), ...builtIn];
const unknown = wanted.filter((id) => !known.includes(id));
if (unknown.length > 0) {
  console.error(`Not pinned: ${unknown.join(", ")}. Pinned are ${known.join(", ")}.`);
  process.exit(2);
}
const olderOf = (pinned) => (pinned.older ?? []).map((version) => ({ ...pinned, version, scenarios: undefined }));
const offered = flags.has("--versions") ? pinnedAgents.flatMap(olderOf) : pinnedAgents;
const chosen = offered.filter(({ agent }) => wanted.length === 0 || wanted.includes(agent));
const isShort = flags.has("--short") || flags.has("--versions");
const numberOf = (option, otherwise) => Number(argv.find((arg) => arg.startsWith(`--${option}=`))?.split("=")[1] ?? otherwise);
// The short set stays as it is from run to run, so that a failure is one of the change.
const seed = numberOf("seed", isShort ? 1 : 1 + Math.floor(Math.random() * 1_000_000));
const random = randomNames(numberOf("random", named.length > 0 || flags.has("--versions") ? 0 : isShort ? 2 : 10), seed);

/** The program itself, or a small script that starts it with the newer Node. */
function startable(folder, { program, run: how }, node) {
  const path = join(folder, "node_modules", program);
  if (how === "itself") return path;
  const script = join(folder, "start.sh");
  writeFileSync(script, `#!/bin/sh\nexec "${node}" "${path}" "$@"\n`);
  chmodSync(script, 0o755);
  return script;
}

const onPath = (program) => (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, program)));

const began = Date.now();
const env = { ...process.env };
const problems = [];
const needsNode = chosen.some(({ run: how }) => how === "node");
const node = needsNode && join(await installPinned("node", PINNED_NODE), "node_modules", PINNED_NODE.program);
const ready = [];
for (const pinned of chosen) {
  for (const { program, advice } of pinned.needs ?? [])
    if (!onPath(program)) problems.push(`${pinned.agent} needs ${program}: ${advice}`);
  try {
    ready.push({ ...pinned, command: startable(await installPinned(pinned.agent, pinned), pinned, node) });
  } catch (error) {
    problems.push(`${pinned.agent} could not be installed: ${error.message}`);
  }
}
for (const agent of flags.has("--versions") ? [] : builtIn)
  if (wanted.length === 0 || wanted.includes(agent)) ready.push({ agent });
for (const problem of problems) console.log(problem);
if (flags.has("--install-only")) process.exit(problems.length > 0 ? 1 : 0);

// Whoever breaks it off leaves no agent behind.
const breakOff = () => void closeOpenLabs().finally(() => process.exit(130));
process.once("SIGINT", breakOff).once("SIGTERM", breakOff);

const io = { stdout: process.stdout, stderr: process.stderr, env };
const reports = [];
const browsed = [];
/** The runs in a browser go by this name among the scenarios. */
const IN_BROWSER = "inspector";
const CRASHED = "crash";
const FIRST_USE = "first-use";
const asked = named.filter((name) => ![IN_BROWSER, CRASHED, FIRST_USE].includes(name));
const withBrowser = (named.length === 0 && !flags.has("--versions")) || named.includes(IN_BROWSER);
const withCrash = (named.length === 0 && !isShort) || named.includes(CRASHED);
const withFirstUse = (named.length === 0 && !flags.has("--versions")) || named.includes(FIRST_USE);
for (const { agent, scenarios, command } of ready) {
  // Set one at a time: an agent may be pinned in two versions.
  if (command) env[commandVariable(agent)] = command;
  const scenario = named.length > 0 ? asked : isShort ? SHORT_SET : (scenarios ?? []);
  const sets = [...(asked.length > 0 || named.length === 0 ? [scenario] : []), ...(random.length > 0 ? [random] : [])];
  const parts = [];
  for (const names of sets) {
    const [report] = await verifyAgents({ agents: [agent], scenario: names }, io);
    if (report) parts.push(await playedAgain(report));
  }
  const [first] = parts;
  if (first) {
    const all = (key) => parts.flatMap((part) => part[key]);
    reports.push({ ...first, results: all("results"), problems: all("problems") });
  }
  if (withBrowser && BROWSED.includes(agent))
    browsed.push({ agent, where: "in the inspector", failures: await apart(agent, "in the inspector", browse) });
  if (withFirstUse && BROWSED.includes(agent))
    browsed.push({ agent, where: "at first use", failures: await apart(agent, "at first use", firstUse) });
  if (withCrash) browsed.push({ agent, where: "after kill -9", failures: await apart(agent, "after kill -9", crash) });
}

/** As it stands in the docs. */
function versionTable(found) {
  const row = ({ agent, version, results }) => {
    const { passed, failed, skipped, unparsed: lost, broken: against } = summarize(results);
    return `| ${agent} | ${version} | ${passed} of ${passed + failed}, ${skipped} skipped | ${lost} | ${against} |`;
  };
  return ["| agent | version | passed | unparsed | rules broken |", "| --- | --- | --- | --- | --- |", ...found.map(row)].join(
    "\n",
  );
}

/** Tried once more, like a scenario. */
async function apart(agent, where, run, again = false) {
  const start = Date.now();
  const failures = await run(agent, env);
  const outcome = failures.length === 0 ? "passed" : `failed: ${failures.join("; ")}`;
  console.log(`${agent} ${where}: ${((Date.now() - start) / 1000).toFixed(1)} s  ${outcome}`);
  return failures.length > 0 && !again ? apart(agent, where, run, true) : failures;
}

/** The report with what passed at the second try in place of what failed at the first. */
async function playedAgain(report) {
  const late = report.results.filter(({ verdict }) => verdict === "failed" || verdict === "hung").map(({ scenario }) => scenario);
  if (late.length === 0 || late.length > 10) return report;
  console.log(`${report.agent}: once more ${late.join(", ")}`);
  const [again] = await verifyAgents({ agents: [report.agent], scenario: late, parallel: 1 }, io);
  if (!again) return report;
  const second = new Map(again.results.map((result) => [result.scenario, result]));
  return { ...report, results: report.results.map((result) => second.get(result.scenario) ?? result) };
}

const { passed, failed, unparsed, broken } = summarize(reports.flatMap((report) => report.results));
const trouble = [...problems, ...reports.flatMap((report) => report.problems.map((problem) => `${report.agent}: ${problem}`))];
console.log(`\n${Math.round((Date.now() - began) / 1000)} s`);
for (const report of reports) process.stdout.write(agentSummary(report));
for (const { agent, where, failures } of browsed)
  console.log(`${agent} ${where}: ${failures.length === 0 ? "passed" : "failed"}`);
const compared = flags.has("--versions") ? [] : compareAgents(reports);
if (flags.has("--versions")) console.log(versionTable(reports));
if (flags.has("--compare")) process.stdout.write(`\n${comparisonText(compared)}\n`);
if (compared.length > 0) process.stdout.write(comparisonSummary(compared));
for (const line of trouble) console.log(line);
console.log(`${unparsed} unparsed, ${broken} rules broken`);
const failedInBrowser = browsed.filter(({ failures }) => failures.length > 0).length;
const allFailed = failed + failedInBrowser + trouble.length + unexplained(compared).length;
console.log(`${passed + browsed.length - failedInBrowser} passed, ${allFailed} failed`);
process.exit(allFailed > 0 ? 1 : 0);
