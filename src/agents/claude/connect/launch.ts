// How Claude Code is started for a session: its arguments, and the one file they may name. Nothing is written into the user's repository.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PermissionMode } from "../../../schema/event-data.ts";
import { AgentError, type Launch, type McpServer } from "../../contract.ts";
import type { JsonRecord } from "../../json.ts";
import { toNativeMode } from "../translate/modes.ts";
import { askRules } from "./allow-rules.ts";
import { RESTRICTED_ARGS } from "./directory-files.ts";

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
  /** What of the arguments a permission mode decides. A change of mode that changes this needs a new process. */
  permissions: string;
  /** Removes what was written for this start. */
  clean(): void;
};

export function launchArguments(
  { config, resume, host }: Pick<Launch, "config" | "resume" | "host">,
  env: Record<string, string>,
): Arguments {
  const permissions = permissionArguments(config.permission_mode, config.directory, env);
  const mcp = config.mcp_servers.length > 0 ? mcpFile(host.stateDir, config.session_id, config.mcp_servers) : null;
  const args = [
    ...BASE,
    ...(config.trusted ? [] : RESTRICTED_ARGS),
    // Joined with `=`: a value can never be read as an option.
    `--permission-mode=${toNativeMode(config.permission_mode)}`,
    ...permissions,
    ...named("--model", config.model),
    ...named("--effort", config.variant),
    ...named("--agent", config.agent_mode),
    ...named("--resume", resume?.native_session_id ?? null),
    ...(resume?.fork ? ["--fork-session", ...named("--resume-session-at", resume.at ?? null)] : []),
    ...(mcp ? [`--mcp-config=${mcp}`] : []),
    ...(config.skills === undefined ? [] : [`--plugin-dir=${config.skills}`]),
    ...(config.system_prompt ? [`--append-system-prompt=${config.system_prompt}`] : []),
  ];
  return {
    args,
    permissions: permissions.join(" "),
    clean: () => {
      if (mcp) rmSync(mcp, { force: true });
    },
  };
}

/** Settings that rank above those of files; undefined when there are none. */
export function permissionSettings(mode: PermissionMode, directory: string, env: Record<string, string>): JsonRecord | undefined {
  const ask = askRules(mode, directory, env);
  return ask.length === 0 ? undefined : { permissions: { ask } };
}

/** Bypass sessions alone get the option that allows bypass: before about 2.1.270, plan is bypass for a process that has it. */
export function permissionArguments(mode: PermissionMode, directory: string, env: Record<string, string>): string[] {
  if (mode === "bypass") return ["--allow-dangerously-skip-permissions"];
  const settings = permissionSettings(mode, directory, env);
  return settings === undefined ? [] : [`--settings=${JSON.stringify(settings)}`];
}

/** Claude Code refuses to start in bypass as root, unless it is informed that it runs in a sandbox: by exactly this value. */
export const bypassRefusal = (mode: PermissionMode, env: Record<string, string>): string | null =>
  mode === "bypass" && process.getuid?.() === 0 && env.IS_SANDBOX !== "1"
    ? "Claude Code does not allow bypass for root. Set IS_SANDBOX to 1 in a sandbox, or run it as another user."
    : null;

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
