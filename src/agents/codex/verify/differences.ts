/** What Codex reports differently in scenarios that all agents play. */
import {
  type AcceptedDifference,
  AT_THE_LIMIT,
  KEEPS_A_LIST,
  READ_NAMES_NO_FILE,
  SEES_NO_CUT,
  STOPS_THE_TURN,
} from "../../kit/verify/differences.ts";

export const codexDifferences: readonly AcceptedDifference[] = [
  AT_THE_LIMIT,
  KEEPS_A_LIST,
  READ_NAMES_NO_FILE,
  SEES_NO_CUT,
  STOPS_THE_TURN,
  {
    scenarios: ["question-*"],
    lacks: ["item message/assistant []", "item tool_call/assistant [tool_call] question"],
    adds: ["item message/assistant []", "item tool_call/assistant [tool_call] question"],
    reason: "it reports the call of a question with its result, when the question was answered",
  },
  { scenarios: ["compact"], lacks: ["item system/system [text]"], reason: "it does not show its summary" },
  {
    scenarios: ["refusal"],
    lacks: ["item *", "turn.ended end_turn"],
    adds: ["item message/assistant [refusal]", "turn.ended refusal"],
    reason: "its provider's protocol has refusals, and it asks no other model",
  },
  {
    scenarios: ["interrupt-tool", "terminate"],
    lacks: ["item tool_result/tool [tool_result] failed"],
    adds: ["item tool_result/tool [tool_result] failed"],
    reason: "the end of an interrupted command comes after the end of its turn",
  },
  {
    scenarios: ["steer"],
    lacks: ["item message/user [text]"],
    adds: ["item message/user [text]"],
    reason: "a message that steers is reported when the running command has ended, not when it came",
  },
];
