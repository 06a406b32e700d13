/** What Claude reports differently in scenarios that all agents play. */
import {
  type AcceptedDifference,
  AT_THE_LIMIT,
  KEEPS_A_LIST,
  READ_NAMES_THE_FILE,
  SEES_NO_CUT,
  STOPS_THE_TURN,
} from "../../kit/verify/differences.ts";

export const claudeDifferences: readonly AcceptedDifference[] = [
  AT_THE_LIMIT,
  KEEPS_A_LIST,
  READ_NAMES_THE_FILE,
  SEES_NO_CUT,
  STOPS_THE_TURN,
  {
    scenarios: ["compact"],
    adds: ["item system/system [text]"],
    reason: "it shows its summary, and what the command printed",
  },
];
