/**
 * JSON-RPC 2.0, both directions over one line channel. Guarantees that each request of the peer is answered exactly once, that each
 * request of ours settles, and that every message passes the `onRaw` tap before anything acts on it. It knows no methods.
 */
import { encodeJsonLine, type RawLine, withoutLineEnd } from "./json-line.ts";
import {
  fromErrorMember,
  JSON_RPC_INTERNAL_ERROR,
  JSON_RPC_INVALID_REQUEST,
  JsonRpcClosed,
  JsonRpcError,
  JsonRpcTimeout,
  toErrorMember,
} from "./json-rpc-error.ts";

export const CANCEL_REQUEST_METHOD = "$/cancel_request";

/** Returned by `onRequest`: the answer will come through `respond`, maybe minutes later. */
export const LATER: unique symbol = Symbol("answered later");

/** The first call answers; further ones do nothing and return false. */
export interface Respond {
  result(value: unknown): boolean;
  error(error: unknown): boolean;
}

/** Bytes of ours that the peer may leave unread before its further requests wait. */
const MAX_UNREAD_BYTES = 1024 * 1024;
/** Bytes of waiting requests after which the peer is no longer read. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;

/** The other end as a reader. A peer that asks and does not read would otherwise fill our memory with its answers. */
export interface PeerFlow {
  /** Bytes written that it has not read. */
  unread(): number;
  drained(): Promise<void>;
  pause(): void;
  resume(): void;
}

export interface JsonRpcPeerOptions {
  /** One line, with its line end. Must not throw. */
  write(line: Buffer): boolean;
  flow?: PeerFlow;
  /** False: our messages carry no `"jsonrpc":"2.0"` (codex omits it). Incoming ones are taken with or without. */
  jsonrpcMember?: boolean;
  /** Every message of both directions, incoming before it is handled, outgoing before it is written. `raw` has no line end. */
  onRaw?(direction: "in" | "out", raw: RawLine, value: unknown): void;
  /**
   * The returned value (or what its promise resolves to) is the result, undefined meaning null. A throw is an error answer: as it is
   * for a JsonRpcError, else -32603. `LATER` promises a call of `respond`. Without this handler all is answered -32601.
   * The id is the peer's, verbatim: it may be 0, a string or null, and may equal one of ours.
   */
  onRequest?(method: string, params: unknown, id: unknown, respond: Respond): unknown;
  onNotification?(method: string, params: unknown): void;
  /** The peer takes back a request of its own; it still has to be answered. The notification also reaches `onNotification`. */
  onCancel?(id: unknown): void;
  /** Neither request nor notification nor an answer that is waited for: late and unknown answers, and JSON that is not JSON-RPC. */
  onUnmatched?(value: unknown, raw: RawLine): void;
  /** A notification or cancel handler threw. Default: thrown again outside of the read loop. */
  onHandlerError?(error: unknown): void;
}

export interface RequestOptions {
  /** Aborting rejects with the signal's reason and informs the peer with `$/cancel_request` if `cancelOnAbort` is set. */
  signal?: AbortSignal;
  cancelOnAbort?: boolean;
  timeoutMs?: number;
}

interface PendingRequest {
  method: string;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

type Members = Record<string, unknown>;
type WaitingRequest = { bytes: number; handle(): void };

export class JsonRpcPeer {
  readonly #options: JsonRpcPeerOptions;
  /** Ours only. Ids of the two directions are separate and do collide, so a response is known by having no method. */
  readonly #pending = new Map<unknown, PendingRequest>();
  readonly #openPeerRequests = new Set<Respond>();
  /** Requests of the peer that wait until it has read its answers. */
  #waiting: WaitingRequest[] = [];
  #waitingBytes = 0;
  #paused = false;
  #nextId = 1;
  #closedReason: string | null = null;

  constructor(options: JsonRpcPeerOptions) {
    this.#options = options;
  }

  /** Requests of the peer that still wait for our answer. */
  get openPeerRequests(): number {
    return this.#openPeerRequests.size;
  }

