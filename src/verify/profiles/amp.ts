// Amp against a stand-in of its own server, which hands model requests on to the scripted model server. Only for builds whose loop runs locally.
import { ampScenarios } from "../../agents/amp/scenarios.ts";
import { startAmpServer } from "../amp-server/amp-server.ts";
import { commonScenarios } from "../scenario/index.ts";
import type { VerifyProfile } from "../verify-profile.ts";

export const ampProfile: VerifyProfile = {
  agent: "amp",
  scenarios: [...commonScenarios, ...ampScenarios],
  marks: true,
  models: {},
  compact: null,
  streams: false,
  parallel: 2,
  timeLimitMs: 90_000,
  async setUp({ modelUrl }) {
    const server = await startAmpServer({ modelUrl });
    return { env: { ...server.env }, close: () => server.close() };
  },
};
