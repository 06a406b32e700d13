/**
 * Our own agent beside Codex, OpenCode and pi: the same scripted model asks each of them for the same commands. Processor time is that of the agent and of the commands
 * it ran. A peer is a program that runs once with commands and once without; ours is a session of a daemon that runs already, measured in the same two ways.
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { codexProfile } from "../build/agents/codex/verify/profile.js";
import { opencodeProfile, permissiveOpencode } from "../build/agents/opencode/verify/profile.js";
import { PINNED_NODE, pinnedAgents } from "../build/verify/pinned.js";
import { startDaemon, stopped } from "../scripts/daemon.mjs";
import { installPinned } from "../scripts/install-pinned.mjs";

const MAIN = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
const PI = { npm: "@earendil-works/pi-coding-agent", version: "0.87.1" };
const RUN_MS = 5 * 60_000;
/** Fields of /proc/<pid>/stat after the name: own time and that of the children that were waited for, in ticks of 10 ms. */
const TIMES = [11, 12, 13, 14];
const TICK_MS = 10;
const WATCH_MS = 20;

const SUBJECTS = { dragoman, codex, opencode, pi };

/** Rows {name, start_ms, step_ms, rss_mb}, ours first. `names` chooses some of them. A peer that cannot be installed or does not do the work is left out, with a sentence on stderr. */
export async function peerSteps(steps, names = Object.keys(SUBJECTS)) {
  const dir = mkdtempSync(join(tmpdir(), "dragoman-bench-peers-"));
  const model = await startModel(dir, steps);
  const rows = [];
  try {
    for (const subject of names) {
      const home = join(dir, subject);
      mkdirSync(join(home, "work"), { recursive: true });
      try {
        rows.push(await SUBJECTS[subject]({ home, work: join(home, "work"), url: model.url, steps }));
      } catch (error) {
        process.stderr.write(`${subject} is not in the table: ${error.message}\n`);
      }
    }
  } finally {
    await stopped(model.child);
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  }
  return rows;
}

/** `echo` so many times, each the only call of its answer. */
async function startModel(dir, steps) {
  const calls = Array.from({ length: steps }, (_, n) => ({
    blocks: [{ type: "tool", name: "shell", input: { command: `echo ${n}` } }],
  }));
  const scenario = (name, before) => ({
    name,
    title: name,
    turns: [{ prompt: "Go.", steps: [...before, { blocks: [{ type: "text", text: "Done." }] }] }],
  });
  const file = join(dir, "scenarios.json");
  writeFileSync(file, JSON.stringify([scenario("no-steps", []), scenario("steps", calls)]));
  const args = [MAIN, "model-server", "--port", "0", "--json", "--scenarios", file];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: child.stdout })) return { ...JSON.parse(line), child };
  throw new Error("the model server said nothing");
}

const prompt = (steps) => `Go. [[scenario:${steps === 0 ? "no-steps" : "steps"}]]`;

const figures = (name, without, withSteps, steps) => ({
  name,
  start_ms: without.cpuMs,
  step_ms: (withSteps.cpuMs - without.cpuMs) / steps,
  rss_mb: withSteps.rssMb,
});

async function dragoman({ home, work, url, steps }) {
  const config = join(home, "config.json");
  // The peers run their commands without a sandbox here.
  const agents = {
    responses: { endpoint: `${url}/v1`, model: "m", sandbox: "off", limits: { steps: steps + 10 } },
  };
  writeFileSync(config, JSON.stringify({ agents, trusted_directories: [work] }));
  const daemon = await startDaemon(join(home, "data"), { more: ["--config", config, "--log-level", "error"] });
  const headers = { authorization: `Bearer ${daemon.token}`, "content-type": "application/json" };
  const post = async (path, body) => {
    const response = await fetch(daemon.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return response;
  };
  const session = async (wanted) => {
    const before = cpuMs(daemon.pid);
    const made = await post("/v1/sessions", { agent: "responses", directory: work, permission_mode: "bypass" });
    const { session_id } = await made.json();
    const streamed = await post(`/v1/sessions/${session_id}/messages/stream`, { message: prompt(wanted) });
    const text = await streamed.text();
    if (!text.includes('"stop_reason":"end_turn"')) throw new Error(`the turn did not end well: ${text.slice(-500)}`);
    return { cpuMs: cpuMs(daemon.pid) - before, rssMb: peakRssMb(daemon.pid) };
  };
  try {
    // The first session loads what a daemon loads once.
    await session(0);
    return figures("dragoman responses", await session(0), await session(steps), steps);
  } finally {
    await stopped(daemon.child);
  }
}

async function codex({ home, work, url, steps }) {
  const program = await programOf("codex");
  const { env } = await codexProfile.forScenario({}, { own: home, modelUrl: url });
  const words = ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];
  return runs(`codex ${program.version}`, program.path, words, { home, work, env, steps });
}

