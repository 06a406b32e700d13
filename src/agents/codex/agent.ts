// Codex as an agent of the daemon: what it can do, how it is found, and how sessions get their line to it.
import { access } from "node:fs/promises";
import { join } from "node:path";
import type { ModelInfo } from "../../schema/event-data.ts";
import type { Agent, AgentHost } from "../contract.ts";
import { str } from "../json.ts";
import { capabilities } from "../kit/capabilities.ts";
import { inspectProgram } from "../kit/inspect.ts";
import { perDaemon } from "../kit/per-daemon.ts";
import { connect } from "./connect/connection.ts";
import { codexFiles } from "./connect/directory-files.ts";
import { rulesRefusal } from "./connect/exec-rules.ts";
import { carriedThread, homeOf } from "./connect/rollout.ts";
import { ServerPool } from "./connect/server-pool.ts";
import { modelsOf } from "./translate/config.ts";
import { forkPlace } from "./translate/fork-place.ts";
import { CodexTranslator } from "./translate/translator.ts";

/** Makes the process another one than that of the sessions; Codex does not know it. */
const PROBE = { DRAGOMAN_PROBE: "models" };
const MODEL_PAGES = 20;

const codexWith = (pool: ServerPool): Agent => ({
  id: "codex",
  name: "Codex",
  sharesProcess: true,
  skills: { project: [".agents", ".codex"], user: [".agents", ".codex"], upwards: true, door: "skill_root" },
  capabilities: capabilities(),
  npmPackage: { name: "@openai/codex", version: "0.166.0", bin: "codex" },
  createTranslator: () => new CodexTranslator(),
  inspect: (host) =>
    inspectProgram(host, {
      // Without a login of its own Codex may still use a provider of its configuration.
      signedIn: async (env) => ((await hasLogin(host, env)) ? true : null),
      signInAdvice: { when: "not_sure", advice: "Run `codex login`, or configure a model provider in config.toml." },
    }),
  refusal: async (config, host) => rulesRefusal(config, homeOf(host, host.environment(config.env))),
  models: (host) => models(pool, host),
  modes: async () => [
    { id: "default", name: "Default" },
    { id: "plan", name: "Plan", description: "Codex makes a plan with you and changes nothing." },
  ],
  directoryFiles: codexFiles,
  forkPlace,
  carry: carriedThread,
  connect: (launch) => connect(pool, launch),
  close: () => pool.close(),
});

export const codexAgent: Agent = perDaemon(() => codexWith(new ServerPool()));

async function hasLogin(host: AgentHost, env: Record<string, string>): Promise<boolean> {
  if (env.OPENAI_API_KEY || env.CODEX_API_KEY) return true;
  return access(join(homeOf(host, env), "auth.json")).then(
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
