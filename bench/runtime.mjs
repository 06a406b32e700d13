// What our own agent costs: npm run bench:runtime [-- --short] [--json] [--only=…], and beside it what Codex, OpenCode and pi cost for the same commands. The model is scripted and runs in a process of its own; sessions, log and tools are the real
// ones, in this process. CPU time is the steady figure; wall time depends on what else the machine does.
import { fork } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { responsesAgent } from "../build/agents/responses/agent.js";
import { openCore } from "../build/daemon/core.js";
import { peerSteps } from "./runtime-peers.mjs";
import { toolStarts } from "./runtime-tool-start.mjs";

const short = process.argv.includes("--short");
const json = process.argv.includes("--json");
/** --only=starts,steps,tools,events,sessions,peers */
const only = process.argv
  .find((word) => word.startsWith("--only="))
  ?.slice(7)
  .split(",");
/** --peers=dragoman,codex,opencode,pi */
const peerNames = process.argv
  .find((word) => word.startsWith("--peers="))
  ?.slice(8)
  .split(",");
const wants = (part) => only === undefined || only.includes(part);
const STEPS = short ? 50 : 300;
const DELTAS = short ? 5_000 : 50_000;
const STARTS = short ? 20 : 100;
const SESSIONS = short ? 100 : 1_000;

const dir = mkdtempSync(join(tmpdir(), "dragoman-bench-runtime-"));
const work = join(dir, "work");
mkdirSync(work);
writeFileSync(join(work, "a.txt"), Array.from({ length: 400 }, (_, index) => `line ${index}`).join("\n"));
const model = fork(fileURLToPath(new URL("./runtime-endpoint.mjs", import.meta.url)), { stdio: "inherit" });
const { port } = await new Promise((resolve) => model.once("message", resolve));
const core = await openCore({
  dataDir: join(dir, "data"),
  config: {
    limits: { sessions: SESSIONS + STARTS + 10 },
    agents: { responses: { endpoint: `http://127.0.0.1:${port}/v1`, model: "m", limits: { steps: STEPS + 10 } } },
  },
  agents: [responsesAgent],
  env: { PATH: process.env.PATH, HOME: dir },
  defaultDirectory: work,
  log: () => {},
});

const create = async () => core.manager.get((await core.manager.create({ agent: "responses", directory: work })).session_id);

/** Sends a message and waits for the end of its turn. */
async function play(session, text) {
  const { turn_id } = await session.send(text, [], "queue");
  await new Promise((resolve, reject) => {
    const subscription = session.stream.subscribe({
      after: 0,
      onBatch: ({ events, types }) => {
        if (!types.includes("turn.ended")) return;
        const end = events
          .filter((_, index) => types[index] === "turn.ended")
          .map((line) => JSON.parse(line))
          .find((event) => event.data.turn_id === turn_id);
        if (!end) return;
        setImmediate(() => subscription.close());
        if (end.data.stop_reason === "end_turn") resolve();
        else reject(new Error(`the turn ended with ${end.data.stop_reason}`));
      },
    });
  });
}

async function cpuOf(work) {
  const before = process.cpuUsage();
  const began = performance.now();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { cpuMs: (user + system) / 1000, wallMs: performance.now() - began };
}

const at = (list, part) => list.toSorted((a, b) => a - b)[Math.floor((list.length - 1) * part)];
const residentMb = () => {
  globalThis.gc?.();
  return process.memoryUsage().rss / 1024 / 1024;
};
const ask = async (path) => (await fetch(`http://127.0.0.1:${port}${path}`)).text();

const figures = {};
try {
  const warm = await create();
  await play(warm, "steps=20 deltas=200");

  if (wants("starts")) await measureStarts();
  if (wants("steps")) await measureSteps();
  if (wants("tools")) await measureToolStarts();
  if (wants("events")) await measureEvents();
  if (wants("sessions")) await measureSessions();
} finally {
  await core.close();
  model.kill();
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
}

async function measureStarts() {
  const starts = [];
  for (let index = 0; index < STARTS; index++) {
    const began = performance.now();
    const session = await create();
    await session.resume();
    starts.push(performance.now() - began);
  }
  figures.start_ms_p50 = at(starts, 0.5);
  figures.start_ms_p99 = at(starts, 0.99);
}

/** Twice, for the same reason. */
async function measureSteps() {
  for (const when of ["_at_first", ""]) {
    const stepping = await create();
    const steps = await cpuOf(() => play(stepping, `steps=${STEPS} deltas=1`));
    figures[`cpu_ms_a_step${when}`] = steps.cpuMs / (STEPS + 1);
    figures[`wall_ms_a_step${when}`] = steps.wallMs / (STEPS + 1);
  }
}

async function measureToolStarts() {
  const data = join(dir, "tool-starts");
  const waits = await toolStarts({ baseUrl: `http://127.0.0.1:${port}/v1`, directory: work, data, steps: STEPS });
  figures.read_start_ms_p50 = at(waits, 0.5);
  figures.read_start_ms_p99 = at(waits, 0.99);
}

/** Twice: the first stream of a daemon's life also pays for the compilation of its code. */
async function measureEvents() {
  for (const name of ["cpu_us_a_provider_event_at_first", "cpu_us_a_provider_event"]) {
    const streaming = await create();
    const events = await cpuOf(() => play(streaming, `steps=0 deltas=${DELTAS}`));
    figures[name] = (events.cpuMs * 1000) / DELTAS;
  }
}

async function measureSessions() {
  const before = residentMb();
  const sessions = [];
  for (let index = 0; index < SESSIONS; index++) sessions.push(await create());
  const turns = sessions.map((session) => play(session, "steps=1 deltas=20 hold=1"));
  for (const turn of turns) turn.catch(() => {});
  while (Number(await ask("/held")) < SESSIONS) await new Promise((resolve) => setTimeout(resolve, 50));
  figures.sessions_running = SESSIONS;
  figures.rss_mb = residentMb();
  figures.rss_mb_added = figures.rss_mb - before;
  const finish = await cpuOf(async () => {
    await ask("/release");
    await Promise.all(turns);
  });
  figures.finish_all_wall_ms = finish.wallMs;
}

const GOALS = {
  start_ms_p50: 20,
  cpu_ms_a_step: 3,
  read_start_ms_p50: 0.5,
  cpu_us_a_provider_event: 15,
  rss_mb: 400,
};
const round = (value) => Math.round(value * 100) / 100;
const peers = wants("peers") ? await peerSteps(short ? 20 : 50, peerNames) : [];
const rounded = Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, round(value)]));
if (json) console.log(JSON.stringify({ ...rounded, peers, steps: STEPS, deltas: DELTAS, short }));
else {
  for (const [name, value] of Object.entries(rounded))
    console.log(`${name.padEnd(26)} ${String(value).padStart(10)}${GOALS[name] ? `   goal ${GOALS[name]}` : ""}`);
  for (const { name, start_ms, step_ms, rss_mb } of peers)
    console.log(
      `${name.padEnd(26)} CPU to start ${Math.round(start_ms)} ms, a step with a command ${round(step_ms)} ms, ${Math.round(rss_mb)} MB`,
    );
}
process.exit(0);
