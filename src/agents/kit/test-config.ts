/** For tests: the settings of a session in which nothing is set. */
import type { SessionConfig } from "../contract.ts";

export const sessionConfig = (more: Partial<SessionConfig> = {}): SessionConfig => ({
  session_id: "s1",
  directory: "/w",
  trusted: true,
  model: null,
  variant: null,
  agent_mode: null,
  permission_mode: "default",
  env: {},
  mcp_servers: [],
  system_prompt: null,
  metadata: {},
  ...more,
});
