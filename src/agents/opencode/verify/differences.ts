/** What OpenCode reports differently in scenarios that all agents play. */
import {
  type AcceptedDifference,
  AT_THE_LIMIT,
  CANNOT_STOP_THE_TURN,
  KEEPS_A_LIST,
  SEES_NO_CUT,
} from "../../kit/verify/differences.ts";

export const opencodeDifferences: readonly AcceptedDifference[] = [
  AT_THE_LIMIT,
  CANNOT_STOP_THE_TURN,
  KEEPS_A_LIST,
  SEES_NO_CUT,
  {
    scenarios: ["http-413", "context-overflow"],
    lacks: ["error context_overflow", "turn.ended error context_overflow"],
    adds: ["item system/system [text]", "session.compacted", "error *", "turn.ended error *"],
    reason: "it compacts by itself and asks again, which the scripted model does not expect",
  },
  {
    scenarios: ["compact"],
    lacks: ["session.compacted", "item system/system [text]"],
    adds: ["session.compacted", "item system/system [text]"],
    reason: "it shows its summary while it is written, before it says that it compacted",
  },
  {
    scenarios: ["refusal"],
    lacks: ["item *"],
    adds: ["item message/assistant []"],
    reason: "it drops what the model refused with, and asks no other model",
  },
];
