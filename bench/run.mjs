/**
 * `npm run bench`: the real daemon and the bare pipe beside it, in one run on one machine; prints medians of three rounds as one table, and ends by itself.
 *   --short        a tenth of the load, and only as many rounds as fit into three minutes
 *   --peers        peers too, installed from npm into the user's cache
 *   --only=a,b     some of: streams, agents, history, disk, sessions, search, peers
 *   --rounds=N     instead of three
 *   --json         one JSON object with every figure of every round instead of the table
 */
import { execFileSync } from "node:child_process";
import { cpus, loadavg, totalmem } from "node:os";
import { rss, timed } from "./client.mjs";
import { bigSession, diskRows, idleSubscribers, manySessions } from "./history.mjs";
import { peerRows } from "./peer-rows.mjs";
import { SANDBOX_AGENT, startSandboxAgent } from "./peers.mjs";
import { searchRows } from "./search.mjs";
import { startDaemon, startPipe } from "./servers.mjs";
import { agentRows, mockRows } from "./streams.mjs";
import { markdown, result, row } from "./table.mjs";

/** A short run starts nothing that would end later than this. */
const SHORT_MS = 170_000;

const argv = process.argv.slice(2);
const option = (name) => argv.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
const short = argv.includes("--short") || argv.includes("--quick");
const scale = short ? 0.1 : 1;
const rounds = Number(option("rounds") ?? 3);
const only = option("only")?.split(",");
const wants = (name) => (only === undefined ? name !== "peers" || argv.includes("--peers") : only.includes(name));

/** Every round in a new daemon: what one leaves behind does not reach the next. */
async function round() {
  const daemon = await startDaemon();
  const pipe = await startPipe();
  let peer = null;
  try {
    row("cold start, ms", { dragoman: daemon.cold });
    row("memory at start, MB", { dragoman: rss(daemon.pid) });
    const under = { daemon, pipe };
    if (wants("streams")) await mockRows(under, scale);
    if (wants("agents")) await agentRows(under, scale);
    if (wants("history")) {
      await bigSession(under, scale);
      await idleSubscribers(under);
    }
    if (wants("peers")) {
      peer = await startSandboxAgent();
      await peerRows({ ...under, peer }, scale);
    }
  } finally {
    await peer?.stop();
    pipe.stop();
    await daemon.stop();
  }
}

const commit = () => {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], { cwd: import.meta.dirname, encoding: "utf8" }).trim();
  } catch {
    return "no commit";
  }
};

const began = performance.now();
const at = commit();
const [load] = loadavg();
const inRounds = ["streams", "agents", "history", "peers"].some(wants) ? rounds : 0;
let done = 0;
let longest = 0;
const nextRound = async () => {
  process.stderr.write(`round ${++done} of ${rounds}\n`);
  longest = Math.max(longest, await timed(round));
};
const fits = (ms) => !short || performance.now() - began + ms < SHORT_MS;
const inTime = async (name, ms, work) => {
  if (fits(ms)) await work();
  else process.stderr.write(`${name}: left out, there was no time for it.\n`);
};
if (inRounds > 0) await nextRound();
if (wants("disk")) await inTime("disk", 30_000, () => diskRows(scale));
if (wants("sessions")) await inTime("sessions", 45_000, () => manySessions(scale));
if (wants("search")) await inTime("search", 45_000, () => searchRows(scale));
while (done < inRounds && fits(longest)) await nextRound();
if (done < inRounds) process.stderr.write(`${done} rounds instead of ${rounds}: there was no time for more.\n`);

const seconds = Math.round((performance.now() - began) / 1000);
const machine = {
  node: process.version,
  cpus: cpus().length,
  model: cpus()[0]?.model ?? "",
  memory_gb: Math.round(totalmem() / 1e9),
};
const about = {
  date: new Date().toISOString().slice(0, 10),
  commit: commit(),
  ...machine,
  load_before: load,
  short,
  rounds: done,
  seconds,
};
if (load > cpus().length / 2)
  process.stderr.write(
    `The machine was busy before (load ${load.toFixed(1)}): compare processor times and losses, not speeds.\n`,
  );
if (argv.includes("--json")) process.stdout.write(`${JSON.stringify({ ...about, rows: result() })}\n`);
else {
  const { date, node, cpus: cores, model, memory_gb } = about;
  process.stdout.write(
    `\n${date}, commit ${at}, Node ${node}, ${cores} cores (${model}), ${memory_gb} GB, load before ${load.toFixed(1)}; ` +
      `${short ? "short, " : ""}${done > 0 ? `medians of ${done} round(s), ` : ""}${seconds} s\n\n${markdown(wants("peers") ? `${SANDBOX_AGENT.npm} ${SANDBOX_AGENT.version}` : null)}\n`,
  );
}
