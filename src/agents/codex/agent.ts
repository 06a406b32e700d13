// Codex as an agent of the daemon: what it can do, how it is found, and how sessions get their line to it.
import { access } from "node:fs/promises";
import { join } from "node:path";
import type { ModelInfo } from "../../schema/event-data.ts";
import { ProcessRegistry, runProgram } from "../../transports/index.ts";
import type { Agent, AgentHost, AgentInspection } from "../contract.ts";
import { str } from "../json.ts";
import { perDaemon } from "../kit/per-daemon.ts";
import { connect } from "./connect/connection.ts";
import { codexFiles } from "./connect/directory-files.ts";
import { codexHome, rulesRefusal } from "./connect/exec-rules.ts";
import { ServerPool } from "./connect/server-pool.ts";
import { modelsOf } from "./translate/config.ts";
import { forkPlace } from "./translate/fork-place.ts";
import { CodexTranslator } from "./translate/translator.ts";

/** Makes the process another one than that of the sessions; Codex does not know it. */
const PROBE = { DRAGOMAN_PROBE: "models" };
const VERSION_TIMEOUT_MS = 10_000;
const MODEL_PAGES = 20;

const codexWith = (pool: ServerPool): Agent => ({
  id: "codex",
  name: "Codex",
  sharesProcess: true,
  // One process serves sessions of many directories: further roots would reach all of them.
  skills: { project: [".agents", ".codex"], user: [".agents", ".codex"], upwards: true, door: "mcp_server" },
  capabilities: {
    permissions: true,
    edit_input: false,
    questions: true,
    steer: true,
    interrupt: true,
    resume: true,
    fork: true,
    images: true,
    mcp_servers: true,
    system_prompt: true,
    deltas: true,
    reasoning: true,
    plans: true,
    subagents: true,
    settings: { model: true, variant: true, agent_mode: true },
    live: { model: true, variant: true, agent_mode: true, permission_mode: true },
    permission_modes: ["default", "plan", "accept_edits", "bypass"],
  },
  npmPackage: { name: "@openai/codex", version: "0.166.0", bin: "codex" },
  createTranslator: () => new CodexTranslator(),
  inspect,
  refusal: async (config, host) => rulesRefusal(config, codexHome(str(host.settings.home), host.environment(config.env))),
  models: (host) => models(pool, host),
  modes: async () => [
    { id: "default", name: "Default" },
    { id: "plan", name: "Plan", description: "Codex makes a plan with you and changes nothing." },
  ],
  directoryFiles: codexFiles,
  forkPlace,
  connect: (launch) => connect(pool, launch),
  close: () => pool.close(),
});

export const codexAgent: Agent = perDaemon(() => codexWith(new ServerPool()));

async function inspect(host: AgentHost): Promise<AgentInspection> {
  try {
    const { command, args } = await host.resolveCommand();
    const env = host.environment({});
    const stdout = await runProgram(command, {
      args: [...args, "--version"],
      cwd: host.stateDir,
      env,
      timeoutMs: VERSION_TIMEOUT_MS,
      recorder: new ProcessRegistry(host.processDir),
    });
    const signedIn = await hasLogin(host, env);
    return {
      installed: true,
      path: command,
      version: stdout.trim().split(/\s+/).at(-1) ?? null,
      // Without a login of its own Codex may still use a provider of its configuration.
      signed_in: signedIn ? true : null,
      advice: signedIn ? null : "Run `codex login`, or configure a model provider in config.toml.",
    };
  } catch (error) {
    const advice = error instanceof Error ? error.message : String(error);
    return { installed: false, path: null, version: null, signed_in: null, advice };
  }
}

async function hasLogin(host: AgentHost, env: Record<string, string>): Promise<boolean> {
  if (env.OPENAI_API_KEY || env.CODEX_API_KEY) return true;
  const home = codexHome(str(host.settings.home), env);
  return access(join(home, "auth.json")).then(
    () => true,
    () => false,
  );
}

async function models(pool: ServerPool, host: AgentHost): Promise<ModelInfo[]> {
  // In a process of its own: what a shared one answers would stand in the ledger of every session on it.
  const { server, release } = await pool.acquire(host, PROBE);
  try {
    const found: ModelInfo[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MODEL_PAGES; page++) {
      const answer = await server.request("model/list", cursor === undefined ? {} : { cursor });
      found.push(...modelsOf(answer));
      cursor = str(answer.nextCursor);
      if (cursor === undefined) break;
    }
    return found;
  } finally {
    await release();
  }
}
