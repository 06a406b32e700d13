/** What Amp reports differently in scenarios that all agents play. */
import { type AcceptedDifference, AT_THE_LIMIT, givesUp, KEEPS_A_LIST } from "../../kit/verify/differences.ts";

export const ampDifferences: readonly AcceptedDifference[] = [
  AT_THE_LIMIT,
  KEEPS_A_LIST,
  givesUp(
    "it gives up at the first fault of the provider",
    "http-429-then-ok",
    "http-500-then-ok",
    "connection-reset",
    "stream-cut-then-ok",
    "sse-error",
  ),
  {
    scenarios: ["interrupt-text", "kill-agent"],
    lacks: ["item message/assistant [text] failed"],
    reason: "it reports a message when it is whole: of one that was cut it reports nothing",
  },
  {
    scenarios: ["refusal"],
    lacks: ["item *", "turn.ended *"],
    adds: ["item message/assistant [text] failed", "error output_length", "turn.ended output_length"],
    reason: "it reports a refusal and an output limit alike, as a message without a reason to stop",
  },
  {
    scenarios: ["steer"],
    lacks: ["item *", "turn.*"],
    adds: ["item tool_call/assistant [tool_call] shell failed", "item tool_result/tool [tool_result] failed", "item message/*"],
    reason: "a message that steers stops the command that runs",
  },
];
