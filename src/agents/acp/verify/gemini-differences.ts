/** What Gemini CLI tells otherwise in scenarios that all agents play. */
import { type AcceptedDifference, givesUp, SEES_NO_CUT } from "../../kit/verify/differences.ts";

export const geminiDifferences: readonly AcceptedDifference[] = [
  SEES_NO_CUT,
  givesUp("it does not ask again when text of the answer has come", "stream-cut-then-ok", "sse-error"),
  {
    scenarios: ["max-tokens"],
    lacks: ["error output_length", "turn.ended output_length"],
    adds: ["turn.ended end_turn"],
    reason: "over ACP an answer that reached the limit ends like any other",
  },
  { scenarios: ["unknown-tool"], lacks: ["item *"], reason: "it tells nothing of a call of a tool that it does not have" },
  {
    scenarios: ["compact"],
    lacks: ["session.compacted", "item system/system [text]"],
    adds: ["item message/assistant [text]"],
    reason: "over ACP its command is a message like any other",
  },
  {
    scenarios: ["*"],
    adds: ["permission.requested allow_once,allow_always,reject_once", "permission.resolved approved"],
    reason: "over ACP it asks for every command and change; where the session allows them, the daemon answers",
  },
  {
    scenarios: ["permission-*"],
    lacks: ["permission.requested allow_once,allow_always,reject_once,reject_once"],
    reason: "a rejection cannot stop the turn: it takes only one kind of it",
  },
  {
    scenarios: ["read", "edit", "parallel-tools"],
    lacks: ["item tool_result/tool [tool_result+file_ref]"],
    adds: ["item tool_result/tool [tool_result]"],
    reason: "the result of a read names no file",
  },
  {
    scenarios: ["parallel-tools"],
    adds: ["item message/assistant []"],
    reason: "it tells parallel calls one after the other, each when the one before has ended",
  },
  {
    scenarios: ["shell-fail", "interrupt-tool", "terminate"],
    lacks: ["item tool_call/assistant [tool_call] shell failed", "item tool_result/tool [tool_result] failed"],
    adds: ["item tool_call/assistant [tool_call] shell", "item tool_result/tool [tool_result]"],
    reason: "over ACP a command has no exit code, and one that failed or was stopped is completed",
  },
  {
    scenarios: ["steer"],
    lacks: ["item message/user [text]"],
    adds: ["turn.started client", "item message/user [text]", "item message/assistant [text]", "turn.ended end_turn"],
    reason: "nothing can be put into a running turn: the message waits for its own",
  },
  { scenarios: ["todo"], lacks: ["item *"], reason: "its list tool tells nothing over ACP" },
  { scenarios: ["refusal"], lacks: ["item *"], reason: "it drops what the model refused with, and asks no other model" },
];
