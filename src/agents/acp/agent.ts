// ACP agents: one implementation for all. The built-in ones, and `createAcpAgent` for those a configuration names.
import type { PermissionMode } from "../../schema/event-data.ts";
import { LATER } from "../../transports/index.ts";
import type { Agent, AgentCapabilities, AgentHost, AgentInspection, ProbePlace } from "../contract.ts";
import { rec, str } from "../json.ts";
import { capabilities } from "../kit/capabilities.ts";
import { inspectProgram } from "../kit/inspect.ts";
import { perDaemon } from "../kit/per-daemon.ts";
import { connectAcp } from "./connect/connection.ts";
import { AcpLine } from "./connect/line.ts";
import { LiveSettings } from "./connect/live-settings.ts";
import { configuredUse } from "./connect/restriction.ts";
import { type AcpDefinition, acpDefinitions, geminiDefinition } from "./definitions.ts";
import { PLAIN, type Quirks, quirksOf } from "./translate/quirks.ts";
import { AcpTranslator } from "./translate/translator.ts";

const PROBE_MS = 60_000;

export const createAcpAgent = (definition: AcpDefinition): Agent => perDaemon(() => acpAgent(definition));

function acpAgent(definition: AcpDefinition): Agent {
  const unspoken = new Set<string>();
  return {
    id: definition.id,
    name: definition.name,
    npmPackage: definition.npmPackage,
    skills: {
      project: [],
      user: [],
      upwards: false,
      ...definition.skills,
      door: definition.skillRoot ? "skill_root" : "mcp_server",
    },
    capabilities: capabilitiesOf(definition),
    createTranslator: () => new AcpTranslator({ quirks: quirksOf(definition.quirks) }),
    inspect: (host) => inspect(definition, host),
    refusal: async (config, host) => definition.refusal?.(config, host.environment(config.env)) ?? null,
    models: async (host, place) => (await probe(definition, host, place)).models(),
    modes: async (host, place) => (await probe(definition, host, place)).modes(),
    directoryFiles: (directory) => definition.directory.files(directory),
    ...(definition.carry ? { carry: definition.carry } : {}),
    connect: (launch) => connectAcp(definition, launch, unspoken),
  };
}

/** An agent from `agents.acp.<name>`: its command, arguments, environment and `auth` (a method id) are in the host's settings. */
export function configuredAcpAgent(name: string, settings: Record<string, unknown> = {}): Agent {
  return createAcpAgent({
    id: name,
    name: str(settings.name) ?? name,
    quirks: str(settings.quirks) ?? PLAIN.id,
    args: [],
    directory: configuredUse(settings),
    auth: [],
    npmPackage: null,
    able: {},
  });
}

export const geminiAgent: Agent = createAcpAgent(geminiDefinition);

/** Every built-in agent that speaks ACP, Gemini first. */
export const acpAgents: readonly Agent[] = acpDefinitions.map((definition) =>
  definition === geminiDefinition ? geminiAgent : createAcpAgent(definition),
);

/** For traces of any ACP agent: it finds out from the first answer which one it is. */
export const createAcpTranslator = (): AcpTranslator => new AcpTranslator();

function capabilitiesOf({ able, settings, live, modes, quirks }: AcpDefinition): AgentCapabilities {
  return capabilities({
    ...{ steer: false, fork: false, system_prompt: false, plans: false, subagents: false },
    ...able,
    ...{ settings, live },
    permission_modes: modes ?? modesOf(quirksOf(quirks)),
  });
}

/** Plan needs a mode of the agent's own; the others are kept by answering its requests. */
function modesOf({ permissionModes = {}, planOption }: Quirks): PermissionMode[] {
  const plans = planOption !== undefined || Object.values(permissionModes).includes("plan");
  return plans ? ["default", "plan", "accept_edits", "bypass"] : ["default", "accept_edits", "bypass"];
}

const inspect = (definition: AcpDefinition, host: AgentHost): Promise<AgentInspection> =>
  inspectProgram(host, {
    maySayNoVersion: true,
    signedIn: (env) => (definition.auth.some(({ variable }) => env[variable]) ? true : null),
    // A configured command may be an interpreter with a script: that is asked, without what makes it speak ACP.
    versionArgs: (args) => {
      const speaks = args.findIndex((arg) => arg.startsWith("-") || definition.args.includes(arg));
      return speaks < 0 ? args : args.slice(0, speaks);
    },
  });

/** A short-lived session, to learn what it offers. */
async function probe(definition: AcpDefinition, host: AgentHost, place: ProbePlace): Promise<LiveSettings> {
  const { line, abilities } = await AcpLine.open(
    host,
    definition,
    { ...place, env: {} },
    {
      channel: null,
      onRequest: (_method, _params, _id, respond) => {
        respond.error(new Error("This session is only a question for settings."));
        return LATER;
      },
      onUpdate: () => {},
      onCancel: () => {},
      onExit: () => {},
    },
  );
  try {
    const result = rec(await line.ask("session/new", { cwd: place.directory, mcpServers: [], _meta: line.meta }, PROBE_MS));
    const settings = new LiveSettings(str(result.sessionId) ?? "", abilities.version, (method, params) =>
      line.ask(method, params),
    );
    settings.learn(result);
    return settings;
  } catch (error) {
    throw line.explain(error);
  } finally {
    await line.stop();
  }
}
