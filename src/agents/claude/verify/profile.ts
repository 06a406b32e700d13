// Claude Code against the scripted model server: a key, an address, and no traffic beside.
import { join } from "node:path";
import { skips } from "../../kit/verify/adjustments.ts";
import { writeJson } from "../../kit/verify/config-file.ts";
import type { LabPlace, LabSetUp, ScenarioPlace, VerifyProfile } from "../../kit/verify/profile.ts";
import { claudeDifferences } from "./differences.ts";
import { claudeLoads } from "./hostile-settings.ts";
import { claudeScenarios } from "./scenarios.ts";

export const anthropicEnv = ({ modelUrl }: LabPlace): Record<string, string> => ({
  ANTHROPIC_BASE_URL: modelUrl,
  ANTHROPIC_API_KEY: "scripted",
  // As root it refuses to skip permissions unless it is informed that it runs in a sandbox.
  IS_SANDBOX: "1",
  DISABLE_TELEMETRY: "1",
  DISABLE_ERROR_REPORTING: "1",
  DISABLE_AUTOUPDATER: "1",
  DISABLE_BUG_COMMAND: "1",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  // Ten retries with growing waits would take minutes.
  CLAUDE_CODE_MAX_RETRIES: "2",
});

export async function permissiveClaude({ own }: ScenarioPlace): Promise<Record<string, string>> {
  const folder = join(own, "claude");
  await writeJson(join(folder, "settings.json"), { permissions: { allow: ["Bash", "Edit", "Write", "NotebookEdit"] } });
  return { CLAUDE_CONFIG_DIR: folder };
}

async function setUp(place: LabPlace): Promise<LabSetUp> {
  return { env: anthropicEnv(place) };
}

export const claudeProfile: VerifyProfile = {
  agent: "claude",
  scenarios: claudeScenarios,
  adjustments: [skips("it takes any name for an agent", "mode-refused-change"), claudeLoads],
  shown: true,
  marks: true,
  models: { first: "claude-sonnet-4-5", other: "claude-opus-4-5" },
  compact: "/compact",
  differences: claudeDifferences,
  parallel: 2,
  setUp,
  permissive: permissiveClaude,
};
