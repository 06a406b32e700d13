// Codex errors in canonical words: code, source and whether trying again makes sense.
import type { ErrorCode, ErrorData, ErrorDetails } from "../../../schema/event-data.ts";
import { isRecord, type JsonRecord, num, own, rec, str } from "../../json.ts";

type Meaning = { code: ErrorCode; source: ErrorDetails["error_source"]; retryable: boolean };

const provider = (code: ErrorCode, retryable = false): Meaning => ({ code, source: "provider", retryable });

const BY_NAME: Record<string, Meaning> = {
  contextWindowExceeded: provider("context_overflow"),
  sessionBudgetExceeded: { code: "max_budget", source: "agent", retryable: false },
  usageLimitExceeded: provider("rate_limit"),
  rateLimitExceeded: provider("rate_limit", true),
  flexUnavailable: provider("api_error", true),
  serverOverloaded: provider("api_error", true),
  modelNotFound: provider("api_error"),
  policyCapacityUnavailable: provider("api_error", true),
  cyberPolicy: provider("api_error"),
  misalignmentPolicyViolation: provider("api_error"),
  tooManyDenials: { code: "execution_error", source: "agent", retryable: false },
  internalServerError: provider("api_error", true),
  unauthorized: provider("provider_auth"),
  badRequest: provider("api_error"),
  threadRollbackFailed: { code: "execution_error", source: "agent", retryable: false },
  sandboxError: { code: "execution_error", source: "agent", retryable: false },
};

/** `other` hides the cause in its message (codex 0.166). */
const BY_MESSAGE: [RegExp, Meaning][] = [
  [/context_length_exceeded|context window|maximum context length/i, provider("context_overflow")],
  [/\b413\b|payload too large/i, provider("context_overflow")],
  [/max_output_tokens/i, provider("output_length")],
  [/\b(401|403)\b|unauthorized|forbidden|api key|missing environment variable|not logged in/i, provider("provider_auth")],
  [/\b429\b|rate.?limit|too many requests|quota/i, provider("rate_limit", true)],
  [/stream disconnected|connection|timed? ?out|network/i, { code: "api_error", source: "transport", retryable: true }],
];

function byStatus(status: number | undefined): Meaning {
  if (status === 401 || status === 403) return provider("provider_auth");
  if (status === 413) return provider("context_overflow");
  if (status === 429) return provider("rate_limit", true);
  if (status === undefined) return { code: "api_error", source: "transport", retryable: true };
  return provider("api_error", status >= 500);
}

function meaningOf(info: unknown, message: string): Meaning {
  if (isRecord(info)) {
    const [name, detail] = Object.entries(info)[0] ?? ["other", undefined];
    if (isRecord(detail) && "httpStatusCode" in detail) return byStatus(num(detail.httpStatusCode));
    return own(BY_NAME, name) ?? { code: "unknown", source: "agent", retryable: false };
  }
  const name = str(info);
  const known = name === undefined ? undefined : own(BY_NAME, name);
  if (known) return known;
  const matched = BY_MESSAGE.find(([pattern]) => pattern.test(message));
  if (matched) return matched[1];
  return name === undefined || name === "other" ? provider("api_error") : { code: "unknown", source: "agent", retryable: false };
}

const nameOf = (info: unknown): string | null => (isRecord(info) ? (Object.keys(info)[0] ?? null) : (str(info) ?? null));

/** A `TurnError` as the universal error. */
export function errorData(error: unknown): ErrorData {
  const { message, codexErrorInfo, additionalDetails } = rec(error);
  const text = str(message) ?? "Codex reported an error without a message";
  const { code, source, retryable } = meaningOf(codexErrorInfo, `${text} ${str(additionalDetails) ?? ""}`);
  return { message: text, code, details: { error_source: source, native_code: nameOf(codexErrorInfo), retryable } };
}

/** A JSON-RPC error answer to a request that should have started a turn. */
export function rpcErrorData(error: JsonRecord): ErrorData {
  const data = rec(error.data);
  return {
    message: str(error.message) ?? "Codex refused the request",
    code: "execution_error",
    details: { error_source: "agent", native_code: nameOf(data.codexErrorInfo) ?? num(error.code) ?? null, retryable: false },
  };
}

/** "Reconnecting... 1/2" → 1. */
export function retryAttempt(message: string): number | undefined {
  const found = /(\d+)\/\d+/.exec(message);
  return found?.[1] === undefined ? undefined : Number(found[1]);
}
