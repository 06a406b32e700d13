/**
 * One HTTP request on plain node:http(s): no buffering, no following of redirects (a key must not travel to another host), and a timeout for each phase.
 * It knows nothing of the protocol.
 */
import { type ClientRequest, request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { ResponsesError } from "./errors.ts";

export interface HttpTimeouts {
  /** Until the connection stands. */
  readonly connectMs: number;
  /** From then until the headers. Models think before they speak. */
  readonly headersMs: number;
  /** Between two chunks. */
  readonly idleMs: number;
}

export const DEFAULT_TIMEOUTS: HttpTimeouts = { connectMs: 10_000, headersMs: 300_000, idleMs: 120_000 };

export interface HttpCall {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly timeouts: HttpTimeouts;
  readonly signal?: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  /** Chunks as they come. Throws `stalled`, `cut` or `aborted`. */
  readonly body: AsyncIterable<Buffer>;
  /** Ends the connection. */
  close(): void;
  /** Nothing more of the body is wanted: the connection serves the next request, unless the server does not end its answer soon. */
  release(): void;
}

/** A server that has said all may keep its answer open so long. */
const RELEASE_MS = 1000;

/** Resolves with the headers. Throws `unreachable`, `stalled` or `aborted`. */
export async function httpCall(call: HttpCall): Promise<HttpAnswer> {
  try {
    return await sendOnce(call);
  } catch (error) {
    // The server closed a connection of an earlier request when this one was on its way: it has not seen it.
    if (error instanceof StaleConnection) return sendOnce(call);
    throw error;
  }
}

class StaleConnection extends ResponsesError {}

function sendOnce(call: HttpCall): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const url = parseUrl(call.url);
    if (call.signal?.aborted) throw aborted();
    const options: RequestOptions = {
      method: call.method,
      headers: {
        "accept-encoding": "identity",
        ...(call.body === undefined ? {} : { "content-length": Buffer.byteLength(call.body) }),
        ...call.headers,
      },
    };
    const request = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, options);
    let answered = false;
    // Once there is an answer, its reader says why it ended. The error must not go to the connection: when the answer is complete nobody listens there, and an
    // error that nobody listens for ends the process.
    const destroy = (error: ResponsesError): unknown => request.destroy(answered ? undefined : error);
    const timer = new PhaseTimer(destroy);
    const stop = (): void => {
      destroy(aborted());
    };
    const finish = (): void => {
      timer.stop();
      call.signal?.removeEventListener("abort", stop);
    };
    call.signal?.addEventListener("abort", stop, { once: true });
    timer.start(call.timeouts.connectMs, () => unreachable(url, `no connection within ${call.timeouts.connectMs} ms`));
    const connected = (): void =>
      timer.start(call.timeouts.headersMs, () => stalled(`${url.origin} sent no answer within ${call.timeouts.headersMs} ms.`));
    request.once("socket", (socket) => {
      if (socket.connecting) socket.once("connect", connected);
      else connected();
    });
    request.on("error", (error) => {
      finish();
      if (error instanceof ResponsesError) reject(error);
      else if (request.reusedSocket && isHangUp(error)) reject(new StaleConnection("unreachable", error.message));
      else reject(unreachable(url, error.message, error));
    });
    request.once("response", (response) => {
      answered = true;
      response.once("close", finish);
      const plain = decoded(response);
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: chunks(response, plain, timer, call, url),
        close: () => request.destroy(),
        release: () => release(response, plain, request),
      });
    });
    request.end(call.body);
  });
}

const isHangUp = (error: NodeJS.ErrnoException): boolean => error.code === "ECONNRESET" || error.code === "EPIPE";

function release(response: IncomingMessage, plain: Readable, request: ClientRequest): void {
  if (response.destroyed || plain.readableEnded) return;
  const late = setTimeout(() => request.destroy(), RELEASE_MS);
  late.unref();
  response.once("close", () => clearTimeout(late));
  plain.resume();
}

async function* chunks(
  response: IncomingMessage,
  plain: Readable,
  timer: PhaseTimer,
  call: HttpCall,
  url: URL,
): AsyncIterable<Buffer> {
  const idle = (): void =>
    timer.start(call.timeouts.idleMs, () => stalled(`${url.origin} sent nothing for ${call.timeouts.idleMs} ms.`));
  let cause: unknown = null;
  response.once("error", (error) => {
    cause = error;
  });
  idle();
  try {
    for await (const chunk of plain.iterator({ destroyOnReturn: false })) {
      // The time our reader takes is not the server's.
      timer.stop();
      if (Buffer.isBuffer(chunk)) yield chunk;
      idle();
    }
  } catch (error) {
    throw streamError(cause ?? error, timer.expired, call.signal, url);
  } finally {
    timer.stop();
  }
  if (timer.expired !== null) throw timer.expired;
  if (call.signal?.aborted) throw aborted();
  if (!response.complete) throw cut(url);
}

/** We ask for plain bytes; some proxies compress all the same. */
function decoded(response: IncomingMessage): Readable {
  const encoding = String(response.headers["content-encoding"] ?? "identity").toLowerCase();
  const decoder = { gzip: createGunzip, br: createBrotliDecompress, deflate: createInflate }[encoding];
  if (decoder === undefined) return response;
  const plain = decoder();
  response.once("error", (error) => plain.destroy(error));
  response.once("aborted", () => plain.destroy(new Error("aborted")));
  return response.pipe(plain);
}

function streamError(error: unknown, expired: ResponsesError | null, signal: AbortSignal | undefined, url: URL): ResponsesError {
  if (error instanceof ResponsesError) return error;
  if (expired !== null) return expired;
  if (signal?.aborted) return aborted();
  return cut(url, error);
}

class PhaseTimer {
  readonly #expire: (error: ResponsesError) => void;
  #timer: NodeJS.Timeout | undefined;
  expired: ResponsesError | null = null;

  constructor(expire: (error: ResponsesError) => void) {
    this.#expire = expire;
  }

  start(ms: number, makeError: () => ResponsesError): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.expired = makeError();
      this.#expire(this.expired);
    }, ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    throw new ResponsesError("invalid_request", `${JSON.stringify(text)} is not an http or https URL: check the base URL.`);
  }
  return url;
}

const aborted = (): ResponsesError => new ResponsesError("aborted", "The request was aborted.");
const stalled = (message: string): ResponsesError => new ResponsesError("stalled", message);
const cut = (url: URL, cause?: unknown): ResponsesError =>
  new ResponsesError("cut", `${url.origin} broke off its answer.`, cause === undefined ? {} : { cause });
const unreachable = (url: URL, why: string, cause?: unknown): ResponsesError =>
  new ResponsesError("unreachable", `${url.origin} cannot be reached (${why}): is the endpoint running?`, { cause });
