// Every agent the daemon knows. Adding one is adding its folder and one line here.
import { acpAgents, configuredAcpAgent, createAcpTranslator } from "./acp/agent.ts";
import { ampAgent } from "./amp/agent.ts";
import { claudeAgent } from "./claude/agent.ts";
import { claudeSdkAgent } from "./claude-sdk/agent.ts";
import { codexAgent } from "./codex/agent.ts";
import type { Agent, Translator } from "./contract.ts";
import { isRecord } from "./json.ts";
import { mockAgent } from "./mock/agent.ts";
import { opencodeAgent } from "./opencode/agent.ts";
import { responsesAgent } from "./responses/agent.ts";

export const builtInAgents: readonly Agent[] = [
  claudeAgent,
  claudeSdkAgent,
  codexAgent,
  opencodeAgent,
  ampAgent,
  ...acpAgents,
  responsesAgent,
  mockAgent,
];

/** For traces: by the id of an agent, or `acp` for any agent that speaks it. */
export const translators: ReadonlyMap<string, () => Translator> = new Map<string, () => Translator>([
  ["acp", createAcpTranslator],
  ...builtInAgents.map(({ id, createTranslator }) => [id, createTranslator] as const),
]);

/** The built-in ones, and one for each entry the configuration adds under `agents.acp`. */
export function agentsWith(acp: Record<string, unknown>): Agent[] {
  const known = new Set(builtInAgents.map((agent) => agent.id));
  const added = Object.entries(acp).filter(([name]) => !known.has(name));
  return [...builtInAgents, ...added.map(([name, settings]) => configuredAcpAgent(name, isRecord(settings) ? settings : {}))];
}
