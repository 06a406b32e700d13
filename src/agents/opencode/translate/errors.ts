// OpenCode's error names in the canonical codes. Whether an error is told, and when, is decided where turns are kept.
import type { ErrorCode, ErrorData } from "../../../schema/event-data.ts";
import { type JsonRecord, num, rec, str } from "../../json.ts";

export type NamedError = { name: string; error: ErrorData };

/** HTTP states that have a canonical code of their own. */
const BY_STATUS: Record<number, ErrorCode> = {
  401: "provider_auth",
  403: "provider_auth",
  413: "context_overflow",
  429: "rate_limit",
};

/** `native` is `{name, data}`, as in `session.error` and on an assistant message. */
export function readError(native: unknown): NamedError {
  const { name: rawName, data: rawData } = rec(native);
  const name = str(rawName) ?? "UnknownError";
  const data = rec(rawData);
  const message = plainMessage(str(data.message) ?? str(rec(native).message) ?? name);
  const error = (code: ErrorCode, source: "agent" | "provider", more: Partial<ErrorData["details"]> = {}): NamedError => ({
    name,
    error: { message, code, details: { error_source: source, native_code: name, ...more } },
  });
  switch (name) {
    case "ProviderAuthError":
      return error("provider_auth", "provider", { retryable: false });
    case "APIError":
      return apiError(name, message, data);
    case "ContextOverflowError":
      return error("context_overflow", "provider", { retryable: false });
    case "MessageOutputLengthError":
      return error("output_length", "provider");
    case "MessageAbortedError":
      return error("aborted", "agent", { retryable: false });
    case "ContentFilterError":
      return error("api_error", "provider", { retryable: false });
    case "StructuredOutputError":
      return error("execution_error", "agent");
    default:
      return error("unknown", "agent");
  }
}

function apiError(name: string, message: string, data: JsonRecord): NamedError {
  const status = num(data.statusCode);
  const retryAfter = retryAfterMs(rec(data.responseHeaders));
  const code = status === undefined ? "api_error" : (BY_STATUS[status] ?? "api_error");
  return {
    name,
    error: {
      message,
      code,
      details: {
        error_source: "provider",
        native_code: status ?? name,
        ...(typeof data.isRetryable === "boolean" ? { retryable: data.isRetryable } : {}),
        ...(retryAfter === undefined ? {} : { retry_after_ms: retryAfter }),
      },
    },
  };
}

function retryAfterMs(headers: JsonRecord): number | undefined {
  const ms = Number.parseFloat(str(headers["retry-after-ms"]) ?? "");
  if (Number.isFinite(ms)) return ms;
  const seconds = Number.parseFloat(str(headers["retry-after"]) ?? "");
  return Number.isFinite(seconds) ? seconds * 1000 : undefined;
}

/** An error object inside the model's stream arrives as JSON text, an internal one as a stack trace: a person wants the sentence in it. */
function plainMessage(message: string): string {
  if (message.startsWith("{")) {
    try {
      const json = rec(JSON.parse(message));
      return str(rec(json.error).message) ?? str(json.message) ?? message;
    } catch {
      return message;
    }
  }
  return isStackTrace({ message }) ? message.slice(0, message.search(/\n\s+at /)) : message;
}

/** 1.18: an unknown model or agent is said twice, the second time as a stack trace. */
export const isStackTrace = (data: JsonRecord): boolean => /\n\s+at /.test(str(data.message) ?? "");
