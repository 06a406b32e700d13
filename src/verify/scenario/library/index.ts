// The common library: scenarios that make sense for every agent. An agent's own ones live in its folder and have the same type.

import type { Scenario } from "../../../agents/scenario.ts";
import { controlScenarios } from "./control.ts";
import { decisionScenarios } from "./decisions.ts";
import { faultScenarios } from "./faults.ts";
import { leftoverScenarios } from "./leftovers.ts";
import { modeScenarios } from "./modes.ts";
import { textScenarios } from "./text.ts";
import { toolScenarios } from "./tools.ts";
import { trustScenarios } from "./trust.ts";

/** Scenarios tagged `part` only serve others (a sub-agent's side); they are given to the model server but not run. */
export const commonScenarios: readonly Scenario[] = [
  ...textScenarios,
  ...toolScenarios,
  ...decisionScenarios,
  ...modeScenarios,
  ...faultScenarios,
  ...controlScenarios,
  ...leftoverScenarios,
  ...trustScenarios,
];
