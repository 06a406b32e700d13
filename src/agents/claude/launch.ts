// How Claude Code is started for a session: its arguments, and the one file they may name. Nothing is written into the user's repository.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AgentError, type Launch, type McpServer } from "../contract.ts";
import { toNativeMode } from "./modes.ts";

const BASE = [
  "-p",
  "--input-format",
  "stream-json",
  "--output-format",
  "stream-json",
  "--verbose",
  "--include-partial-messages",
  "--permission-prompt-tool",
  "stdio",
];

export type Arguments = {
  args: string[];
  /** The CLI lets the session change to the mode that asks for nothing. */
  mayBypass: boolean;
  /** Removes what was written for this start. */
  clean(): void;
};

export function launchArguments(
  { config, resume, host }: Pick<Launch, "config" | "resume" | "host">,
  env: Record<string, string>,
): Arguments {
  const mayBypass = config.permission_mode === "bypass" || !refusesBypass(env);
  const mcp = config.mcp_servers.length > 0 ? mcpFile(host.stateDir, config.session_id, config.mcp_servers) : null;
  const args = [
    ...BASE,
    // Joined with `=`: a value can never be read as an option.
    `--permission-mode=${toNativeMode(config.permission_mode)}`,
    ...(mayBypass ? ["--allow-dangerously-skip-permissions"] : []),
    ...named("--model", config.model),
    ...named("--effort", config.variant),
    ...named("--agent", config.agent_mode),
    ...named("--resume", resume?.native_session_id ?? null),
    ...(resume?.fork ? ["--fork-session"] : []),
    ...(mcp ? [`--mcp-config=${mcp}`] : []),
    ...(config.system_prompt ? [`--append-system-prompt=${config.system_prompt}`] : []),
  ];
  return {
    args,
    mayBypass,
    clean: () => {
      if (mcp) rmSync(mcp, { force: true });
    },
  };
}

/** Claude Code refuses to start as root with that option, unless it is told that it runs in a sandbox. */
export const refusesBypass = (env: Record<string, string>): boolean => process.getuid?.() === 0 && !env.IS_SANDBOX;

function named(option: string, value: string | null): string[] {
  if (value === null || value === "") return [];
  if (value.startsWith("-"))
    throw new AgentError(
      "agent_refused",
      `${JSON.stringify(value)} cannot be a value of ${option}: it must not begin with a dash.`,
    );
  return [`${option}=${value}`];
}

export function mcpServers(servers: McpServer[]): Record<string, object> {
  return Object.fromEntries(servers.map(({ name, ...server }) => [name, server]));
}

/** A file of ours, not an argument: the command line of a process can be read by everybody, and servers have secrets. */
function mcpFile(stateDir: string, sessionId: string, servers: McpServer[]): string {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const path = join(stateDir, `mcp-${sessionId.replace(/[^\w-]/g, "_")}.json`);
  writeFileSync(path, JSON.stringify({ mcpServers: mcpServers(servers) }), { mode: 0o600 });
  return path;
}
