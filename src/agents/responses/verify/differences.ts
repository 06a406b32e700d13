/** What our own agent reports differently in scenarios that all agents play. */
import {
  type AcceptedDifference,
  AT_THE_LIMIT,
  CANNOT_STOP_THE_TURN,
  KEEPS_A_LIST,
  READ_NAMES_NO_FILE,
} from "../../kit/verify/differences.ts";

export const responsesDifferences: readonly AcceptedDifference[] = [
  AT_THE_LIMIT,
  CANNOT_STOP_THE_TURN,
  KEEPS_A_LIST,
  READ_NAMES_NO_FILE,
  {
    scenarios: ["thinking", "thinking-tool"],
    lacks: ["item message/assistant [reasoning+text]"],
    adds: ["item message/assistant [reasoning]", "item message/assistant [text]"],
    reason: "items of the provider's answer are reported one by one: its reasoning is one, its text another",
  },
  {
    scenarios: ["http-413", "context-overflow"],
    adds: ["session.compacted"],
    reason: "it compacts before it gives up",
  },
  { scenarios: ["compact"], lacks: ["item system/system [text]"], reason: "its summary stands in the event, not in an item" },
  {
    scenarios: ["question-single"],
    lacks: ["item tool_result/tool [tool_result]"],
    adds: ["item tool_result/tool [tool_result]"],
    reason: "the result of a question begins when it is asked",
  },
  {
    scenarios: ["refusal"],
    lacks: ["item *"],
    adds: ["item message/assistant [refusal]"],
    reason: "the provider's protocol has refusals, and it asks no other model",
  },
  {
    scenarios: ["steer"],
    lacks: ["item message/user [text]"],
    adds: ["item message/user [text]"],
    reason: "a message that steers is reported when the running command has ended, not when it came",
  },
];
