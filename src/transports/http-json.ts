/** One JSON request to a local agent server, with a time limit and typed failures. No retries: the caller knows what may be repeated. */
import { parseMessage } from "../json/depth.ts";

export type HttpErrorCode = "network" | "timeout" | "aborted" | "http_status" | "not_json" | "too_large";

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;
const BODY_IN_ERROR = 2_000;

export class HttpError extends Error {
  readonly code: HttpErrorCode;
  /** Null when no answer came. */
  readonly status: number | null;
  /** Start of the answer's body, if there was one. */
  readonly body: string | null;

  constructor(code: HttpErrorCode, message: string, details: { status?: number; body?: string; cause?: unknown } = {}) {
    super(message, { cause: details.cause });
    this.name = "HttpError";
    this.code = code;
    this.status = details.status ?? null;
    this.body = details.body?.slice(0, BODY_IN_ERROR) ?? null;
  }
}

export type HttpReply =
  | { kind: "json"; status: number; json: unknown }
  | { kind: "text"; status: number; text: string }
  /** A 2xx without a body. */
  | { kind: "empty"; status: number };

export interface HttpJsonRequest {
  method?: string;
  url: string;
  headers?: Record<string, string>;
  /** Sent as JSON when not undefined. */
  body?: unknown;
  /** For the whole exchange, body included. */
  timeoutMs?: number;
  signal?: AbortSignal;
  maxBytes?: number;
  /** Take a 2xx that is not JSON as text. Otherwise it is an error: OpenCode answers unknown routes with 200 and its web page. */
  allowText?: boolean;
}

/** Resolves for 2xx only; throws HttpError for all else. */
export async function httpJson(request: HttpJsonRequest): Promise<HttpReply> {
  const method = request.method ?? (request.body === undefined ? "GET" : "POST");
  const where = `${method} ${request.url}`;
  const timeout = AbortSignal.timeout(request.timeoutMs ?? DEFAULT_TIMEOUT_MS);
  const signal = request.signal === undefined ? timeout : AbortSignal.any([request.signal, timeout]);
  try {
    const response = await fetch(request.url, {
      method,
      headers: {
        accept: "application/json",
        ...(request.body === undefined ? {} : { "content-type": "application/json" }),
        ...request.headers,
      },
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
      signal,
    });
    const text = await readText(response, request.maxBytes ?? DEFAULT_MAX_BYTES, where);
    return readReply(response, text, request.allowText === true, where);
  } catch (error) {
    if (error instanceof HttpError) throw error;
    if (request.signal?.aborted) throw new HttpError("aborted", `${where} was aborted.`, { cause: error });
    if (timeout.aborted)
      throw new HttpError("timeout", `${where} took too long: check that the server is alive.`, { cause: error });
    throw new HttpError("network", `${where} failed (${rootMessage(error)}): check that the server runs.`, { cause: error });
  }
}

function readReply(response: Response, text: string, allowText: boolean, where: string): HttpReply {
  const { status } = response;
  if (!response.ok)
    throw new HttpError("http_status", `${where} was answered ${status}: ${text.slice(0, 200)}`, { status, body: text });
  if (text === "") return { kind: "empty", status };
  const contentType = response.headers.get("content-type") ?? "";
  const json = isJsonType(contentType) ? parse(text) : undefined;
  if (json !== undefined) return { kind: "json", status, json };
  if (allowText) return { kind: "text", status, text };
  const message = `${where} was answered ${status} with ${contentType || "no content type"} instead of JSON: does this server version know the route?`;
  throw new HttpError("not_json", message, { status, body: text });
}

function isJsonType(contentType: string): boolean {
  return /^application\/([\w.-]+\+)?json\b/i.test(contentType.trim());
}

/** Undefined when it is not JSON, which no JSON text parses to. */
function parse(text: string): unknown {
  try {
    return parseMessage(text);
  } catch {
    return undefined;
  }
}

async function readText(response: Response, maxBytes: number, where: string): Promise<string> {
  if (response.body === null) return "";
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      throw new HttpError("too_large", `${where} was answered with more than ${maxBytes} bytes.`, { status: response.status });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** fetch says only "fetch failed"; the reason is in the cause. */
export function rootMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? rootMessage(error.cause) || error.message : error.message;
}
