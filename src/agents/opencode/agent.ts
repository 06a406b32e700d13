// OpenCode as an agent: what it can do, how it is found, and how sessions connect to it.
import { stat } from "node:fs/promises";
import type { ModeInfo, ModelInfo } from "../../schema/event-data.ts";
import { ProcessRegistry, ProgramTimeout, runProgram } from "../../transports/index.ts";
import type { Agent, AgentHost, AgentInspection, ProbePlace } from "../contract.ts";
import { num, rec, records, str } from "../json.ts";
import { perDaemon } from "../kit/per-daemon.ts";
import { connect } from "./connect/connection.ts";
import { opencodeFiles } from "./connect/directory-files.ts";
import { ServerPool } from "./connect/server-pool.ts";
import { OPENCODE_PACKAGE } from "./package.ts";
import { forkPlace } from "./translate/fork-place.ts";
import { OpencodeTranslator } from "./translate/translator.ts";

const VERSION_MS = 30_000;

export const opencodeWith = (pool: ServerPool, versions: Versions = new Map()): Agent => ({
  id: "opencode",
  name: "OpenCode",
  sharesProcess: true,
  // One process serves sessions of many directories: further paths would reach all of them.
  skills: { project: [".claude", ".agents", ".opencode"], user: [".claude", ".agents"], upwards: true, door: "mcp_server" },
  npmPackage: OPENCODE_PACKAGE,
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
  createTranslator: () => new OpencodeTranslator(),
  inspect: (host) => inspect(versions, host),
  models: (host, place) => models(pool, host, place),
  modes: (host, place) => modes(pool, host, place),
  directoryFiles: opencodeFiles,
  forkPlace,
  connect: (launch) => connect(pool, launch),
  close: () => pool.close(),
});

export const opencodeAgent: Agent = perDaemon(() => opencodeWith(new ServerPool()));

async function inspect(versions: Versions, host: AgentHost): Promise<AgentInspection> {
  try {
    const { command, args } = await host.resolveCommand();
    const version = await versionOf(versions, command, args, host);
    return { installed: true, path: command, version, signed_in: null, advice: null };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const advice = `Install OpenCode with "npm install -g opencode-ai" or through the daemon. (${reason})`;
    return { installed: false, path: null, version: null, signed_in: null, advice };
  }
}

/** By file and its date: the binary has 180 MB and takes seconds to say its version on a busy machine. */
type Versions = Map<string, string | null>;

async function versionOf(versions: Versions, command: string, args: string[], host: AgentHost): Promise<string | null> {
  const changed = await stat(command).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
  const name = JSON.stringify([command, args, changed]);
  const known = versions.get(name);
  if (known) return known;
  try {
    const stdout = await runProgram(command, {
      args: [...args, "--version"],
      cwd: host.stateDir,
      env: host.environment({}),
      timeoutMs: VERSION_MS,
      recorder: new ProcessRegistry(host.processDir),
    });
    const version = stdout.trim().split("\n").at(-1) || null;
    versions.set(name, version);
    return version;
  } catch (error) {
    // Too slow to answer is not absent.
    if (error instanceof ProgramTimeout) return null;
    throw error;
  }
}

async function ask(pool: ServerPool, host: AgentHost, { directory, trusted }: ProbePlace, path: string): Promise<unknown> {
  const { server, release } = pool.lease(host, {}, trusted);
  try {
    return (await server.request("GET", path, { directory, secret: true })).body;
  } finally {
    await release();
  }
}

async function models(pool: ServerPool, host: AgentHost, place: ProbePlace): Promise<ModelInfo[]> {
  const body = rec(await ask(pool, host, place, "/config/providers"));
  const preferred = rec(body.default);
  return records(body.providers).flatMap((provider) => {
    const providerId = str(provider.id) ?? "";
    return Object.entries(rec(provider.models)).map(([id, model]): ModelInfo => {
      const { name, variants, limit } = rec(model);
      const window = num(rec(limit).context);
      const variantNames = Object.keys(rec(variants));
      return {
        id: `${providerId}/${id}`,
        ...(typeof name === "string" ? { name } : {}),
        ...(variantNames.length > 0 ? { variants: variantNames } : {}),
        ...(preferred[providerId] === id ? { is_default: true } : {}),
        ...(window === undefined ? {} : { context_window: window }),
      };
    });
  });
}

/** Sub-agents and hidden ones (titles, compaction) are no modes. */
async function modes(pool: ServerPool, host: AgentHost, place: ProbePlace): Promise<ModeInfo[]> {
  return records(await ask(pool, host, place, "/agent"))
    .filter((agent) => agent.mode !== "subagent" && agent.hidden !== true)
    .map((agent) => {
      const description = str(agent.description);
      return { id: str(agent.name) ?? "", ...(description === undefined ? {} : { description }) };
    });
}
