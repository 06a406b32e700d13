// A real agent whose command lives in a session of its own, in a daemon that is a process of its own and is killed with -9, alone and together with the agent:
// the next start must leave nothing of it. No scenario can show this, because the verify runner's daemon is the runner itself.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { commandVariable } from "../build/daemon/agent-host.js";
import { lingering, processesIn } from "../build/verify/leftovers.js";
import { startModelServer } from "../build/verify/model-server/index.js";
import { verifyProfiles } from "../build/verify/profiles.js";
import { commonScenarios, promptFor } from "../build/verify/scenario/index.js";
import { Dragoman } from "../dist/client/index.js";
import { startDaemon, stopped } from "./daemon.mjs";

const scenario = commonScenarios.find(({ name }) => name === "leftovers-terminate");
const START_MS = 90_000;
const GRACE_MS = 5_000;

/** What went wrong, in sentences; none when nothing was left. */
export async function crash(agent, env) {
  const failures = [];
  for (const killed of ["the daemon", "daemon and agent"]) {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "dragoman-crash-")));
    try {
      for (const name of ["home", "work", "own", "tmp"]) mkdirSync(join(root, name));
      failures.push(
        ...(await crashOnce(agent, env, root, killed === "daemon and agent")).map((text) => `${killed} killed: ${text}`),
      );
    } catch (error) {
      failures.push(`${killed} killed: ${error instanceof Error ? error.message : error}`);
    } finally {
      for (const { pid } of processesIn(root, "environment")) process.kill(pid, "SIGKILL");
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    }
  }
  return failures;
}

async function crashOnce(agent, env, root, agentToo) {
  const model = await startModelServer({ scenarios: [scenario], default: scenario.name });
  const directory = join(root, "work");
  const place = { home: join(root, "home"), root, modelUrl: model.url, port: model.port };
  const profile = verifyProfiles.get(agent);
  const setUp = await profile.setUp(place);
  const own = await profile.forScenario?.(scenario, { ...place, directory, own: join(root, "own") });
  const daemonEnv = {
    PATH: process.env.PATH,
    HOME: place.home,
    TMPDIR: join(root, "tmp"),
    ...(process.env.DRAGOMAN_NO_CGROUP ? { DRAGOMAN_NO_CGROUP: "1" } : {}),
    [commandVariable(agent)]: env[commandVariable(agent)],
    ...setUp.env,
  };
  const start = () => startDaemon(join(root, "data"), { env: daemonEnv, cwd: root });
  let daemon = await start();
  try {
    const client = new Dragoman({ url: daemon.url, token: daemon.token });
    const request = { agent, directory, permission_mode: "bypass", model: profile.models.first, ...own };
    const session = await client.createSession(request);
    session.on("permission", (permission) => void permission.allow().catch(() => {}));
    await session.send(profile.marks ? promptFor(scenario, 0, directory) : scenario.turns[0].prompt);
    const pids = await escaped(directory);
    await stopped(daemon.child, "SIGKILL");
    if (agentToo) for (const pid of recorded(root)) process.kill(pid, "SIGKILL");
    daemon = await start();
    const left = await lingering(directory, "directory", GRACE_MS);
    const alive = pids.filter((pid) => existsSync(`/proc/${pid}/exe`));
    return [
      ...left.map(({ pid, command }) => `process ${pid} lives on: ${command}`),
      ...alive.map((pid) => `command ${pid} lives on`),
    ];
  } finally {
    await stopped(daemon.child);
    await setUp.close?.();
    await model.close();
  }
}

/** The pids the two commands wrote, once both run. */
async function escaped(directory) {
  const files = ["one.pid", "two.pid"].map((name) => join(directory, name));
  for (const deadline = Date.now() + START_MS; Date.now() < deadline; await delay(100)) {
    const pids = files.map((file) => (existsSync(file) ? Number(readFileSync(file, "latin1")) : 0));
    if (pids.every((pid) => pid > 1)) return pids;
  }
  throw new Error("the commands did not start");
}

function recorded(root) {
  const folder = join(root, "data", "processes");
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")).pid);
}
