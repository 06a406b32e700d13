/** What ACP agents do otherwise than the others in the scenarios of all agents. */
import { expects, OWN_RULES, REFUSED, type ScenarioAdjustment } from "../../kit/verify/adjustments.ts";
import { geminiLoads } from "./hostile-settings.ts";

export const ownRules: readonly ScenarioAdjustment[] = [
  expects(OWN_RULES, REFUSED, "mode-plan-own-rules", "mode-repository-rules"),
];

export const geminiAdjustments: readonly ScenarioAdjustment[] = [
  geminiLoads,
  expects(OWN_RULES, REFUSED, "mode-repository-rules"),
  expects(
    "0.61 takes the repetition for a loop, stops reading and asks the model something of its own, which is not in the script",
    { stop_reason: ["error", "end_turn"], final_text: [] },
    "long-text",
  ),
  expects(
    "0.61: its own reader of the model's stream breaks at U+2028",
    { stop_reason: "error", error_code: "api_error", final_text: [] },
    "line-separators",
  ),
  expects(
    "0.61 says nothing of it: on its wire it is the same as a stop by the safety filter",
    { stop_reason: "refusal" },
    "failed",
  ),
];
