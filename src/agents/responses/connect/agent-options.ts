/** What a session and the configuration say about the agent, as options of its runtime. */
import { dirname } from "node:path";
import type { AgentOptions } from "../../../runtime/assemble.ts";
import { DEFAULT_LIMITS, type Settings } from "../../../runtime/settings.ts";
import { repositoryRoot } from "../../../trust/project-root.ts";
import type { Launch } from "../../contract.ts";
import { isRecord, num, own, rec, str } from "../../json.ts";
import type { Endpoint } from "./endpoint.ts";
import type { SessionData } from "./session-data.ts";

const SANDBOXES = { off: "off", "read-only": "read-only", "workspace-write": "workspace-write" } as const;

/** A longer timer of Node is over at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

type Given = Pick<
  AgentOptions,
  | "sessionId"
  | "endpoint"
  | "facts"
  | "websocket"
  | "directory"
  | "data"
  | "trusted"
  | "root"
  | "sandbox"
  | "network"
  | "hidden"
  | "settings"
> &
  Partial<Pick<AgentOptions, "systemPrompt" | "retry">>;

export function agentOptions({ config, host }: Launch, { baseUrl, apiKey, facts }: Endpoint, data: SessionData): Given {
  const { stall_ms, retries, sandbox, network } = host.settings;
  const stall = num(stall_ms);
  return {
    sessionId: data.id,
    endpoint: {
      baseUrl,
      ...(apiKey === null ? {} : { apiKey }),
      ...(stall === undefined ? {} : { timeouts: { idleMs: Math.min(stall, LONGEST_TIMER_MS) } }),
    },
    facts,
    websocket: host.settings.websocket === true,
    directory: config.directory,
    data: data.path,
    trusted: config.trusted,
    root: repositoryRoot(config.directory) ?? config.directory,
    sandbox: own(SANDBOXES, str(sandbox) ?? "") ?? "workspace-write",
    network: network === "on" ? "on" : "off",
    // The daemon's data directory: its tokens, its log, other sessions.
    hidden: [dirname(dirname(host.stateDir))],
    systemPrompt: config.system_prompt,
    settings: { mode: config.permission_mode, reasoning_effort: config.variant, ...configured(host.settings) },
    ...(num(retries) === undefined
      ? {}
      : { retry: { retries: num(retries) ?? 0, baseMs: 1000, maxMs: 60_000, random: Math.random } }),
  };
}

/** What the configuration file says of limits, prices and crashes. */
function configured({ limits, prices, max_output_tokens, after_crash }: Record<string, unknown>): Partial<Settings> {
  const { input, cached, output } = rec(prices);
  const price = num(input);
  return {
    ...(isRecord(limits) ? { limits: limitsOf(limits) } : {}),
    ...(price === undefined ? {} : { prices: { input: price, cached: num(cached) ?? price, output: num(output) ?? price } }),
    ...(num(max_output_tokens) === undefined ? {} : { max_output_tokens: num(max_output_tokens) ?? null }),
    ...(after_crash === "stop" ? { after_crash } : {}),
  };
}

const limitsOf = ({ steps, tokens, cost_usd, time_ms }: Record<string, unknown>): Settings["limits"] => ({
  steps: num(steps) ?? DEFAULT_LIMITS.steps,
  tokens: num(tokens) ?? null,
  cost_usd: num(cost_usd) ?? null,
  time_ms: num(time_ms) ?? null,
});

/** How long MCP servers may take. */
export function mcpTimes({ mcp_start_ms, mcp_call_ms }: Record<string, unknown>): { startMs?: number; callMs?: number } {
  const [startMs, callMs] = [num(mcp_start_ms), num(mcp_call_ms)];
  return { ...(startMs === undefined ? {} : { startMs }), ...(callMs === undefined ? {} : { callMs }) };
}
