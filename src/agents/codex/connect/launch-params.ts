// Our configuration in Codex's words: parameters of thread/start, resume and fork, of turns, and of live changes.
import type { ConfigPatch, McpServer, SessionConfig } from "../../contract.ts";
import type { JsonRecord } from "../../json.ts";
import { PERMISSION_MODES } from "../translate/config.ts";
import { trustConfig } from "./directory-files.ts";

type Mutable = Pick<SessionConfig, "model" | "variant" | "agent_mode" | "permission_mode">;

/** Parameters common to start, resume and fork. Policies are said again at every resume, so that none is widened by it. */
export function threadParams(config: SessionConfig): JsonRecord {
  const { approvalPolicy, sandbox } = PERMISSION_MODES[config.permission_mode];
  return {
    cwd: config.directory,
    approvalPolicy,
    sandbox,
    ...(config.model === null ? {} : { model: config.model }),
    ...(config.system_prompt === null ? {} : { developerInstructions: config.system_prompt }),
    config: {
      ...trustConfig(config),
      ...(config.mcp_servers.length === 0 ? {} : { mcp_servers: Object.fromEntries(config.mcp_servers.map(mcpEntry)) }),
    },
  };
}

function mcpEntry(server: McpServer): [string, JsonRecord] {
  if (server.type === "stdio")
    return [server.name, { command: server.command, args: server.args ?? [], ...(server.env ? { env: server.env } : {}) }];
  return [server.name, { url: server.url, ...(server.headers ? { http_headers: server.headers } : {}) }];
}

/** The model and effort the thread really has. */
export type Actual = { model: string | null; effort: string | null };

/** Plan is a mode of working together in Codex, not a policy. The mode carries model and effort, so they must be known, or it would reset them. */
function collaborationMode(config: Mutable, model: string, effort: string | null): JsonRecord {
  const mode = config.permission_mode === "plan" ? "plan" : (config.agent_mode ?? "default");
  return { mode, settings: { model, reasoning_effort: config.variant ?? effort, developer_instructions: null } };
}

/** Overrides of turn/start. They stick, and repeating them changes nothing. */
export function turnParams(config: Mutable, { model, effort }: Actual): JsonRecord {
  const { approvalPolicy, sandboxPolicy } = PERMISSION_MODES[config.permission_mode];
  return {
    approvalPolicy,
    sandboxPolicy,
    ...(config.model === null ? {} : { model: config.model }),
    ...(config.variant === null ? {} : { effort: config.variant }),
    ...(needsMode(config) && model !== null ? { collaborationMode: collaborationMode(config, model, effort) } : {}),
  };
}

export const needsMode = (config: Mutable): boolean => config.permission_mode === "plan" || config.agent_mode !== null;

/** thread/settings/update for a live change. */
export function settingsParams(patch: ConfigPatch, config: Mutable, { model, effort }: Actual): JsonRecord {
  const policy = patch.permission_mode === undefined ? undefined : PERMISSION_MODES[patch.permission_mode];
  const modeChanged = patch.agent_mode !== undefined || patch.permission_mode !== undefined;
  return {
    ...(patch.model ? { model: patch.model } : {}),
    ...(patch.variant ? { effort: patch.variant } : {}),
    ...(policy ? { approvalPolicy: policy.approvalPolicy, sandboxPolicy: policy.sandboxPolicy } : {}),
    ...(modeChanged && model !== null ? { collaborationMode: collaborationMode(config, model, effort) } : {}),
  };
}
