// OpenCode against the scripted model server: a provider of its own in opencode.json, and nothing fetched.
import { join } from "node:path";
import { writeJson } from "../../kit/verify/config-file.ts";
import type { LabPlace, LabSetUp, ScenarioPlace, VerifyProfile } from "../../kit/verify/profile.ts";
import { opencodeDifferences } from "./differences.ts";
import { opencodeLoads, pluginScenario } from "./hostile-settings.ts";
import { opencodeScenarios } from "./scenarios.ts";

const limit = { context: 200_000, output: 32_000 };
const model = (name: string) => ({
  name,
  limit,
  reasoning: true,
  tool_call: true,
  attachment: true,
  modalities: { input: ["text", "image"], output: ["text"] },
});

const settings = (modelUrl: string) => ({
  $schema: "https://opencode.ai/config.json",
  model: "scripted/first",
  small_model: "scripted/first",
  share: "disabled",
  autoupdate: false,
  enabled_providers: ["scripted"],
  provider: {
    scripted: {
      npm: "@ai-sdk/openai-compatible",
      name: "Scripted",
      options: { baseURL: `${modelUrl}/v1`, apiKey: "scripted" },
      models: { first: model("First"), second: model("Second") },
    },
  },
});

export async function permissiveOpencode({ own, modelUrl }: ScenarioPlace): Promise<Record<string, string>> {
  const permission = { "*": "allow", bash: "allow", edit: "allow" };
  const agent = { build: { permission }, plan: { permission } };
  await writeJson(join(own, "config", "opencode", "opencode.json"), { ...settings(modelUrl), permission, agent });
  return { XDG_CONFIG_HOME: join(own, "config") };
}

export async function setUpOpencode({ home, modelUrl }: LabPlace): Promise<LabSetUp> {
  await writeJson(join(home, ".config", "opencode", "opencode.json"), settings(modelUrl));
  return {
    env: {
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
      OPENCODE_DISABLE_SHARE: "1",
      OPENCODE_DISABLE_CLAUDE_CODE: "1",
    },
  };
}

export const opencodeProfile: VerifyProfile = {
  agent: "opencode",
  scenarios: [...opencodeScenarios, pluginScenario],
  adjustments: [opencodeLoads],
  shown: true,
  process: "restarted",
  marks: true,
  models: { first: "scripted/first", other: "scripted/second" },
  compact: "/compact",
  differences: opencodeDifferences,
  parallel: 2,
  // Its server is slow to start: seconds on an idle machine, much more on a busy one.
  timeLimitMs: 120_000,
  setUp: setUpOpencode,
  permissive: permissiveOpencode,
};
