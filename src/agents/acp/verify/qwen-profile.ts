// Qwen Code against the scripted model server, as an OpenAI-compatible provider.
import { join } from "node:path";
import { expects, skips } from "../../kit/verify/adjustments.ts";
import { writeJson } from "../../kit/verify/config-file.ts";
import { planScenarios } from "../../kit/verify/plan-scenarios.ts";
import type { VerifyProfile } from "../../kit/verify/profile.ts";
import { ownRules } from "./adjustments.ts";
import { qwenLoads } from "./hostile-settings.ts";
import { acpScenarios } from "./scenarios.ts";

const SETTINGS = {
  security: { auth: { selectedType: "openai" }, folderTrust: { enabled: false } },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  // Off by default since 0.24.
  tools: { todoWrite: { enabled: true } },
  general: { disableAutoUpdate: true, disableUpdateNag: true },
  // 0.24 waits one to five minutes, ten times, for a provider that is busy.
  model: { generationConfig: { maxRetries: 3, retryInitialDelayMs: 200, retryMaxDelayMs: 1_000 } },
};

export const qwenProfile: VerifyProfile = {
  agent: "qwen",
  scenarios: [...acpScenarios, ...planScenarios],
  adjustments: [
    ...ownRules,
    qwenLoads,
    expects("0.24 ends its turn with a rejection", { final_text: [] }, "permission-mixed"),
    skips("0.24 asks a provider that is not there again for more than four minutes, and says nothing of it", "http-503"),
  ],
  marks: true,
  models: {},
  compact: "/compress",
  parallel: 2,
  timeLimitMs: 240_000,
  async permissive({ own }) {
    const permissions = { allow: ["Bash", "Edit", "run_shell_command", "write_file"] };
    const tools = { ...SETTINGS.tools, allowed: ["run_shell_command", "write_file"] };
    await writeJson(join(own, ".qwen", "settings.json"), { ...SETTINGS, permissions, tools });
    return { HOME: own };
  },
  async setUp({ home, modelUrl }) {
    await writeJson(join(home, ".qwen", "settings.json"), SETTINGS);
    return {
      env: {
        OPENAI_API_KEY: "scripted",
        OPENAI_BASE_URL: `${modelUrl}/v1`,
        OPENAI_MODEL: "scripted-model",
        QWEN_CODE_NO_RELAUNCH: "true",
      },
    };
  },
};
