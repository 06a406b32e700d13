/**
 * The WebSocket transport: one socket, one response at a time. It pays where the server keeps the connection's last response in memory, so that a request sends
 * only what is new. The socket is opened at the first request; when it is gone, or the server has forgotten the response, the whole conversation is sent again.
 */
import { WebSocket } from "ws";
import { outcome, type StreamedResponse, type StreamHandlers } from "./client.ts";
import { errorFromEvent, errorFromHttp, ResponsesError } from "./errors.ts";
import { objectOf, textOf } from "./json.ts";
import { Annotator } from "./provider-event.ts";
import { CONNECTION_LIMIT, PREVIOUS_NOT_FOUND } from "./schema/websocket.ts";

const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

export interface SocketOptions {
  /** The HTTP base URL; `http` becomes `ws`. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly connectMs?: number;
  /** No message for so long: the request fails as stalled. */
  readonly idleMs?: number;
}

export class ResponsesSocket {
  readonly #options: SocketOptions;
  #socket: WebSocket | null = null;
  #busy = false;

  constructor(options: SocketOptions) {
    this.#options = options;
  }

  /** Whether the server may still remember the last response. */
  get connected(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  /** Sends one request (a body without `stream`) and reads its response. Throws `ResponsesError`; `socketIsStale` says when to send the whole conversation. */
  async create(body: Readonly<Record<string, unknown>>, handlers: StreamHandlers): Promise<StreamedResponse> {
    if (this.#busy) throw new ResponsesError("invalid_request", "A response is in flight on this socket: wait for it.");
    this.#busy = true;
    try {
      if (handlers.signal?.aborted) throw aborted();
      const socket = this.connected && this.#socket ? this.#socket : await this.#open(handlers.signal);
      const { stream: _stream, stream_options: _options, background: _background, ...rest } = body;
      return await this.#exchange(socket, JSON.stringify({ type: "response.create", ...rest }), handlers);
    } finally {
      this.#busy = false;
    }
  }

  close(): void {
    this.#socket?.terminate();
    this.#socket = null;
  }

  #open(signal: AbortSignal | undefined): Promise<WebSocket> {
    const url = `${this.#options.baseUrl.replace(/\/+$/, "").replace(/^http/, "ws")}/responses`;
    const { apiKey, connectMs = 10_000 } = this.#options;
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(url, {
        handshakeTimeout: connectMs,
        maxPayload: MAX_MESSAGE_BYTES,
        perMessageDeflate: false,
        ...(apiKey === undefined ? {} : { headers: { authorization: `Bearer ${apiKey}` } }),
      });
      const onAbort = (): void => {
        reject(aborted());
        socket.terminate();
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      socket.once("open", () => {
        signal?.removeEventListener("abort", onAbort);
        this.#socket = socket;
        resolve(socket);
      });
      socket.once("unexpected-response", (_request, response) => {
        reject(errorFromHttp({ status: response.statusCode ?? 0, headers: response.headers, body: "", url }));
        socket.terminate();
      });
      socket.on("error", (error) => {
        reject(new ResponsesError("unreachable", `${url} cannot be reached (${error.message}): is the endpoint running?`));
      });
    });
  }

  #exchange(socket: WebSocket, message: string, handlers: StreamHandlers): Promise<StreamedResponse> {
    const { idleMs = 120_000 } = this.#options;
    return new Promise((resolve, reject) => {
      const annotator = new Annotator({ named: false });
      let timer: NodeJS.Timeout | undefined;
      let settled = false;
      let queue = Promise.resolve();
      let unread = 0;
      const settle = (finish: () => void, keep: boolean): void => {
        if (settled) return;
        settled = true;
        clearTimeout(timer);
        socket.off("message", onMessage);
        socket.off("close", onClose);
        handlers.signal?.removeEventListener("abort", onAbort);
        // A response that did not come to its end leaves the socket in the middle of it.
        if (!keep) this.close();
        finish();
      };
      const fail = (error: unknown): void => settle(() => reject(error), false);
      const onAbort = (): void => fail(aborted());
      // What came before is read first: it may be the end of the response, or say why there is none.
      const onClose = (): void => {
        clearTimeout(timer);
        queue = queue.then(() => {
          if (!settled) outcome(annotator.stream, "The socket");
        });
        queue.catch(fail);
      };
      const wait = (): void => {
        clearTimeout(timer);
        // The time our reader takes is not the server's.
        if (unread === 0 && !settled)
          timer = setTimeout(() => fail(new ResponsesError("stalled", `The socket sent nothing for ${idleMs} ms.`)), idleMs);
      };
      const onMessage = (data: Buffer): void => {
        const bytes = Buffer.from(data);
        handlers.onBytes?.(bytes);
        const event = annotator.annotate({
          bytes,
          event: null,
          data: bytes.toString("utf8"),
          id: null,
          comments: [],
          oversize: null,
        });
        if (event === null) return wait();
        unread += 1;
        clearTimeout(timer);
        // A handler's promise must have settled before the next event, and before the end.
        queue = queue.then(async () => {
          if (settled) return;
          await handlers.onEvent(event);
          handlers.onReadEnd?.();
          unread -= 1;
          if (socket.readyState === WebSocket.OPEN) wait();
          if (event.data?.type === "error" && typeof event.data.status === "number") throw requestError(event.data);
          const { kind } = annotator.stream.end;
          if (event.data?.type !== `response.${kind}`) return;
          const ended = outcome(annotator.stream, "The socket");
          settle(() => resolve({ ...ended, rest: Buffer.alloc(0) }), true);
        });
        queue.catch(fail);
      };
      socket.on("message", onMessage);
      socket.once("close", onClose);
      handlers.signal?.addEventListener("abort", onAbort, { once: true });
      wait();
      socket.send(message);
    });
  }
}

/** The server has forgotten the previous response or the socket is too old: open another one and send the whole conversation. */
export const socketIsStale = (error: unknown): boolean =>
  error instanceof ResponsesError &&
  (error.providerCode === PREVIOUS_NOT_FOUND || error.providerCode === CONNECTION_LIMIT || error.code === "cut");

function requestError(event: Readonly<Record<string, unknown>>): ResponsesError {
  const error = objectOf(event.error);
  const known = errorFromEvent(error);
  const code = textOf(error.code);
  if (code !== PREVIOUS_NOT_FOUND && code !== CONNECTION_LIMIT) return known;
  return new ResponsesError("invalid_request", known.message, { providerCode: code, retryable: false });
}

const aborted = (): ResponsesError => new ResponsesError("aborted", "The request was aborted.");
