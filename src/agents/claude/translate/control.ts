// The control protocol in both directions: the CLI's requests to us with our answers, and our requests with its answers.
import type { Draft } from "../../../schema/draft.ts";
import type { Translation } from "../../contract.ts";
import { type JsonRecord, rec, records, str } from "../../json.ts";
import { mapped, noted, unparsed } from "../../translation.ts";
import { initialized, mcpServersChanged, modeChanged, modelChanged, modelList } from "./config.ts";
import { UNSERVED_REQUESTS } from "./internal-frames.ts";
import { askElicitation, askTool, settleByAgent, settleByClient } from "./permissions.ts";
import { ADDRESS, type ClaudeState } from "./state.ts";

const UNSERVED = new Set(UNSERVED_REQUESTS);

/** The CLI asks. */
export function requestFromAgent(state: ClaudeState, frame: JsonRecord): Translation {
  const request = rec(frame.request);
  const subtype = str(request.subtype) ?? "";
  const id = str(frame.request_id) ?? "";
  const type = `control_request/${subtype}`;
  const drafts: Draft[] = [];
  switch (subtype) {
    case "can_use_tool":
      askTool(state, id, request, drafts);
      return mapped(ADDRESS, type, drafts);
    case "elicitation":
      askElicitation(state, id, request, drafts);
      return mapped(ADDRESS, type, drafts);
    default:
      if (UNSERVED.has(subtype)) return noted(ADDRESS, type, subtype, request);
      return unparsed(ADDRESS, "control_request/unknown", `unknown control request ${subtype || "(none)"}`);
  }
}

/** We ask: remembered until the answer comes. */
export function requestFromUs(state: ClaudeState, frame: JsonRecord): Translation {
  const request = rec(frame.request);
  const id = str(frame.request_id);
  if (id !== undefined) state.asked.set(id, request);
  if (request.subtype === "interrupt") state.interrupted = true;
  return mapped(ADDRESS, "in/control_request");
}

/** Our answer to the CLI. */
export function answerFromUs(state: ClaudeState, frame: JsonRecord): Translation {
  const response = rec(frame.response);
  const drafts: Draft[] = [];
  const answer = response.subtype === "error" ? (str(response.error) ?? "error") : rec(response.response);
  settleByClient(state, str(response.request_id) ?? "", answer, drafts);
  return mapped(ADDRESS, "in/control_response", drafts);
}

/** The CLI's answer to us. */
export function answerFromAgent(state: ClaudeState, frame: JsonRecord): Translation {
  const response = rec(frame.response);
  const id = str(response.request_id) ?? "";
  const request = state.asked.get(id);
  state.asked.delete(id);
  const type = `control_response/${str(response.subtype) === "error" ? "error" : "success"}`;
  const drafts: Draft[] = [];
  for (const pending of [...records(response.pending_permission_requests), ...records(response.pending_elicitation_requests)])
    if (!state.requests.has(str(pending.request_id) ?? "")) drafts.push(...requestFromAgent(state, pending).drafts);
  if (response.subtype === "error")
    return noted(
      ADDRESS,
      type,
      "control_error",
      { request: str(request?.subtype) ?? null, error: str(response.error) ?? "" },
      drafts,
    );
  answered(state, str(request?.subtype), rec(response.response), drafts);
  return mapped(ADDRESS, type, drafts);
}

/** What a successful answer says about the session. */
export function answered(state: ClaudeState, subtype: string | undefined, answer: JsonRecord, drafts: Draft[]): void {
  switch (subtype) {
    case "initialize":
      return initialized(state, answer, drafts);
    case "set_model":
      return modelChanged(state, answer.model, drafts);
    case "set_permission_mode":
      return modeChanged(state, answer.mode, drafts);
    case "mcp_status":
      return mcpServersChanged(state, answer.mcpServers, drafts);
    case "list_models": {
      const models = modelList(answer.models);
      if (models.length > 0) drafts.push({ do: "event", type: "config.changed", data: { models } });
      return;
    }
    default:
      return;
  }
}

/** The CLI withdraws its request: an interrupt, a hook's time limit. */
export function cancelFromAgent(state: ClaudeState, frame: JsonRecord): Translation {
  const drafts: Draft[] = [];
  settleByAgent(state, str(frame.request_id) ?? "", false, drafts);
  return mapped(ADDRESS, "control_cancel_request", drafts);
}
