/** What agents report differently because they speak ACP, and what the bridges of Claude Code, Codex and OpenCode report differently than these themselves. */
import { type AcceptedDifference, CANNOT_STOP_THE_TURN, KEEPS_A_LIST, READ_NAMES_NO_FILE } from "../../kit/verify/differences.ts";

export const ANSWERED_BY_THE_DAEMON: AcceptedDifference = {
  scenarios: ["*"],
  adds: ["permission.requested allow_once,allow_always,reject_once", "permission.resolved approved"],
  reason: "over ACP it asks for every command and change; where the session allows them, the daemon answers",
};

export const COMMANDS_NEVER_FAIL: AcceptedDifference = {
  scenarios: ["shell-fail"],
  lacks: ["item tool_call/assistant [tool_call] shell failed", "item tool_result/tool [tool_result] failed"],
  adds: ["item tool_call/assistant [tool_call] shell", "item tool_result/tool [tool_result]"],
  reason: "over ACP a command that printed something has no exit code, and one that failed is completed",
};

export const claudeBridgeDifferences: readonly AcceptedDifference[] = [
  KEEPS_A_LIST,
  READ_NAMES_NO_FILE,
  {
    scenarios: ["permission-*"],
    lacks: ["permission.requested *"],
    adds: ["permission.requested allow_once,reject_once"],
    reason: "its bridge offers nothing for good",
  },
];

export const codexBridgeDifferences: readonly AcceptedDifference[] = [
  KEEPS_A_LIST,
  READ_NAMES_NO_FILE,
  {
    scenarios: ["read", "edit", "parallel-tools"],
    lacks: ["item tool_call/assistant [tool_call] read"],
    adds: ["item tool_call/assistant [tool_call] shell"],
    reason: "it has no tool that reads a file: a read is a command",
  },
];

export const opencodeBridgeDifferences: readonly AcceptedDifference[] = [
  ANSWERED_BY_THE_DAEMON,
  CANNOT_STOP_THE_TURN,
  KEEPS_A_LIST,
  READ_NAMES_NO_FILE,
  {
    scenarios: ["permission-deny"],
    lacks: ["item message/assistant [text]"],
    reason: "over ACP a rejection cannot carry words, and one without words ends its turn",
  },
];
