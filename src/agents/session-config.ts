/** How a session's agent is configured: what it is started with, and what of that can change while the session lives. */
import type { PermissionMode } from "../schema/event-data.ts";

export type McpServer =
  | { name: string; type: "stdio"; command: string; args?: string[]; env?: Record<string, string> }
  | { name: string; type: "http" | "sse"; url: string; headers?: Record<string, string> };

export type SessionConfig = {
  session_id: string;
  directory: string;
  /**
   * False: nothing of the directory may run or steer the agent: no settings, hooks, MCP servers, plugins, helpers, environment files. An agent that
   * cannot be started so refuses with `directory_untrusted`.
   */
  trusted: boolean;
  model: string | null;
  variant: string | null;
  agent_mode: string | null;
  permission_mode: PermissionMode;
  env: Record<string, string>;
  mcp_servers: McpServer[];
  system_prompt: string | null;
  metadata: Record<string, unknown>;
  /**
   * A folder of the daemon with skills that the agent would not find by itself: `<folder>/skills/<name>/SKILL.md`, and a manifest that makes it a plugin. Only
   * for agents with a door. For `skill_root` equal skills lie in the same folder: sessions that have the same one can share a process.
   */
  skills?: string;
};

export type ConfigPatch = Partial<Pick<SessionConfig, "model" | "variant" | "agent_mode" | "permission_mode">>;