  async request(method: string, params?: unknown, options: RequestOptions = {}): Promise<unknown> {
    if (this.#closedReason !== null) throw new JsonRpcClosed(method, this.#closedReason);
    options.signal?.throwIfAborted();
    const id = this.#nextId++;
    const stopWaiting = new AbortController();
    try {
      return await new Promise((resolve, reject) => {
        this.#pending.set(id, { method, resolve, reject });
        this.#watch(id, method, options, stopWaiting.signal, reject);
        this.#send({ id, method, ...(params === undefined ? {} : { params }) });
      });
    } finally {
      this.#pending.delete(id);
      stopWaiting.abort();
    }
  }

  /** Does nothing once closed. */
  notify(method: string, params?: unknown): void {
    this.#send({ method, ...(params === undefined ? {} : { params }) });
  }

  /** One incoming message, as the channel parsed it. No value makes it throw; `onRaw` and `onUnmatched` must not either. */
  receive(message: { raw: RawLine; value: unknown }): void {
    if (this.#closedReason !== null) return;
    this.#options.onRaw?.("in", message.raw, message.value);
    const batch: unknown[] = Array.isArray(message.value) && message.value.length > 0 ? message.value : [message.value];
    for (const value of batch) this.#dispatch(value, message.raw);
  }

  /** Answers all open requests of the peer with this error, so that none hangs. */
  answerAllOpen(error: unknown): void {
    for (const respond of [...this.#openPeerRequests]) respond.error(error);
  }

  /** The channel is gone: our open requests are rejected with JsonRpcClosed, later answers of handlers go nowhere. */
  close(reason: string): void {
    if (this.#closedReason !== null) return;
    this.#closedReason = reason;
    this.#waiting = [];
    this.#openPeerRequests.clear();
    for (const { method, reject } of this.#pending.values()) reject(new JsonRpcClosed(method, reason));
    this.#pending.clear();
  }

  #watch(id: number, method: string, options: RequestOptions, settled: AbortSignal, reject: (error: unknown) => void): void {
    const { signal, timeoutMs } = options;
    const onAbort = () => {
      if (options.cancelOnAbort === true) this.notify(CANCEL_REQUEST_METHOD, { requestId: id });
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    const timer =
      timeoutMs === undefined ? undefined : setTimeout(() => reject(new JsonRpcTimeout(method, timeoutMs)), timeoutMs);
    settled.addEventListener("abort", () => {
      signal?.removeEventListener("abort", onAbort);
      clearTimeout(timer);
    });
  }

  #dispatch(value: unknown, raw: RawLine): void {
    if (!isMembers(value)) {
      this.#options.onUnmatched?.(value, raw);
      return;
    }
    const { method, id, params } = value;
    // codex 0.166 numbers its requests from 0 and others use strings or null: only a missing id makes a notification.
    if (typeof method === "string") {
      if (id === undefined) this.#notified(method, params);
      else this.#whenItReads(raw.length, () => this.#requested(method, params, id));
    } else if (method !== undefined && id !== undefined) {
      this.#answerOnce(id).error(new JsonRpcError(JSON_RPC_INVALID_REQUEST, "Invalid request: method must be a string"));
    } else {
      this.#answered(value, raw);
    }
  }

  #answered(response: Members, raw: RawLine): void {
    const { id, result, error, method } = response;
    const pending = method === undefined ? this.#pending.get(id) : undefined;
    if (pending === undefined) {
      this.#options.onUnmatched?.(response, raw);
      return;
    }
    this.#pending.delete(id);
    // `"error": null` beside a result is JSON-RPC 1 style and means success.
    if (error === undefined || error === null) pending.resolve(result);
    else pending.reject(fromErrorMember(error));
  }

  #whenItReads(bytes: number, handle: () => void): void {
    const { flow } = this.#options;
    if (flow === undefined || (this.#waiting.length === 0 && flow.unread() <= MAX_UNREAD_BYTES)) return handle();
    this.#waiting.push({ bytes, handle });
    this.#waitingBytes += bytes;
    this.#hold(flow, this.#waitingBytes > MAX_WAITING_BYTES);
    if (this.#waiting.length === 1) void this.#workOff(flow);
  }

  async #workOff(flow: PeerFlow): Promise<void> {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (flow.unread() > MAX_UNREAD_BYTES) await flow.drained();
      if (this.#closedReason !== null) return;
      next.handle();
      this.#waiting.shift();
      this.#waitingBytes -= next.bytes;
      this.#hold(flow, this.#waitingBytes > MAX_WAITING_BYTES);
    }
  }

  #hold(flow: PeerFlow, hold: boolean): void {
    if (hold === this.#paused) return;
    this.#paused = hold;
    if (hold) flow.pause();
    else flow.resume();
  }

  #requested(method: string, params: unknown, id: unknown): void {
    const respond = this.#answerOnce(id);
    if (this.#options.onRequest === undefined) {
      respond.error(JsonRpcError.methodNotFound(method));
      return;
    }
    try {
      const answer = this.#options.onRequest(method, params, id, respond);
      if (answer === LATER) return;
      if (!isThenable(answer)) {
        respond.result(answer);
        return;
      }
      answer.then(
        (result) => result === LATER || respond.result(result),
        (error) => respond.error(error),
      );
    } catch (error) {
      respond.error(error);
    }
  }

  #notified(method: string, params: unknown): void {
    try {
      const cancelled = method === CANCEL_REQUEST_METHOD && isMembers(params) ? params.requestId : undefined;
      if (cancelled !== undefined) this.#options.onCancel?.(cancelled);
      this.#options.onNotification?.(method, params);
    } catch (error) {
      if (this.#options.onHandlerError !== undefined) this.#options.onHandlerError(error);
      else
        queueMicrotask(() => {
          throw error;
        });
    }
  }

  #answerOnce(id: unknown): Respond {
    const answer = (response: Members): boolean => {
      if (!this.#openPeerRequests.delete(respond)) return false;
      try {
        this.#send({ id, ...response });
      } catch (error) {
        // The handler's value cannot be said in JSON; the peer must get an answer all the same.
        const message = `The result could not be serialised: ${error instanceof Error ? error.message : String(error)}`;
        this.#send({ id, error: { code: JSON_RPC_INTERNAL_ERROR, message } });
      }
      return true;
    };
    const respond: Respond = {
      result: (value) => answer({ result: value ?? null }),
      error: (error) => answer({ error: toErrorMember(error) }),
    };
    this.#openPeerRequests.add(respond);
    return respond;
  }

  #send(members: Members): void {
    if (this.#closedReason !== null) return;
    const value = this.#options.jsonrpcMember === false ? members : { jsonrpc: "2.0", ...members };
    const line = encodeJsonLine(value);
    this.#options.onRaw?.("out", withoutLineEnd(line), value);
    this.#options.write(line);
  }
}

function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
