/** What only our own agent is asked to play. */
import type { Scenario } from "../../scenario.ts";

export const responsesScenarios: readonly Scenario[] = [];
