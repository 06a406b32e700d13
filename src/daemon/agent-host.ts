// What the daemon gives every agent: its command, its environment, a place for files, channels into sessions.
import { accessSync, constants, existsSync, mkdirSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Agent, AgentError, type AgentHost } from "../agents/contract.ts";
import { AGENT_VARIABLE, formatMark, instanceId, newMark, PROCESS_MARK_VARIABLE } from "../transports/index.ts";
import type { AgentSettings } from "./config.ts";
import { version } from "./version.ts";

/** Variables that would show an agent that it runs inside another one, or let it reach the daemon that watches it. */
const WITHHELD = [
  /^DRAGOMAN_/,
  /^CLAUDECODE$/,
  /^CLAUDE_CODE_(ENTRYPOINT|SSE_PORT|SESSION_ID|EXECPATH|REMOTE|CHILD_SESSION)/,
  /^(npm_|INIT_CWD$)/,
  /^VITEST/,
];

export type LogLevel = "debug" | "info" | "warn" | "error";

/** An agent and what the daemon gives it. */
export type HostedAgent = { agent: Agent; host: AgentHost };

export type HostOptions = {
  agent: Pick<Agent, "id" | "name" | "npmPackage">;
  settings: AgentSettings;
  dataDir: string;
  env: NodeJS.ProcessEnv;
  openChannel: AgentHost["openChannel"];
  openTerminals?: AgentHost["openTerminals"];
  skills?: AgentHost["skills"];
  children?: AgentHost["children"];
  log(level: LogLevel, message: string, fields?: Record<string, unknown>): void;
};

export function createAgentHost(options: HostOptions): AgentHost {
  const { agent, settings, dataDir, env, openChannel, openTerminals, skills, children, log } = options;
  const stateDir = join(dataDir, "agents", agent.id);
  const processDir = join(dataDir, "processes");
  for (const folder of [stateDir, processDir]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Recorded processes get a mark of their own; this one is for short-lived ones, such as a question for the version.
  const own = { [AGENT_VARIABLE]: agent.id, [PROCESS_MARK_VARIABLE]: formatMark(newMark(instanceId(processDir))) };
  return {
    settings,
    stateDir,
    processDir,
    version,
    openChannel,
    ...(openTerminals ? { openTerminals } : {}),
    ...(skills ? { skills } : {}),
    ...(children ? { children } : {}),
    log,
    async resolveCommand() {
      const found = findCommand(agent, settings, stateDir, env);
      if (found) return found;
      throw new AgentError("agent_not_found", notFound(agent));
    },
    environment: (extra) => ({ ...agentEnvironment(env), ...settings.env, ...extra, ...own }),
  };
}

export const notFound = (agent: Pick<Agent, "id" | "name" | "npmPackage">): string =>
  agent.npmPackage
    ? `${agent.name} is not installed. Run \`dragoman agents install ${agent.id}\`, put \`${agent.npmPackage.bin}\` on the PATH, or set ${commandVariable(agent.id)}.`
    : `${agent.name} is not installed. Put its program on the PATH or set ${commandVariable(agent.id)}.`;

export const commandVariable = (id: string): string => `DRAGOMAN_${id.toUpperCase().replace(/[^A-Z0-9]/g, "_")}_COMMAND`;

/** In this order: configuration file, environment variable, what `install` put into the data directory, PATH. */
function findCommand(
  agent: Pick<Agent, "id" | "npmPackage">,
  settings: AgentSettings,
  stateDir: string,
  env: NodeJS.ProcessEnv,
): { command: string; args: string[] } | undefined {
  const args = settings.args ?? [];
  if (settings.command) return { command: settings.command, args };
  const fromEnv = env[commandVariable(agent.id)];
  if (fromEnv) return { command: fromEnv, args };
  const bin = agent.npmPackage?.bin ?? agent.id;
  const installed = join(stateDir, "node_modules", ".bin", bin);
  if (existsSync(installed)) return { command: installed, args };
  const onPath = whichSync(bin, env.PATH ?? "");
  return onPath ? { command: onPath, args } : undefined;
}

function whichSync(name: string, path: string): string | undefined {
  for (const directory of path.split(delimiter)) {
    const file = join(directory, name);
    try {
      accessSync(file, constants.X_OK);
      if (statSync(file).isFile()) return file;
    } catch {
      // not here
    }
  }
  return undefined;
}

/** The daemon's own environment without what is not for the programs it starts. */
export function agentEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  const child: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !WITHHELD.some((pattern) => pattern.test(name))) child[name] = value;
  }
  return child;
}
