// What goes to the CLI's stdin: our messages open the client's turn and become the user's items; the CLI does not echo them.
import type { Draft } from "../../../schema/draft.ts";
import type { Translation } from "../../contract.ts";
import { isRecord, type JsonRecord, rec, str } from "../../json.ts";
import { mapped, noted } from "../../translation.ts";
import { answerFromUs, requestFromUs } from "./control.ts";
import { sdkInbound } from "./sdk-rows.ts";
import { ADDRESS, type ClaudeState } from "./state.ts";
import { nothingFollows, steeredWaits } from "./turns.ts";
import { userMessage } from "./user-message.ts";

export function inbound(state: ClaudeState, data: unknown): Translation {
  if (typeof data === "string") return inboundText(data);
  if (!isRecord(data)) return noted(ADDRESS, "in/other", "stdin_ignored", data);
  if (data.$sdk !== undefined) return sdkInbound(state, data);
  if (data.$wire !== undefined) return mapped(ADDRESS, "in/$wire");
  switch (data.type) {
    case "user":
      return sent(state, data);
    case "control_request":
      return requestFromUs(state, data);
    case "control_response":
      return answerFromUs(state, data);
    case "control_cancel_request":
    case "keep_alive":
    case "update_environment_variables":
      return mapped(ADDRESS, `in/${data.type}`);
    default:
      // The CLI ignores it silently.
      return noted(ADDRESS, "in/other", "stdin_ignored", data);
  }
}

/** Actions of a recording harness (`[EOF]`, `[SIGINT]`), blank lines, and lines that are no JSON: the CLI ends at those. */
function inboundText(text: string): Translation {
  if (text.trim() === "" || /^\[[A-Z0-9 ]+\]$/.test(text)) return mapped(ADDRESS, "in/action");
  return noted(ADDRESS, "in/not_json", "stdin_not_json", text.slice(0, 200));
}

function sent(state: ClaudeState, frame: JsonRecord): Translation {
  const message = rec(frame.message);
  // The CLI ends the process at this.
  if (message.role !== "user") return noted(ADDRESS, "in/bad_user", "stdin_bad_user_message", frame);
  const drafts: Draft[] = [];
  userMessage(state, message.content, str(frame.uuid) ?? null, drafts);
  return mapped(ADDRESS, "in/user", drafts);
}

/** `command_lifecycle`: the fate of a message with a uuid. Cancelled ones never reach the model. */
export function lifecycle(state: ClaudeState, frame: JsonRecord): Translation {
  const drafts: Draft[] = [];
  state.sawLifecycle = true;
  const uuid = str(frame.command_uuid);
  const waiting = state.waiting.find((message) => message.uuid === uuid);
  const fate = str(frame.state) ?? "";
  if (fate !== "queued" && waiting) {
    // `started` alone does not take it from the list: the `init` that follows must know that this turn is the client's.
    if (fate !== "started" || state.turnOpen) state.waiting = state.waiting.filter((message) => message !== waiting);
    if (fate === "cancelled" || fate === "discarded" || fate === "refused") {
      drafts.push({ do: "item.remove", key: waiting.key, reason: `${fate} before the agent took it` });
      if (state.between && !steeredWaits(state)) nothingFollows(state, drafts);
    }
  }
  return mapped(ADDRESS, "command_lifecycle", drafts);
}
