// Claude Code's failures in the canonical codes. An API error arrives as an `assistant` message of the model `<synthetic>` and again in the result.
import type { ErrorCode, ErrorData } from "../../../schema/event-data.ts";
import { arr, type JsonRecord, num, own, rec, str } from "../../json.ts";

const NATIVE_CODES: Record<string, ErrorCode> = {
  authentication_failed: "provider_auth",
  oauth_org_not_allowed: "provider_auth",
  account_on_hold: "provider_auth",
  verification_required: "provider_auth",
  cloud_credential_error: "provider_auth",
  billing_error: "api_error",
  rate_limit: "rate_limit",
  overloaded: "api_error",
  invalid_request: "api_error",
  model_not_found: "api_error",
  server_error: "api_error",
  max_output_tokens: "output_length",
};

const STARTUP_AUTH = new Set([
  "org_pin_api_key_conflict",
  "provider_not_allowed",
  "org_verify_failed",
  "org_pin_mismatch",
  "gateway_signin_required",
  "gateway_access_denied",
]);

const RETRYABLE = new Set(["rate_limit", "overloaded", "server_error"]);

/** The code of an API failure, from what the `assistant` frame or the result says about it. */
function apiCode(native: string | undefined, status: number | undefined, frame: JsonRecord, text: string): ErrorCode {
  if (str(frame.terminal_reason) === "prompt_too_long" || /^prompt is too long/i.test(text)) return "context_overflow";
  if (rec(frame.api_error_params).cut === "context_window" || /context window limit/i.test(text)) return "context_overflow";
  if (status === 413) return "context_overflow";
  const known = native === undefined ? undefined : own(NATIVE_CODES, native);
  if (known) return known;
  if (status === 401 || status === 403) return "provider_auth";
  if (status === 429) return "rate_limit";
  return status === undefined && native === undefined ? "unknown" : "api_error";
}

/** From an `assistant` frame with `error`, or from a result that failed at the API. */
export function apiError(frame: JsonRecord, text: string): ErrorData {
  const status = num(frame.api_error_status);
  const native = str(frame.error) ?? str(frame.api_error) ?? str(frame.api_error_type);
  const code = apiCode(native, status, frame, text);
  const retryable =
    native !== undefined && RETRYABLE.has(native) ? true : status !== undefined && (status === 429 || status >= 500);
  return {
    message: text || native || "The model provider reported an error.",
    code,
    details: { error_source: "provider", native_code: native ?? status ?? null, retryable },
  };
}

/** From the subtype of an error result. Null: the turn was interrupted, which is no failure. */
export function resultError(frame: JsonRecord): ErrorData {
  const subtype = str(frame.subtype) ?? "unknown";
  const startup = str(frame.startup_failure_reason);
  const texts = arr(frame.errors).filter((text): text is string => typeof text === "string");
  const told = texts.filter((text) => !text.startsWith("[ede_diagnostic]"));
  const code: ErrorCode =
    subtype === "error_max_turns"
      ? "max_turns"
      : subtype === "error_max_budget_usd"
        ? "max_budget"
        : startup !== undefined && STARTUP_AUTH.has(startup)
          ? "provider_auth"
          : "execution_error";
  return {
    message: told.join("\n") || str(frame.result) || `Claude Code ended the turn with ${subtype}.`,
    code,
    details: { error_source: "agent", native_code: startup ?? subtype, retryable: false },
  };
}
