/** Our own agent against the scripted model server: each session names its endpoint. */
import type { VerifyProfile } from "../../kit/verify/profile.ts";
import { ENDPOINT_VARIABLE } from "../connect/endpoint.ts";
import { responsesDifferences } from "./differences.ts";
import { responsesScenarios } from "./scenarios.ts";

export const responsesProfile: VerifyProfile = {
  agent: "responses",
  differences: responsesDifferences,
  scenarios: responsesScenarios,
  marks: true,
  models: { first: "scripted-model", other: "scripted-other" },
  compact: "/compact",
  process: false,
  parallel: 4,
  setUp: async ({ modelUrl }) => ({ env: { [ENDPOINT_VARIABLE]: `${modelUrl}/v1` } }),
};
