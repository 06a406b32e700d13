// Every native message type of the app-server, what becomes of it, and whether it was seen from the real binary or is known from its types only.
// The coverage page is made from this table; a test compares it with what the binary says about itself.
import type { EventType } from "../../../schema/event-data.ts";
import { live, type NativeTypeTable, notedTyped, row, typed } from "../../kit/native-types.ts";

const ITEM: EventType[] = ["item.started", "item.completed"];
const TOOL: EventType[] = ["item.started", "item.updated", "item.completed"];

export { NOTIFICATION_TYPES } from "./notifications.ts";

export const SERVER_REQUEST_TYPES: NativeTypeTable = {
  "item/commandExecution/requestApproval": live(["permission.requested"]),
  "item/fileChange/requestApproval": live(["permission.requested"]),
  "item/tool/requestUserInput": live(["question.requested"]),
  "mcpServer/elicitation/request": live(["permission.requested", "question.requested"], "MCP tool approvals are permissions"),
  "item/permissions/requestApproval": live(["permission.requested"]),
  "item/tool/call": live([], "answered with an error: we offer no dynamic tools; the item reports it"),
  "currentTime/read": row("noted", "live")(["agent.notice"], "answered with our clock"),
  "account/chatgptAuthTokens/refresh": notedTyped("answered with an error"),
  "attestation/generate": notedTyped("answered with an error"),
  applyPatchApproval: typed(["permission.requested"], "legacy"),
  execCommandApproval: typed(["permission.requested"], "legacy"),
};

export const ITEM_TYPES: NativeTypeTable = {
  userMessage: live(ITEM),
  hookPrompt: live(ITEM),
  agentMessage: live(["item.started", "item.delta", "item.completed"]),
  functionCallOutput: live(TOOL),
  plan: live(["item.started", "item.delta", "item.completed"]),
  reasoning: live(["item.started", "item.delta", "item.completed"]),
  commandExecution: live(TOOL),
  fileChange: live(TOOL),
  mcpToolCall: live(TOOL),
  dynamicToolCall: live(TOOL),
  collabAgentToolCall: live(TOOL),
  subAgentActivity: live(ITEM),
  webSearch: live(TOOL),
  imageView: live(TOOL),
  sleep: live(TOOL),
  imageGeneration: typed(TOOL),
  enteredReviewMode: live(ITEM),
  exitedReviewMode: live(ITEM),
  contextCompaction: live(["session.status", "session.compacted"]),
};
