/** Our own agent against the scripted model server: each session names its endpoint. */
import { expects } from "../../kit/verify/adjustments.ts";
import type { VerifyProfile } from "../../kit/verify/profile.ts";
import { ENDPOINT_VARIABLE } from "../connect/endpoint.ts";
import { responsesDifferences } from "./differences.ts";
import { responsesScenarios } from "./scenarios.ts";

export const responsesProfile: VerifyProfile = {
  agent: "responses",
  differences: responsesDifferences,
  scenarios: responsesScenarios,
  // Other agents keep to themselves what their model sends; ours shows each byte, also those that are no protocol.
  adjustments: [expects("it shows what the model sent", { events: ["agent.unparsed"] }, "garbage")],
  shown: true,
  marks: true,
  models: { first: "scripted-model", other: "scripted-other" },
  compact: "/compact",
  process: false,
  parallel: 4,
  setUp: async ({ modelUrl }) => ({ env: { [ENDPOINT_VARIABLE]: `${modelUrl}/v1` } }),
};
