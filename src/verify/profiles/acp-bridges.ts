// Agents that others speak for over ACP: the same programs as elsewhere, behind a bridge.
import { join } from "node:path";
import { acpScenarios } from "../../agents/acp/verify/scenarios.ts";
import { codexHome } from "../../agents/codex/verify/scenarios.ts";
import { commonScenarios } from "../scenario/index.ts";
import type { VerifyProfile } from "../verify-profile.ts";
import { anthropicEnv, permissiveClaude } from "./claude.ts";
import { writeText } from "./config-file.ts";
import { permissiveOpencode, setUpOpencode } from "./opencode.ts";

export const claudeAgentAcpProfile: VerifyProfile = {
  agent: "claude-agent-acp",
  scenarios: [...commonScenarios, ...acpScenarios],
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
  mode: "bypass",
  scenarios: [...commonScenarios, ...acpScenarios],
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
  scenarios: [...commonScenarios, ...acpScenarios],
  marks: true,
  models: {},
  compact: "/compact",
  parallel: 2,
  timeLimitMs: 90_000,
  setUp: setUpOpencode,
  permissive: permissiveOpencode,
};
