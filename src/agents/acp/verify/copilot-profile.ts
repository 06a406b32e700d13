// GitHub Copilot CLI against the scripted model server, with a provider of one's own and no sign-in.

import { expects, NOT_RESTRICTABLE } from "../../kit/verify/adjustments.ts";
import type { VerifyProfile } from "../../kit/verify/profile.ts";
import { copilotLoads } from "./hostile-settings.ts";
import { acpScenarios } from "./scenarios.ts";

export const copilotProfile: VerifyProfile = {
  agent: "copilot",
  scenarios: acpScenarios,
  adjustments: [
    ...NOT_RESTRICTABLE,
    copilotLoads,
    expects("1.0 ends its turn with a rejection", { final_text: [] }, "permission-mixed"),
  ],
  marks: true,
  models: {},
  compact: "/compact",
  parallel: 2,
  timeLimitMs: 90_000,
  setUp: async ({ modelUrl }) => ({
    env: {
      COPILOT_PROVIDER_BASE_URL: `${modelUrl}/v1`,
      COPILOT_PROVIDER_API_KEY: "scripted",
      COPILOT_MODEL: "scripted-model",
      COPILOT_OFFLINE: "true",
      COPILOT_AUTO_UPDATE: "false",
    },
  }),
};
