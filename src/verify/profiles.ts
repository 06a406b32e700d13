// Every agent `verify` can run, by id, with all it can be asked to play; scenarios for other agents are left out by the caller.
import type { VerifyProfile } from "../agents/kit/verify/profile.ts";
import { profiles } from "../agents/verified.ts";
import { commonScenarios } from "./scenario/index.ts";

export const verifyProfiles: ReadonlyMap<string, VerifyProfile> = new Map(
  profiles.map((profile) => [
    profile.agent,
    profile.commonScenarios === false ? profile : { ...profile, scenarios: [...commonScenarios, ...profile.scenarios] },
  ]),
);
