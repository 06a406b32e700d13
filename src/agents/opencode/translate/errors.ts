// OpenCode's error names in the canonical codes. Whether an error is reported, and when, is decided where turns are kept.
import type { ErrorData } from "../../../schema/event-data.ts";
import { type JsonRecord, num, rec, str } from "../../json.ts";
import { errorData, type FaultRows, faultOf, NOT_KNOWN, ofAgent, ofProvider, providerMessage } from "../../kit/error-table.ts";

export type NamedError = { name: string; error: ErrorData };

const ROWS: FaultRows = {
  names: { MessageAbortedError: ofAgent("aborted"), StructuredOutputError: ofAgent("execution_error") },
};

/** `native` is `{name, data}`, as in `session.error` and on an assistant message. */
export function readError(native: unknown): NamedError {
  const { name: rawName, data: rawData } = rec(native);
  const name = str(rawName) ?? "UnknownError";
  const data = rec(rawData);
  const message = plainMessage(str(data.message) ?? str(rec(native).message) ?? str(native) ?? name);
  // An `UnknownError` says what it is in its words alone (1.18: an unknown model).
  const text = name === "UnknownError" ? message : "";
  const status = num(data.statusCode);
  // An HTTP status is the provider's answer, whatever a version calls the error.
  if (name !== "APIError" && status === undefined)
    return { name, error: errorData(message, faultOf({ names: [name], text }, ROWS) ?? NOT_KNOWN, name) };
  const fault = faultOf({ names: [name], status, text: message }, ROWS) ?? ofProvider("api_error");
  const retryAfter = retryAfterMs(rec(data.responseHeaders));
  const error = errorData(message, fault, status ?? name, {
    ...(typeof data.isRetryable === "boolean" ? { retryable: data.isRetryable } : {}),
    ...(retryAfter === undefined ? {} : { retry_after_ms: retryAfter }),
  });
  return { name, error };
}

function retryAfterMs(headers: JsonRecord): number | undefined {
  const ms = Number.parseFloat(str(headers["retry-after-ms"]) ?? "");
  if (Number.isFinite(ms)) return ms;
  const seconds = Number.parseFloat(str(headers["retry-after"]) ?? "");
  return Number.isFinite(seconds) ? seconds * 1000 : undefined;
}

/** An error object inside the model's stream arrives as JSON text, an internal one as a stack trace: a person wants the sentence in it. */
function plainMessage(message: string): string {
  const inner = providerMessage(message);
  if (inner !== undefined) return inner;
  return isStackTrace({ message }) ? message.slice(0, message.search(/\n\s+at /)) : message;
}

/** 1.18: an unknown model or agent is said twice, the second time as a stack trace. */
export const isStackTrace = (data: JsonRecord): boolean => /\n\s+at /.test(str(data.message) ?? "");
