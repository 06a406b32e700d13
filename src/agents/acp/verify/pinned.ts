import { BRIDGE_SET, type PinnedAgent, pinned } from "../../kit/verify/pinned.ts";
import { acpDefinitions } from "../definitions.ts";

const byId = (id: string, rest?: Parameters<typeof pinned>[1]): PinnedAgent => {
  const definition = acpDefinitions.find((one) => one.id === id);
  if (!definition) throw new Error(`There is no ACP agent ${id}.`);
  return pinned(definition, rest);
};

export const pinnedGemini = [byId("gemini", { older: ["0.60.0", "0.51.0"] })];

export const pinnedAcp: readonly PinnedAgent[] = [
  byId("qwen", { run: "node" }),
  byId("copilot"),
  byId("claude-agent-acp", { run: "node", scenarios: BRIDGE_SET }),
  byId("codex-acp", { scenarios: BRIDGE_SET }),
  byId("opencode-acp", { scenarios: BRIDGE_SET }),
];
