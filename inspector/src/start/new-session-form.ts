/** What a new session is asked for: one form, filled by chips and the options behind them, and the request it means. */
import type { PermissionMode } from "../../../src/schema/event-data.ts";
import type { AgentInfo, CreateSession, Session } from "../../../src/schema/session.ts";
import type { Preferences } from "../state/preferences.ts";
import { parseEnvironment, parseServers } from "./typed-settings.ts";

export const permissionModes: { id: PermissionMode; name: string; about: string }[] = [
  { id: "default", name: "Ask", about: "Asks before it acts" },
  { id: "plan", name: "Plan only", about: "Reads and plans, changes nothing" },
  { id: "accept_edits", name: "Accept edits", about: "Edits files without asking" },
  { id: "bypass", name: "Allow all", about: "Never asks" },
];

export const offeredModes = (info: AgentInfo | undefined): typeof permissionModes => {
  const offered = info?.capabilities.permission_modes;
  return permissionModes.filter((mode) => !Array.isArray(offered) || offered.includes(mode.id));
};

export type Form = {
  agent: string;
  directory: string;
  model: string;
  variant: string;
  mode: string;
  permission: PermissionMode;
  title: string;
  environment: string;
  servers: string;
  system: string;
  resume: string;
};

export const emptyForm: Form = {
  agent: "",
  directory: "",
  model: "",
  variant: "",
  mode: "",
  permission: "default",
  title: "",
  environment: "",
  servers: "",
  system: "",
  resume: "",
};

export function requestOf(form: Form): CreateSession {
  const environment = parseEnvironment(form.environment);
  const servers = parseServers(form.servers);
  return {
    agent: form.agent,
    permission_mode: form.permission,
    ...(form.directory ? { directory: form.directory } : {}),
    ...(form.title ? { title: form.title } : {}),
    ...(form.model ? { model: form.model } : {}),
    ...(form.variant ? { variant: form.variant } : {}),
    ...(form.mode ? { agent_mode: form.mode } : {}),
    ...(Object.keys(environment).length > 0 ? { env: environment } : {}),
    ...(servers.length > 0 ? { mcp_servers: servers } : {}),
    ...(form.system ? { system_prompt: form.system } : {}),
    ...(form.resume ? { resume_native: form.resume } : {}),
  };
}

export const isReady = ({ installed, signed_in }: AgentInfo): boolean => installed && signed_in !== false;

/** The agent to begin with: the chosen default, the one used last, or the first that is ready. The mock is nobody's first choice. */
export function firstAgent(agents: readonly AgentInfo[], { agent }: Preferences, rows: readonly Session[]): string {
  const ready = agents.filter(isReady);
  const wanted = [agent, rows[0]?.agent].find((id) => ready.some((each) => each.agent === id));
  return wanted ?? (ready.find((each) => each.agent !== "mock") ?? ready[0])?.agent ?? "";
}

const MOST_RECENT = 12;

/** Directories of the newest sessions, each once. */
export const recentDirectories = (rows: readonly Session[]): string[] =>
  [...new Set(rows.map(({ directory }) => directory))].slice(0, MOST_RECENT);