async function opencode({ home, work, url, steps }) {
  const program = await programOf("opencode");
  const { env } = await opencodeProfile.setUp({ home, modelUrl: url });
  const allowed = await permissiveOpencode({ own: home, modelUrl: url });
  return runs(`opencode ${program.version}`, program.path, ["run"], { home, work, env: { ...env, ...allowed }, steps });
}

async function pi({ home, work, url, steps }) {
  const node = join(await installPinned("node", PINNED_NODE), "node_modules", PINNED_NODE.program);
  const script = join(await installPinned("pi", PI), "node_modules", PI.npm, "dist", "cli.js");
  const settings = join(home, ".pi", "agent");
  mkdirSync(settings, { recursive: true });
  const provider = { baseUrl: `${url}/v1`, api: "openai-responses", apiKey: "scripted", models: [{ id: "m" }] };
  writeFileSync(join(settings, "models.json"), JSON.stringify({ providers: { scripted: provider } }));
  const words = [script, "--offline", "--mode", "json", "--no-session", "--provider", "scripted", "--model", "m"];
  return runs(`pi ${PI.version}`, node, words, { home, work, env: {}, steps });
}

async function programOf(agent) {
  const pinned = pinnedAgents.find((one) => one.agent === agent);
  return { path: join(await installPinned(agent, pinned), "node_modules", pinned.program), version: pinned.version };
}

async function runs(name, program, words, { home, work, env, steps }) {
  const options = { cwd: work, env: { PATH: process.env.PATH, HOME: home, ...env } };
  // The first run of a program makes its files.
  await timed(program, [...words, prompt(0)], options);
  const without = await timed(program, [...words, prompt(0)], options);
  const withSteps = await timed(program, [...words, prompt(steps)], options);
  if (!withSteps.output.includes(String(steps - 1)))
    throw new Error(`it did not run the commands: ${withSteps.output.slice(-500)}`);
  return figures(name, without, withSteps, steps);
}

/** bash waits for the program and knows what it and its children took. */
async function timed(program, words, options) {
  const script = 'TIMEFORMAT="CPU %3U %3S"; time "$0" "$@" </dev/null';
  const child = spawn("bash", ["-c", script, program, ...words], { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let rssMb = 0;
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const watch = setInterval(() => {
    rssMb = Math.max(rssMb, ...childrenOf(child.pid).map(peakRssMb));
  }, WATCH_MS);
  const limit = setTimeout(() => child.kill("SIGKILL"), RUN_MS);
  const code = await new Promise((resolve) => child.once("close", resolve));
  clearInterval(watch);
  clearTimeout(limit);
  const [, user, system] = /CPU ([\d.]+) ([\d.]+)\s*$/.exec(output) ?? [];
  if (code !== 0 || user === undefined) throw new Error(`it ended with ${code}: ${output.slice(-500)}`);
  return { cpuMs: (Number(user) + Number(system)) * 1000, rssMb, output };
}

const proc = (path) => {
  try {
    return readFileSync(`/proc/${path}`, "utf8");
  } catch {
    return "";
  }
};

function cpuMs(pid) {
  const fields = proc(`${pid}/stat`).split(") ").at(-1).split(" ");
  return TIMES.reduce((sum, field) => sum + Number(fields[field]), 0) * TICK_MS;
}

const peakRssMb = (pid) => Number(/VmHWM:\s+(\d+)/.exec(proc(`${pid}/status`))?.[1] ?? 0) / 1024;

/** All below a process. */
function childrenOf(pid) {
  const below = proc(`${pid}/task/${pid}/children`).trim().split(" ").filter(Boolean);
  return below.flatMap((child) => [child, ...childrenOf(child)]);
}
