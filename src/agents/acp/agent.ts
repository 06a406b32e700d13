// ACP agents: one implementation for all. The built-in ones, and `createAcpAgent` for those a configuration names.
import type { PermissionMode } from "../../schema/event-data.ts";
import { LATER, ProcessRegistry, runProgram } from "../../transports/index.ts";
import type { Agent, AgentCapabilities, AgentHost, AgentInspection, ProbePlace } from "../contract.ts";
import { rec, str } from "../json.ts";
import { perDaemon } from "../kit/per-daemon.ts";
import { connectAcp } from "./connect/connection.ts";
import { AcpLine } from "./connect/line.ts";
import { LiveSettings } from "./connect/live-settings.ts";
import { configuredUse } from "./connect/restriction.ts";
import { type AcpDefinition, acpDefinitions, geminiDefinition } from "./definitions.ts";
import { PLAIN, type Quirks, quirksOf } from "./translate/quirks.ts";
import { AcpTranslator } from "./translate/translator.ts";

const VERSION_TIMEOUT_MS = 20_000;

export const createAcpAgent = (definition: AcpDefinition): Agent => perDaemon(() => acpAgent(definition));

function acpAgent(definition: AcpDefinition): Agent {
  const unspoken = new Set<string>();
  return {
    id: definition.id,
    name: definition.name,
    npmPackage: definition.npmPackage,
    skills: { project: [], user: [], upwards: false, ...definition.skills, door: "mcp_server" },
    capabilities: capabilitiesOf(definition),
    createTranslator: () => new AcpTranslator({ quirks: quirksOf(definition.quirks) }),
    inspect: (host) => inspect(definition, host),
    refusal: async (config, host) => definition.refusal?.(config, host.environment(config.env)) ?? null,
    models: async (host, place) => (await probe(definition, host, place)).models(),
    modes: async (host, place) => (await probe(definition, host, place)).modes(),
    directoryFiles: (directory) => definition.directory.files(directory),
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

/** For traces of any ACP agent: it tells from the first answer which one it is. */
export const createAcpTranslator = (): AcpTranslator => new AcpTranslator();

function capabilitiesOf(definition: AcpDefinition): AgentCapabilities {
  return {
    permissions: true,
    edit_input: false,
    questions: true,
    steer: false,
    interrupt: true,
    resume: true,
    fork: false,
    images: true,
    mcp_servers: true,
    system_prompt: false,
    deltas: true,
    reasoning: true,
    plans: false,
    subagents: false,
    ...definition.able,
    settings: { model: true, variant: true, agent_mode: true, ...definition.settings },
    live: { model: true, variant: true, agent_mode: true, permission_mode: true, ...definition.live },
    permission_modes: definition.modes ?? modesOf(quirksOf(definition.quirks)),
  };
}

/** Plan needs a mode of the agent's own; the others are kept by answering its requests. */
function modesOf({ permissionModes = {}, planOption }: Quirks): PermissionMode[] {
  const plans = planOption !== undefined || Object.values(permissionModes).includes("plan");
  return plans ? ["default", "plan", "accept_edits", "bypass"] : ["default", "accept_edits", "bypass"];
}

async function inspect(definition: AcpDefinition, host: AgentHost): Promise<AgentInspection> {
  let found: { command: string; args: string[] };
  try {
    found = await host.resolveCommand();
  } catch (error) {
    return {
      installed: false,
      path: null,
      version: null,
      signed_in: null,
      advice: error instanceof Error ? error.message : String(error),
    };
  }
  const env = host.environment({});
  const { command, args } = found;
  // A configured command may be an interpreter with a script: that is asked, without what makes it speak ACP.
  const speaks = args.findIndex((arg) => arg.startsWith("-") || definition.args.includes(arg));
  const script = speaks < 0 ? args : args.slice(0, speaks);
  const version = await runProgram(command, {
    args: [...script, "--version"],
    cwd: host.stateDir,
    env,
    timeoutMs: VERSION_TIMEOUT_MS,
    recorder: new ProcessRegistry(host.processDir),
  })
    .then((stdout) => /\d+\.\d+\.\d+(?:[-+.]\w+)*/.exec(stdout)?.[0] ?? null)
    .catch(() => null);
  const signedIn = definition.auth.some(({ variable }) => env[variable]) ? true : null;
  return { installed: true, path: command, version, signed_in: signedIn, advice: null };
}

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
    const result = rec(
      await line.ask("session/new", { cwd: place.directory, mcpServers: [], _meta: line.meta }, VERSION_TIMEOUT_MS * 3),
    );
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
