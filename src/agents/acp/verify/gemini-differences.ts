/** What Gemini CLI reports differently in scenarios that all agents play. */
import {
  type AcceptedDifference,
  AT_THE_LIMIT,
  CANNOT_STEER,
  CANNOT_STOP_THE_TURN,
  givesUp,
  READ_NAMES_NO_FILE,
  SEES_NO_CUT,
} from "../../kit/verify/differences.ts";
import { ANSWERED_BY_THE_DAEMON, COMMANDS_NEVER_FAIL } from "./acp-differences.ts";

export const geminiDifferences: readonly AcceptedDifference[] = [
  ANSWERED_BY_THE_DAEMON,
  CANNOT_STEER,
  CANNOT_STOP_THE_TURN,
  COMMANDS_NEVER_FAIL,
  AT_THE_LIMIT,
  READ_NAMES_NO_FILE,
  SEES_NO_CUT,
  givesUp("it does not ask again when text of the answer has come", "stream-cut-then-ok", "sse-error"),
  { scenarios: ["unknown-tool"], lacks: ["item *"], reason: "it reports nothing of a call of a tool that it does not have" },
  {
    scenarios: ["compact"],
    lacks: ["session.compacted", "item system/system [text]"],
    adds: ["item message/assistant [text]"],
    reason: "over ACP its command is a message like any other",
  },
  {
    scenarios: ["parallel-tools"],
    adds: ["item message/assistant []"],
    reason: "it reports parallel calls one after the other, each when the one before has ended",
  },
  { scenarios: ["todo"], lacks: ["item *"], reason: "its list tool reports nothing over ACP" },
  { scenarios: ["refusal"], lacks: ["item *"], reason: "it drops what the model refused with, and asks no other model" },
];
