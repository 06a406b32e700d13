/** Everything that can go wrong between a client and a Responses endpoint, as one error class with a code. */
import { arrayOf, isObject, type JsonObject, objectOf, parseJson, textOf } from "./json.ts";

/** What went wrong. */
export type ResponsesErrorCode =
  | "unreachable"
  | "auth"
  | "model_unknown"
  | "not_found"
  | "rate_limit"
  | "quota"
  | "context_overflow"
  | "invalid_request"
  | "server_error"
  | "redirected"
  | "not_a_stream"
  | "cut"
  | "stalled"
  | "aborted";

/** These may succeed when asked again. */
const RETRYABLE: ReadonlySet<ResponsesErrorCode> = new Set(["unreachable", "rate_limit", "server_error", "cut", "stalled"]);

export interface ResponsesErrorFields {
  /** The HTTP status, where there was one. */
  readonly status?: number;
  /** The provider's own code or type. */
  readonly providerCode?: string;
  /** How long the provider asks us to wait. */
  readonly retryAfterMs?: number;
  /** The beginning of what came instead of an answer. */
  readonly detail?: string;
  /** Overrides what the code says. */
  readonly retryable?: boolean;
  readonly cause?: unknown;
}

export class ResponsesError extends Error {
  readonly code: ResponsesErrorCode;
  readonly status: number | null;
  readonly providerCode: string | null;
  readonly retryAfterMs: number | null;
  readonly detail: string | null;
  readonly retryable: boolean;

  constructor(code: ResponsesErrorCode, message: string, fields: ResponsesErrorFields = {}) {
    super(message, fields.cause === undefined ? {} : { cause: fields.cause });
    this.name = "ResponsesError";
    this.code = code;
    this.status = fields.status ?? null;
    this.providerCode = fields.providerCode ?? null;
    this.retryAfterMs = fields.retryAfterMs ?? null;
    this.detail = fields.detail ?? null;
    this.retryable = fields.retryable ?? RETRYABLE.has(code);
  }
}

/** An HTTP answer that is not a success. */
export interface HttpFailure {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  readonly url: string;
  readonly model?: string;
}

export function errorFromHttp(failure: HttpFailure): ResponsesError {
  const { status, body, url, model } = failure;
  const said = readErrorBody(body);
  const code = codeOf(status, said);
  const retryAfterMs = retryAfter(failure.headers);
  const text = said.message === "" ? "" : ` It says: ${said.message}`;
  return new ResponsesError(code, `${adviceOf(code, status, url, model)}${text}`, {
    status,
    ...(said.code === undefined ? {} : { providerCode: said.code }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    detail: body.slice(0, 2000),
    ...([408, 409, 425].includes(status) ? { retryable: true } : {}),
  });
}

/** `response.failed` or an `error` event. */
export function errorFromEvent(error: JsonObject): ResponsesError {
  const said = { message: textOf(error.message) ?? "", code: textOf(error.code) ?? textOf(error.type) };
  const code = codeOf(statusOf(said.code), said);
  const message = said.message === "" ? "The provider gave no reason." : said.message;
  return new ResponsesError(code, `The response failed: ${message}`, {
    ...(said.code === undefined ? {} : { providerCode: said.code }),
  });
}

interface Said {
  readonly message: string;
  readonly code: string | undefined;
}

/** `{error:{…}}` of the specification, `{error:"…"}` of Ollama, `{detail:…}` of FastAPI, `{message}`, a page of HTML, or plain text. */
function readErrorBody(body: string): Said {
  const json = parseJson(body);
  if (!isObject(json)) return { message: plainText(body), code: undefined };
  if (typeof json.error === "string") return { message: json.error, code: undefined };
  if (isObject(json.error)) {
    const { message, code, type } = json.error;
    return { message: textOf(message) ?? "", code: textOf(code) ?? textOf(type) };
  }
  if (typeof json.detail === "string") return { message: json.detail, code: undefined };
  const first = objectOf(arrayOf(json.detail)[0]);
  return { message: textOf(json.message) ?? textOf(first.msg) ?? "", code: textOf(json.code) };
}

/** The words of a page, without its markup. */
export function plainText(body: string): string {
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(body)?.[1];
  const text = title ?? body.replaceAll(/<(script|style)[\s\S]*?<\/\1>/gi, " ").replaceAll(/<[^>]*>/g, " ");
  return text.replaceAll(/\s+/g, " ").trim().slice(0, 300);
}

function codeOf(status: number, said: Said): ResponsesErrorCode {
  const about = `${said.code ?? ""} ${said.message}`.toLowerCase();
  if (
    status === 413 ||
    /context_length_exceeded|context window|maximum context|context length|exceeds? the (available )?context/.test(about)
  )
    return "context_overflow";
  if (status === 401 || status === 403 || said.code === "invalid_api_key") return "auth";
  if (status === 402 || said.code === "insufficient_quota") return "quota";
  if (/model_not_found|model .*(not found|does not exist|unknown)|unknown model|no such model/.test(about))
    return "model_unknown";
  if (status === 404) return "not_found";
  if (status === 429) return "rate_limit";
  if (status >= 500) return "server_error";
  return "invalid_request";
}

function statusOf(code: string | undefined): number {
  if (code === undefined) return 500;
  if (/rate_limit|too_many_requests/.test(code)) return 429;
  if (/auth|api_key|permission/.test(code)) return 401;
  if (/not_found/.test(code)) return 404;
  return /invalid|unsupported|missing/.test(code) ? 400 : 500;
}

function adviceOf(code: ResponsesErrorCode, status: number, url: string, model: string | undefined): string {
  switch (code) {
    case "auth":
      return `${url} refused the key (HTTP ${status}): check the API key of this endpoint.`;
    case "quota":
      return `${url} answers that the account has no credit (HTTP ${status}): check its billing.`;
    case "model_unknown":
      return `${url} does not know the model ${JSON.stringify(model ?? "")} (HTTP ${status}): choose one of its models.`;
    case "not_found":
      return `There is no Responses endpoint at ${url} (HTTP ${status}): check the base URL, it usually ends in /v1.`;
    case "rate_limit":
      return `${url} is rate limited (HTTP ${status}): wait, then try again.`;
    case "context_overflow":
      return `The conversation is longer than the model's context window (HTTP ${status}): compact it.`;
    default:
      return `${url} answered HTTP ${status}.`;
  }
}

/** `retry-after-ms`, or `retry-after` in seconds or as a date. At most ten minutes. */
export function retryAfter(headers: HttpFailure["headers"], now: number = Date.now()): number | undefined {
  const exact = Number(headers["retry-after-ms"]);
  const value = headers["retry-after"];
  const text = Array.isArray(value) ? value[0] : value;
  let ms = Number.isFinite(exact) && headers["retry-after-ms"] !== undefined ? exact : undefined;
  if (ms === undefined && text !== undefined && text.trim() !== "") {
    const seconds = Number(text);
    ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(text) - now;
  }
  return ms === undefined || Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), 600_000);
}
