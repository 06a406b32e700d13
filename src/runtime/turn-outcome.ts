/** How a turn ends, in the words of the journal, and which canonical error code a failure of the provider has. */
import { ResponsesError, type ResponsesErrorCode } from "../openresponses/errors.ts";
import type { TurnEndReason } from "./records.ts";

/** The end of a turn, before it is recorded. */
export interface TurnOutcome {
  readonly reason: TurnEndReason;
  readonly error_code?: string;
  /** A sentence for the person. */
  readonly message?: string;
}

const CODES: Readonly<Record<ResponsesErrorCode, string>> = {
  unreachable: "api_error",
  auth: "provider_auth",
  model_unknown: "api_error",
  not_found: "api_error",
  rate_limit: "rate_limit",
  quota: "api_error",
  context_overflow: "context_overflow",
  invalid_request: "api_error",
  server_error: "api_error",
  redirected: "api_error",
  not_a_stream: "api_error",
  cut: "api_error",
  stalled: "api_error",
  aborted: "aborted",
};

export function errorEnd(error: unknown): TurnOutcome {
  if (error instanceof ResponsesError) return { reason: "error", error_code: CODES[error.code], message: error.message };
  return { reason: "error", error_code: "unknown", message: error instanceof Error ? error.message : String(error) };
}

/** An answer that the provider did not finish. */
export function incompleteEnd(reason: string | null): TurnOutcome {
  if (reason === "max_output_tokens") {
    return { reason: "output_length", error_code: "output_length", message: "The answer reached the limit of output tokens." };
  }
  if (reason === "content_filter") return { reason: "refusal", message: "The provider's filter stopped the answer." };
  return { reason: "error", error_code: "api_error", message: `The answer is incomplete (${reason ?? "no reason given"}).` };
}
