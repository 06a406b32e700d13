// Agents that others speak for over ACP: the same programs as elsewhere, behind a bridge.
import { join } from "node:path";
import { anthropicEnv, permissiveClaude } from "../../claude/verify/profile.ts";
import { codexHome } from "../../codex/verify/scenarios.ts";
import { writeText } from "../../kit/verify/config-file.ts";
import type { VerifyProfile } from "../../kit/verify/profile.ts";
import { permissiveOpencode, setUpOpencode } from "../../opencode/verify/profile.ts";
import { acpScenarios } from "./scenarios.ts";

export const claudeAgentAcpProfile: VerifyProfile = {
  agent: "claude-agent-acp",
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
  scenarios: acpScenarios,
  marks: true,
  models: {},
  compact: "/compact",
  parallel: 2,
  timeLimitMs: 90_000,
  setUp: setUpOpencode,
  permissive: permissiveOpencode,
};
