// OpenCode as an agent: what it can do, how it is found, and how sessions connect to it.
import type { ModeInfo, ModelInfo } from "../../schema/event-data.ts";
import type { Agent, AgentHost, ProbePlace } from "../contract.ts";
import { num, rec, records, str } from "../json.ts";
import { capabilities } from "../kit/capabilities.ts";
import { inspectProgram } from "../kit/inspect.ts";
import { perDaemon } from "../kit/per-daemon.ts";
import { connect } from "./connect/connection.ts";
import { opencodeFiles } from "./connect/directory-files.ts";
import { ServerPool } from "./connect/server-pool.ts";
import { OPENCODE_PACKAGE } from "./package.ts";
import { forkPlace } from "./translate/fork-place.ts";
import { OpencodeTranslator } from "./translate/translator.ts";

export const opencodeWith = (pool: ServerPool, versions = new Map<string, string>()): Agent => ({
  id: "opencode",
  name: "OpenCode",
  sharesProcess: true,
  // One process serves sessions of many directories: further paths would reach all of them.
  skills: { project: [".claude", ".agents", ".opencode"], user: [".claude", ".agents"], upwards: true, door: "skill_root" },
  npmPackage: OPENCODE_PACKAGE,
  capabilities: capabilities(),
  createTranslator: () => new OpencodeTranslator(),
  // The binary has 180 MB and takes seconds to say its version on a busy machine.
  inspect: (host) => inspectProgram(host, { known: versions }),
  models: (host, place) => models(pool, host, place),
  modes: (host, place) => modes(pool, host, place),
  directoryFiles: opencodeFiles,
  forkPlace,
  connect: (launch) => connect(pool, launch),
  close: () => pool.close(),
});

export const opencodeAgent: Agent = perDaemon(() => opencodeWith(new ServerPool()));

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
