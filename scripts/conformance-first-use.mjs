/**
 * A real agent as a new user meets it: the packed package, an empty folder, a fresh HOME, and two commands to the first answer: install, run. The agent is
 * installed already and its model is scripted. Needs the npm registry for the dependencies.
 */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { commandVariable } from "../build/daemon/agent-host.js";
import { startModelServer } from "../build/verify/model-server/index.js";
import { verifyProfiles } from "../build/verify/profiles.js";
import { commonScenarios } from "../build/verify/scenario/index.js";

const run = promisify(execFile);
const project = fileURLToPath(new URL("..", import.meta.url));
const scenario = commonScenarios.find(({ name }) => name === "text");
const LONGEST_MS = 300_000;

/** What went wrong, in sentences; none when the agent answered. How long it took is printed, and no bar: the machine may be busy. */
export async function firstUse(agent, env) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "dragoman-first-use-")));
  const model = await startModelServer({ scenarios: [scenario], default: scenario.name });
  try {
    for (const name of ["home", "app", "own"]) mkdirSync(join(root, name));
    return await tried(agent, { env, root, model });
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  } finally {
    await model.close();
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function tried(agent, { env, root, model }) {
  const app = join(root, "app");
  const place = { home: join(root, "home"), root, modelUrl: model.url, port: model.port };
  const profile = verifyProfiles.get(agent);
  const setUp = await profile.setUp(place);
  const own = await profile.forScenario?.(scenario, { ...place, directory: app, own: join(root, "own") });
  const registry = (await run("npm", ["config", "get", "registry"], { cwd: project })).stdout.trim();
  const mine = {
    ...{ PATH: process.env.PATH, HOME: place.home, DRAGOMAN_PORT: "0" },
    ...{ npm_config_registry: registry, npm_config_update_notifier: "false" },
    ...{ ...setUp.env, ...own?.env },
    ...(env[commandVariable(agent)] ? { [commandVariable(agent)]: env[commandVariable(agent)] } : {}),
  };
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", root], { cwd: project, maxBuffer: 64 * 1024 * 1024 });
  const tarball = readdirSync(root).find((name) => name.endsWith(".tgz"));
  const timed = async (program, ...args) => {
    const began = Date.now();
    const answer = await run(program, args, { cwd: app, env: mine, timeout: LONGEST_MS });
    return { ...answer, ms: Date.now() - began };
  };
  const installed = await timed("npm", "install", "--no-audit", "--no-fund", join(root, tarball));
  try {
    const first = await timed("npx", "dragoman", "run", agent, "Say hello.");
    const second = await timed("npx", "dragoman", "run", agent, "Say it again.");
    const seconds = ({ ms }) => `${(ms / 1000).toFixed(1)} s`;
    console.log(`${agent}: install ${seconds(installed)}, first answer ${seconds(first)}, the next one ${seconds(second)}`);
    const expected = scenario.turns[0].steps.flatMap(({ blocks }) => blocks.map(({ text }) => text)).join("");
    return [
      ...(first.stdout.trim() === expected.trim()
        ? []
        : [`it said ${JSON.stringify(first.stdout)}, not ${JSON.stringify(expected)}`]),
      ...(first.stderr.includes("Started the daemon") ? [] : ["the daemon was not started by `run`"]),
      ...(second.stderr.includes("Started the daemon") ? ["the daemon was started twice"] : []),
    ];
  } finally {
    await timed("npx", "dragoman", "stop");
  }
}
