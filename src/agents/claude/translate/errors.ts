// Claude Code's failures in the canonical codes. An API error arrives as an `assistant` message of the model `<synthetic>` and again in the result.
import type { ErrorData } from "../../../schema/event-data.ts";
import { arr, type JsonRecord, num, rec, str } from "../../json.ts";
import { errorData, type FaultRows, faultOf, ofAgent, ofProvider } from "../../kit/error-table.ts";

const ROWS: FaultRows = {
  names: {
    account_on_hold: ofProvider("provider_auth"),
    verification_required: ofProvider("provider_auth"),
    cloud_credential_error: ofProvider("provider_auth"),
    error_max_turns: ofAgent("max_turns"),
    error_max_budget_usd: ofAgent("max_budget"),
    max_turns: ofAgent("max_turns"),
    budget_exhausted: ofAgent("max_budget"),
    // How an answer ended that is no fault of the provider.
    malformed_tool_use_exhausted: ofAgent("execution_error"),
    stop_hook_prevented: ofAgent("execution_error"),
    structured_output_retry_exhausted: ofAgent("execution_error"),
    tool_deferred_unavailable: ofAgent("execution_error"),
    turn_setup_failed: ofAgent("execution_error"),
    // The start failed: nobody may use it so.
    org_pin_api_key_conflict: ofAgent("provider_auth"),
    provider_not_allowed: ofAgent("provider_auth"),
    org_verify_failed: ofAgent("provider_auth"),
    org_pin_mismatch: ofAgent("provider_auth"),
    gateway_signin_required: ofAgent("provider_auth"),
    gateway_access_denied: ofAgent("provider_auth"),
  },
};

/** From an `assistant` frame with `error`, or from a result that failed at the API. */
export function apiError(frame: JsonRecord, text: string): ErrorData {
  const status = num(frame.api_error_status);
  const native = str(frame.error) ?? str(frame.api_error) ?? str(frame.api_error_type);
  const cut = rec(frame.api_error_params).cut === "context_window" ? "context_overflow" : undefined;
  const overflow = /context window limit|^prompt is too long/i.test(text) ? "context_overflow" : undefined;
  const terminal = str(frame.terminal_reason) === "prompt_too_long" ? "prompt_too_long" : undefined;
  // `api_error: usage_limit_reached` says more than the `error: rate_limit` beside it.
  const ended = str(frame.terminal_reason);
  const names = [cut, overflow, terminal, str(frame.api_error), native, ended];
  const unknown = status === undefined && native === undefined ? ofProvider("unknown") : ofProvider("api_error");
  const fault = faultOf({ names, status, text: native === undefined && status === undefined ? "" : text }, ROWS) ?? unknown;
  return errorData(text || native || "The model provider reported an error.", fault, native ?? status ?? null);
}

/** From the subtype of an error result. */
export function resultError(frame: JsonRecord): ErrorData {
  const subtype = str(frame.subtype) ?? "unknown";
  const startup = str(frame.startup_failure_reason);
  const texts = arr(frame.errors).filter((text): text is string => typeof text === "string");
  const told = texts.filter((text) => !text.startsWith("[ede_diagnostic]"));
  const message = told.join("\n") || str(frame.result) || `Claude Code ended the turn with ${subtype}.`;
  return errorData(
    message,
    faultOf({ names: [subtype, startup, str(frame.terminal_reason)] }, ROWS) ?? ofAgent("execution_error"),
    startup ?? subtype,
  );
}
