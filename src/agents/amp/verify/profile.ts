// Amp against a stand-in of its own server, which hands model requests on to the scripted model server. Only for builds whose loop runs locally.
import { join } from "node:path";
import { writeJson } from "../../kit/verify/config-file.ts";
import type { VerifyProfile } from "../../kit/verify/profile.ts";
import { ampAdjustments } from "./adjustments.ts";
import { ampDifferences } from "./differences.ts";
import { ampScenarios } from "./scenarios.ts";
import { startAmpServer } from "./server/amp-server.ts";

export const ampProfile: VerifyProfile = {
  agent: "amp",
  scenarios: ampScenarios,
  adjustments: ampAdjustments,
  differences: ampDifferences,
  marks: true,
  models: {},
  compact: null,
  streams: false,
  parallel: 2,
  timeLimitMs: 90_000,
  async permissive({ own }) {
    await writeJson(join(own, "amp.json"), {
      "amp.permissions": [{ tool: "*", action: "allow" }],
      "amp.dangerouslyAllowAll": true,
    });
    return { AMP_SETTINGS_FILE: join(own, "amp.json") };
  },
  async setUp({ modelUrl }) {
    const server = await startAmpServer({ modelUrl });
    return { env: { ...server.env }, close: () => server.close() };
  },
};
