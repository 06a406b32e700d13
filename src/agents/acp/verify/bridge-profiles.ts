// Agents that others speak for over ACP: the same programs as elsewhere, behind a bridge.
import { join } from "node:path";
import { claudeLoads } from "../../claude/verify/hostile-settings.ts";
import { anthropicEnv, permissiveClaude } from "../../claude/verify/profile.ts";
import { codexLoads } from "../../codex/verify/hostile-settings.ts";
import { codexHome } from "../../codex/verify/scenarios.ts";
import { NOT_RESTRICTABLE, skips } from "../../kit/verify/adjustments.ts";
import { writeText } from "../../kit/verify/config-file.ts";
import type { VerifyProfile } from "../../kit/verify/profile.ts";
import { opencodeLoads, pluginScenario } from "../../opencode/verify/hostile-settings.ts";
import { permissiveOpencode, setUpOpencode } from "../../opencode/verify/profile.ts";
import { claudeBridgeDifferences, codexBridgeDifferences, opencodeBridgeDifferences } from "./acp-differences.ts";
import { ownRules } from "./adjustments.ts";
import { acpScenarios } from "./scenarios.ts";

const behindBridge = skips("the program behind the bridge plays it itself", "skill-by-tool");

export const claudeAgentAcpProfile: VerifyProfile = {
  agent: "claude-agent-acp",
  differences: claudeBridgeDifferences,
  adjustments: [claudeLoads, behindBridge],
  scenarios: acpScenarios,
  marks: true,
  models: {},
  compact: "/compact",
  parallel: 2,
  timeLimitMs: 90_000,
  setUp: async (place) => ({ env: anthropicEnv(place) }),
  permissive: permissiveClaude,
};

export const codexAcpProfile: VerifyProfile = {
  agent: "codex-acp",
  differences: codexBridgeDifferences,
  adjustments: [...NOT_RESTRICTABLE, codexLoads, behindBridge],
  mode: "bypass",
  scenarios: acpScenarios,
  marks: true,
  models: {},
  compact: "/compact",
  parallel: 2,
  timeLimitMs: 90_000,
  setUp: async () => ({ env: { RUST_LOG: "error" } }),
  async forScenario(_scenario, { own, modelUrl }) {
    const home = join(own, "codex");
    await writeText(join(home, "config.toml"), codexHome({ url: modelUrl, model: "gpt-5.5", native: {} }));
    return { env: { CODEX_HOME: home } };
  },
};

export const opencodeAcpProfile: VerifyProfile = {
  agent: "opencode-acp",
  differences: opencodeBridgeDifferences,
  scenarios: [...acpScenarios, pluginScenario],
  adjustments: [...ownRules, opencodeLoads, behindBridge],
  marks: true,
  models: {},
  compact: "/compact",
  parallel: 2,
  timeLimitMs: 90_000,
  setUp: setUpOpencode,
  permissive: permissiveOpencode,
};
