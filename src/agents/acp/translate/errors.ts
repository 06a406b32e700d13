// Faults in the canonical words. Agents say them as HTTP numbers, JSON-RPC codes, vendor data or plain text; the most exact one decides.
import type { ErrorCode, ErrorData, StopReason } from "../../../schema/event-data.ts";
import { isRecord, num, own, rec, str } from "../../json.ts";
import type { RpcError } from "./rpc.ts";

/** `stop` is how the turn ended; `error` is null when the fault is no more than that end. */
export type Fault = { error: ErrorData | null; stop: StopReason; refusal?: string };

/** A provider's refusal that an agent passes on as an error. */
const REFUSED = /content[_ ]filter|usage policy|safeguards flagged/i;

export function faultOf(error: RpcError): Fault {
  const detail = detailOf(error);
  const message = detail || error.message || "The agent failed without saying why.";
  if (REFUSED.test(message)) return { error: null, stop: "refusal", refusal: message };
  const code = codeOf(error, message);
  if (code === "aborted") return { error: null, stop: "interrupted" };
  return {
    error: {
      message,
      code,
      details: { error_source: sourceOf(code, error), native_code: nativeCode(error), retryable: RETRYABLE.has(code) },
    },
    stop: STOPS[code] ?? "error",
  };
}

/** Opening a session failed: the provider had no part in it, unless it is about the sign-in. */
export function openingFault(error: RpcError): ErrorData {
  const fault = faultOf(error).error;
  if (fault?.code === "provider_auth") return fault;
  const message = fault?.message ?? error.message;
  return { message, code: "execution_error", details: { error_source: "agent", native_code: error.code, retryable: false } };
}

/** A fault said only as text. */
export const faultOfText = (text: string): Fault => faultOf({ code: null, message: text.trim(), data: undefined });

const STOPS: Partial<Record<ErrorCode, StopReason>> = {
  output_length: "output_length",
  max_turns: "max_turns",
  max_budget: "max_budget",
};
const RETRYABLE = new Set<ErrorCode>(["rate_limit", "api_error"]);

/** "Internal error" says nothing; the reason is in the data (zed `message`, qwen `details`). */
function detailOf(error: RpcError): string {
  const data = rec(error.data);
  const inner = str(data.message) ?? str(data.details);
  if (inner !== undefined) return innermost(inner);
  return innermost(error.message.replace(/^Internal error: /, ""));
}

/** codex and gemini pass the provider's JSON body on as the message. */
function innermost(text: string): string {
  if (!text.startsWith("{")) return text;
  try {
    const body: unknown = JSON.parse(text);
    return str(rec(rec(body).error).message) ?? text;
  } catch {
    return text;
  }
}

function codeOf(error: RpcError, message: string): ErrorCode {
  const data = rec(error.data);
  return (
    byKind(str(data.errorKind)) ??
    byKind(str(data.errorName)) ??
    byCodex(data.codex_error_info) ??
    byNumber(error.code) ??
    byText(message) ??
    (isProviders(error.code) ? "api_error" : "execution_error")
  );
}

/** gemini 0.61 passes HTTP numbers on as JSON-RPC codes; -32603 wraps whatever the provider said. */
const isProviders = (code: number | string | null): boolean =>
  code === -32603 || code === null || (typeof code === "number" && code >= 400 && code < 600);

/** errorKind of claude-agent-acp and qwen, and opencode's errorName. */
const KINDS: Record<string, ErrorCode> = {
  rate_limit: "rate_limit",
  server_error: "api_error",
  overloaded: "api_error",
  authentication_failed: "provider_auth",
  authentication_error: "provider_auth",
  billing_error: "api_error",
  oauth_org_not_allowed: "provider_auth",
  max_output_tokens: "output_length",
  // qwen 0.24: the agent, not the provider, ended a turn that went in circles.
  loop_detected: "max_turns",
  model_not_found: "api_error",
  ProviderAuthError: "provider_auth",
  ContextOverflowError: "context_overflow",
  MessageOutputLengthError: "output_length",
  MessageAbortedError: "aborted",
};
const byKind = (kind: string | undefined): ErrorCode | undefined => (kind === undefined ? undefined : own(KINDS, kind));

const CODEX: Record<string, ErrorCode> = {
  context_window_exceeded: "context_overflow",
  contextWindowExceeded: "context_overflow",
  usage_limit_exceeded: "rate_limit",
  usageLimitExceeded: "rate_limit",
  unauthorized: "provider_auth",
};

function byCodex(info: unknown): ErrorCode | undefined {
  if (typeof info === "string") return own(CODEX, info);
  if (!isRecord(info)) return undefined;
  for (const [name, value] of Object.entries(info)) {
    const known = own(CODEX, name);
    if (known) return known;
    const status = num(rec(value).http_status_code) ?? num(rec(value).httpStatusCode);
    if (status !== undefined) return byNumber(status);
  }
  return undefined;
}

function byNumber(code: number | string | null): ErrorCode | undefined {
  const value = typeof code === "string" ? Number(code) : code;
  if (value === null) return undefined;
  if (value === 401 || value === 403 || value === -32000) return "provider_auth";
  if (value === 429) return "rate_limit";
  if (value === -32800) return "aborted";
  if (value === 413) return "context_overflow";
  if (value >= 500 && value < 600) return "api_error";
  // 400 can be anything: the text may say what.
  return undefined;
}

const TEXTS: readonly [RegExp, ErrorCode][] = [
  [
    /context (?:window|length)|prompt (?:is|as) too long|input token count.*exceeds|maximum context|too many tokens/i,
    "context_overflow",
  ],
  [/output token maximum|max_output_tokens|max(?:imum)? output tokens|finish_reason.*length/i, "output_length"],
  [/\b429\b|rate.?limit|too many requests|quota|slow down/i, "rate_limit"],
  [/\b40[13]\b|unauthori[sz]ed|api key|authenticat|credential|log ?in\b/i, "provider_auth"],
  [/loop.?detected|max(?:imum)? (?:session )?turns/i, "max_turns"],
  [/\b(?:abort|cancel)(?:ed|led)\b/i, "aborted"],
];

const byText = (message: string): ErrorCode | undefined => TEXTS.find(([pattern]) => pattern.test(message))?.[1];

function sourceOf(code: ErrorCode, error: RpcError): ErrorData["details"]["error_source"] {
  if (code === "execution_error" || code === "max_turns") return "agent";
  return typeof error.code === "number" && PROTOCOL.has(error.code) ? "agent" : "provider";
}
const PROTOCOL = new Set([-32700, -32600, -32601, -32602, -32002]);

function nativeCode(error: RpcError): string | number | null {
  const data = rec(error.data);
  return str(data.errorKind) ?? str(data.errorName) ?? error.code;
}
