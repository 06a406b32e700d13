/** What Claude tells otherwise in scenarios that all agents play. */
import { type AcceptedDifference, KEEPS_A_LIST, SEES_NO_CUT, STOPS_THE_TURN } from "../../kit/verify/differences.ts";

export const claudeDifferences: readonly AcceptedDifference[] = [
  KEEPS_A_LIST,
  SEES_NO_CUT,
  STOPS_THE_TURN,
  {
    scenarios: ["max-tokens"],
    lacks: ["error output_length", "turn.ended output_length"],
    adds: ["item system/system [text]", "item message/assistant [text]", "turn.ended end_turn"],
    reason: "it tells the model to go on by itself",
  },
  {
    scenarios: ["compact"],
    adds: ["item system/system [text]"],
    reason: "it shows its summary, and what the command printed",
  },
];
