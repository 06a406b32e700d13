// Gemini CLI against the scripted model server: a key, an address, and settings that choose the key without asking.
import { join } from "node:path";
import { writeJson, writeText } from "../../kit/verify/config-file.ts";
import type { VerifyProfile } from "../../kit/verify/profile.ts";
import { geminiAdjustments } from "./adjustments.ts";
import { geminiDifferences } from "./gemini-differences.ts";
import { acpScenarios } from "./scenarios.ts";

const SETTINGS = {
  security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  general: { disableAutoUpdate: true, disableUpdateNag: true, retryFetchErrors: true, maxAttempts: 3 },
  tools: { useRipgrep: false },
};

export const geminiProfile: VerifyProfile = {
  agent: "gemini",
  scenarios: acpScenarios,
  adjustments: geminiAdjustments,
  marks: true,
  models: { first: "gemini-2.5-pro", other: "gemini-2.5-flash" },
  compact: "/compress",
  differences: geminiDifferences,
  parallel: 2,
  timeLimitMs: 90_000,
  async permissive({ own }) {
    await writeJson(join(own, ".gemini", "settings.json"), {
      ...SETTINGS,
      tools: { ...SETTINGS.tools, allowed: ["run_shell_command", "write_file"] },
    });
    const all = ["run_shell_command", "write_file", "replace"].map(
      (tool) => `[[rule]]\ntoolName = "${tool}"\ndecision = "allow"\npriority = 900\n`,
    );
    await writeText(join(own, ".gemini", "policies", "all.toml"), all.join("\n"));
    return { HOME: own, GEMINI_CLI_HOME: own };
  },
  async setUp({ home, modelUrl }) {
    await writeJson(join(home, ".gemini", "settings.json"), SETTINGS);
    return {
      env: {
        GEMINI_API_KEY: "scripted",
        GOOGLE_GEMINI_BASE_URL: modelUrl,
        GEMINI_CLI_NO_RELAUNCH: "true",
        GEMINI_SANDBOX: "false",
      },
    };
  },
};
