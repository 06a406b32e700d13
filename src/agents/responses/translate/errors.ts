/** Failures of an endpoint as canonical errors. */
import type { ErrorCode, ErrorData } from "../../../schema/event-data.ts";
import { own } from "../../json.ts";

const CODES: Readonly<Record<string, ErrorCode>> = {
  provider_auth: "provider_auth",
  api_error: "api_error",
  context_overflow: "context_overflow",
  output_length: "output_length",
  aborted: "aborted",
  rate_limit: "rate_limit",
  max_turns: "max_turns",
  max_budget: "max_budget",
  execution_error: "execution_error",
};

/** What never reached the provider, or broke on the way. */
const TRANSPORT: ReadonlySet<string> = new Set(["unreachable", "redirected", "not_a_stream", "cut", "stalled"]);

export type Failure = { code: string; retryable: boolean };

export const errorCode = (code: string | null): ErrorCode => own(CODES, code ?? "") ?? "unknown";

/** `failure`: what the last attempt at the provider failed with, when that is the reason. */
export function errorData(code: ErrorCode, message: string, failure: Failure | null): ErrorData {
  const error_source = failure === null ? "agent" : TRANSPORT.has(failure.code) ? "transport" : "provider";
  return {
    message,
    code,
    details: { error_source, native_code: failure?.code ?? null, retryable: failure?.retryable ?? false },
  };
}
