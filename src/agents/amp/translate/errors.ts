// What the `error` of an Amp result means: a sentence, never a code, so it is told apart by its words (as the builds of January, May and September say them).
import type { ErrorData } from "../../../schema/event-data.ts";
import { isRecord, str } from "../../json.ts";

export type ResultError =
  /** Somebody sent a signal: not a fault. */
  | { kind: "cancelled" }
  /** A tool would have asked, and Amp cannot ask on this wire. `tools` may be empty. */
  | { kind: "approval"; tools: string[] }
  | { kind: "fault"; error: ErrorData };

const APPROVAL = /requires? user approval, which is not supported in stream JSON mode(?:: (.*))?$/s;
/** `429 {"type":"error",…}`: the provider's answer as its client library words it. */
const STATUS = /^(\d{3})(?:\s+([\s\S]*))?$/;
const OVERFLOW = /context limit reached|context (?:window|length)|prompt is too long|too many tokens|maximum context/i;

type Rule = {
  says: RegExp;
  code: ErrorData["code"];
  native: string;
  retryable: boolean;
  source: ErrorData["details"]["error_source"];
};

/** The titles of Amp's own error dialogs, which begin the sentence. First match wins. */
const RULES: Rule[] = [
  { says: /^Unauthorized\b/i, code: "provider_auth", native: "unauthorized", retryable: false, source: "provider" },
  {
    says: /invalid or missing api key|not logged in|login required/i,
    code: "provider_auth",
    native: "unauthorized",
    retryable: false,
    source: "provider",
  },
  { says: OVERFLOW, code: "context_overflow", native: "context_limit", retryable: false, source: "provider" },
  {
    says: /^Model Provider Overloaded|\boverloaded/i,
    code: "api_error",
    native: "overloaded",
    retryable: true,
    source: "provider",
  },
  { says: /^Model Stream Timed Out/i, code: "api_error", native: "stream_timeout", retryable: true, source: "provider" },
  {
    says: /^Network Error|ECONNREFUSED|ECONNRESET|ENOTFOUND|fetch failed|terminated$|socket hang up|Connection error|stream ended without/i,
    code: "api_error",
    native: "network",
    retryable: true,
    source: "transport",
  },
  {
    says: /^Out of Credits|insufficient (?:balance|credit|funds)/i,
    code: "api_error",
    native: "out_of_credits",
    retryable: false,
    source: "provider",
  },
  {
    says: /^Usage Quota Exceeded|^Rate Limit|rate.?limit|too many requests/i,
    code: "rate_limit",
    native: "rate_limit",
    retryable: true,
    source: "provider",
  },
  { says: /^Turn Limit Reached/i, code: "max_turns", native: "turn_limit", retryable: false, source: "provider" },
  { says: /^Image Too Large/i, code: "api_error", native: "image_too_large", retryable: false, source: "provider" },
  {
    says: /^(?:Agent )?Mode Disabled|^Agent Mode Disabled/i,
    code: "execution_error",
    native: "mode_disabled",
    retryable: false,
    source: "agent",
  },
  {
    says: /^Invalid (?:JSON|message format) on stdin|^No valid messages found in stdin/i,
    code: "execution_error",
    native: "invalid_input",
    retryable: false,
    source: "agent",
  },
  // A stream that is not JSON: the parser's own words come through.
  {
    says: /\bin JSON at position|JSON Parse error|Unexpected (?:token|end of JSON)/i,
    code: "api_error",
    native: "bad_stream",
    retryable: true,
    source: "provider",
  },
];

export function readResultError(text: string): ResultError {
  if (/^User cancelled\b/i.test(text)) return { kind: "cancelled" };
  const approval = APPROVAL.exec(text);
  if (approval) return { kind: "approval", tools: (approval[1] ?? "").split(",").flatMap((name) => name.trim() || []) };
  const status = STATUS.exec(text);
  if (status) return { kind: "fault", error: fromStatus(Number(status[1]), status[2] ?? "", text) };
  const rule = RULES.find(({ says }) => says.test(text));
  if (rule === undefined) return { kind: "fault", error: fault(text, "execution_error", "agent", null, false) };
  return { kind: "fault", error: fault(text, rule.code, rule.source, rule.native, rule.retryable) };
}

function fromStatus(status: number, rest: string, whole: string): ErrorData {
  const said = providerMessage(rest) ?? whole;
  const retryable = status === 408 || status === 409 || status === 429 || status >= 500;
  return fault(said, statusCode(status, rest), "provider", status, retryable);
}

function statusCode(status: number, text: string): ErrorData["code"] {
  if (status === 401 || status === 403) return "provider_auth";
  if (status === 429) return "rate_limit";
  if (status === 413 || OVERFLOW.test(text)) return "context_overflow";
  return "api_error";
}

function providerMessage(body: string): string | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
    if (!isRecord(parsed)) return undefined;
    const { error } = parsed;
    return str(error) ?? (isRecord(error) ? str(error.message) : undefined) ?? str(parsed.message);
  } catch {
    return undefined;
  }
}

function fault(
  message: string,
  code: ErrorData["code"],
  error_source: ErrorData["details"]["error_source"],
  native_code: string | number | null,
  retryable: boolean,
): ErrorData {
  return {
    message: message === "" ? "Amp failed without saying why." : message,
    code,
    details: { error_source, native_code, retryable },
  };
}
