// Scenarios only Claude Code and its SDK need, for `dragoman verify`.
import { planScenarios } from "../../kit/verify/plan-scenarios.ts";
import type { Scenario } from "../../scenario.ts";
import { backgroundScenarios } from "./scenarios-background.ts";
import { commandScenarios } from "./scenarios-commands.ts";
import { decisionScenarios } from "./scenarios-decisions.ts";
import { modelScenarios } from "./scenarios-model.ts";
import { toolScenarios } from "./scenarios-tools.ts";

export const claudeScenarios: readonly Scenario[] = [
  ...commandScenarios,
  ...decisionScenarios,
  ...modelScenarios,
  ...toolScenarios,
  ...backgroundScenarios,
  ...planScenarios,
];
