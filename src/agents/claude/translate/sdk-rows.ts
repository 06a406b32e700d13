// Rows of the Agent SDK that are no messages of the CLI: the call of query(), its callbacks and its methods. They carry the same facts as the
// control protocol under the SDK, so they are read as such; the messages the SDK yields are the CLI's own.
import type { Draft } from "../../../schema/draft.ts";
import type { Translation } from "../../contract.ts";
import { arr, asText, type JsonRecord, own, rec, str } from "../../json.ts";
import { mapped, noted } from "../../translation.ts";
import { answered } from "./control.ts";
import { askElicitation, askTool, settleByAgent, settleByClient } from "./permissions.ts";
import { ADDRESS, type ClaudeState } from "./state.ts";
import { userMessage } from "./user-message.ts";

/** How the recorder writes a prompt that is a stream: its messages follow as `user` rows. */
export const STREAMED_PROMPT = "<async iterable>";

export function sdkInbound(state: ClaudeState, row: JsonRecord): Translation {
  const kind = str(row.$sdk) ?? "";
  const drafts: Draft[] = [];
  switch (kind) {
    case "query": {
      const prompt = str(row.prompt);
      if (prompt !== undefined && prompt !== STREAMED_PROMPT) userMessage(state, prompt, null, drafts);
      return mapped(ADDRESS, "in/$sdk:query", drafts);
    }
    case "callback_return":
      callbackReturned(state, row, drafts);
      return mapped(ADDRESS, "in/$sdk:callback_return", drafts);
    case "call":
      if (row.name === "interrupt") state.interrupted = true;
      state.asked.set(`$sdk:${asText(row.name)}`, { subtype: own(SUBTYPES, asText(row.name)) ?? row.name, args: row.args });
      return mapped(ADDRESS, "in/$sdk:call");
    case "abort":
      state.interrupted = true;
      return mapped(ADDRESS, "in/$sdk:abort");
    default:
      return mapped(ADDRESS, "in/$sdk:action");
  }
}

export function sdkOutbound(state: ClaudeState, row: JsonRecord): Translation {
  const drafts: Draft[] = [];
  switch (row.$sdk) {
    case "callback":
      return callback(state, row, drafts);
    case "call_return":
      answered(state, own(SUBTYPES, str(row.name) ?? ""), returnValue(row, called(state, row)), drafts);
      return mapped(ADDRESS, "$sdk:call_return", drafts);
    case "call_error":
      called(state, row);
      return noted(ADDRESS, "$sdk:call_error", "control_error", { request: row.name, error: row.message });
    default:
      // Written by a recorder, not by the SDK: its messages have a `type`.
      return noted(ADDRESS, "$sdk:other", "sdk_row", row);
  }
}

const SUBTYPES: Record<string, string> = {
  initializationResult: "initialize",
  setModel: "set_model",
  setPermissionMode: "set_permission_mode",
  mcpServerStatus: "mcp_status",
  supportedModels: "list_models",
};

function called(state: ClaudeState, row: JsonRecord): unknown[] {
  const key = `$sdk:${asText(row.name)}`;
  const args = arr(state.asked.get(key)?.args ?? row.args);
  state.asked.delete(key);
  return args;
}

function returnValue(row: JsonRecord, [argument]: unknown[]): JsonRecord {
  const value = row.value;
  if (row.name === "supportedModels") return { models: value };
  if (row.name === "mcpServerStatus") return { mcpServers: value };
  if (row.name === "setModel") return { model: argument };
  if (row.name === "setPermissionMode") return { mode: argument };
  return rec(value);
}

function callback(state: ClaudeState, row: JsonRecord, drafts: Draft[]): Translation {
  const [first, second, third] = arr(row.args);
  if (row.name === "canUseTool") {
    const info = rec(third);
    askTool(
      state,
      str(info.requestId) ?? `${str(info.toolUseID)}`,
      {
        tool_name: first,
        input: second,
        tool_use_id: info.toolUseID,
        agent_id: info.agentID,
        permission_suggestions: info.suggestions,
        blocked_path: info.blockedPath,
        decision_reason: info.decisionReason,
        description: info.description,
        title: info.title,
        suppress_always_allow_rule: info.suppressAlwaysAllowRule,
      },
      drafts,
    );
    return mapped(ADDRESS, "$sdk:callback:canUseTool", drafts);
  }
  if (row.name === "onElicitation") {
    const request = rec(first);
    const id = str(rec(second).requestId) ?? state.newKey("elicitation");
    askElicitation(
      state,
      id,
      {
        mcp_server_name: request.serverName,
        message: request.message,
        mode: request.mode,
        url: request.url,
        elicitation_id: request.elicitationId,
        requested_schema: request.requestedSchema,
        property_order: request.propertyOrder,
      },
      drafts,
    );
    return mapped(ADDRESS, "$sdk:callback:onElicitation", drafts);
  }
  return noted(ADDRESS, "$sdk:callback:other", `callback_${asText(row.name).split(":")[0]}`, { name: row.name });
}

/** A callback's value names its request only sometimes; otherwise it answers the oldest open one of its kind. */
function callbackReturned(state: ClaudeState, row: JsonRecord, drafts: Draft[]): void {
  const elicitation = row.name === "onElicitation";
  if (!elicitation && row.name !== "canUseTool") return;
  const value = rec(row.value);
  const call = str(value.toolUseID);
  for (const [id, request] of state.requests) {
    if ((request.kind === "elicitation") !== elicitation) continue;
    if (row.requestId !== undefined ? row.requestId !== id : call !== undefined && request.callId !== call) continue;
    // The SDK's signal fired: the CLI withdrew the request.
    if (row.aborted === true) settleByAgent(state, id, false, drafts);
    else settleByClient(state, id, row.value === undefined ? (str(row.error) ?? "error") : value, drafts);
    return;
  }
}
