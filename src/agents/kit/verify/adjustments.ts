/** How an agent plays a scenario of all agents otherwise than the others, and why. `verify` itself names no agent: each brings its own list. */
import type { Expectation } from "../../scenario.ts";

export type ScenarioAdjustment = {
  /** Names, or beginnings that end with `*`. */
  readonly scenarios: readonly string[];
  /** Why the agent cannot do otherwise. */
  readonly reason: string;
  /** `skip`: it does not play them. Otherwise what is expected of it instead, merged over the scenario's own field by field. */
  readonly expect: "skip" | Expectation;
};

export const skips = (reason: string, ...scenarios: string[]): ScenarioAdjustment => ({ scenarios, reason, expect: "skip" });

export const expects = (reason: string, expect: Expectation, ...scenarios: string[]): ScenarioAdjustment => ({
  scenarios,
  reason,
  expect,
});

const refused: Expectation = { stop_reason: "error", error_code: "execution_error", final_text: [] };

/** Of agents that cannot leave out what a directory brings: they are not started in one that is not trusted. */
export const NOT_RESTRICTABLE: readonly ScenarioAdjustment[] = [
  expects("it cannot leave out what a directory brings", refused, "trust-restricted", "trust-declined"),
  skips("it is not started in a directory that is not trusted", "trust-resumed"),
];

/** Of agents that run what their own rules allow in every mode: a session that could not keep its mode is refused. */
export const OWN_RULES = "it runs what its own rules allow in every mode, so such a session is refused";
export const REFUSED: Expectation = { refused: true };
