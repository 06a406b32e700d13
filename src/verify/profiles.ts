/** Every agent `verify` can run, by id, with all it can be asked to play: its own scenarios, and the common ones as it adjusts them. */
import type { ScenarioAdjustment } from "../agents/kit/verify/adjustments.ts";
import type { VerifyProfile } from "../agents/kit/verify/profile.ts";
import type { Scenario } from "../agents/scenario.ts";
import { profiles } from "../agents/verified.ts";
import { commonScenarios } from "./scenario/index.ts";

export const verifyProfiles: ReadonlyMap<string, VerifyProfile> = new Map(
  profiles.map((profile) => [
    profile.agent,
    profile.commonScenarios === false
      ? profile
      : { ...profile, scenarios: [...adjusted(commonScenarios, profile.adjustments ?? []), ...profile.scenarios] },
  ]),
);

/** Several adjustments of one scenario are merged in their order. */
export function adjusted(scenarios: readonly Scenario[], adjustments: readonly ScenarioAdjustment[]): Scenario[] {
  return scenarios.flatMap((scenario) => {
    const own = adjustments.filter((one) => one.scenarios.some((name) => fits(name, scenario.name)));
    if (own.some(({ expect }) => expect === "skip")) return [];
    const expects = own.flatMap(({ expect }) => (expect === "skip" ? [] : [expect]));
    return expects.length === 0 ? [scenario] : [{ ...scenario, expect: Object.assign({}, scenario.expect, ...expects) }];
  });
}

/** A function: the map above is made when this module is loaded. */
function fits(pattern: string, name: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
