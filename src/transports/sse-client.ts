/**
 * A server-sent event stream that stays open: it reconnects with backoff and says each time that it did, because what was said in
 * between may be lost (most agent servers do not replay) and only the caller can read it again.
 */
import { setTimeout as delay } from "node:timers/promises";
import { rootMessage } from "./http-json.ts";
import { SseDecoder, type SseEvent } from "./sse-decoder.ts";

/** A server that asks for `retry: 0` must not get a busy loop. */
const MIN_RETRY_MS = 50;
const DEFAULT_MAX_EVENT_BYTES = 64 * 1024 * 1024;

/** Why a connection is over. */
export type SseEndReason =
  | { kind: "aborted" }
  | { kind: "stream_ended" }
  | { kind: "network"; message: string }
  | { kind: "idle_timeout"; idleTimeoutMs: number }
  | { kind: "http_status"; status: number; body: string }
  | { kind: "wrong_content_type"; contentType: string };

export interface SseOptions {
  url: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** Connected. `reconnected`: events may have been missed since the last one. */
  onOpen?(open: { reconnected: boolean; lastEventId: string | null }): void;
  onEvent(event: SseEvent): void;
  /** An event over the limit was left out. */
  onOversize?(bytes: number): void;
  /** The connection is lost, the next try comes after this delay. */
  onDisconnect?(reason: SseEndReason, retryInMs: number): void;
  /** Once: it is over for good, nothing is called after it. */
  onEnd?(reason: SseEndReason): void;
  /** Delay before the first retry; doubled each time up to the maximum, with jitter. A `retry:` of the server replaces it. */
  retryMs?: number;
  maxRetryMs?: number;
  /** Tries in a row without an event before it gives up. Default: no limit. */
  maxRetries?: number;
  maxEventBytes?: number;
  /** Reconnect when not a byte came for this long: a dead TCP peer says nothing. Set it above the server's heartbeat. */
  idleTimeoutMs?: number;
}

export interface SseConnection {
  close(): void;
  /** True: stop reading, so the server waits when the connection's buffers are full; its silence is not counted. False: go on. */
  setPaused(paused: boolean): void;
  /** Settles after `onEnd`; never rejects. */
  readonly ended: Promise<SseEndReason>;
}

export function openSse(options: SseOptions): SseConnection {
  const closing = new AbortController();
  const signal = options.signal === undefined ? closing.signal : AbortSignal.any([options.signal, closing.signal]);
  const loop = new SseLoop(options, signal);
  const ended = loop.run().then((reason) => {
    options.onEnd?.(reason);
    return reason;
  });
  return { close: () => closing.abort(), setPaused: (paused) => loop.setPaused(paused), ended };
}

class SseLoop {
  readonly #options: SseOptions;
  readonly #signal: AbortSignal;
  readonly #maxRetryMs: number;
  #retryMs: number;
  #failures = 0;
  #opened = false;
  #lastEventId: string | null = null;
  /** Settles when reading may go on; null while it may. */
  #pause: { promise: Promise<void>; end(): void } | null = null;

  constructor(options: SseOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    this.#retryMs = options.retryMs ?? 250;
    this.#maxRetryMs = options.maxRetryMs ?? 10_000;
  }

  setPaused(paused: boolean): void {
    if (paused) this.#pause ??= pause(this.#signal);
    else this.#pause?.end();
    if (!paused) this.#pause = null;
  }

  async run(): Promise<SseEndReason> {
    for (;;) {
      const reason = await this.#connectOnce();
      if (isFinal(reason) || this.#failures >= (this.#options.maxRetries ?? Number.POSITIVE_INFINITY)) return reason;
      const wait = this.#backoff();
      this.#failures += 1;
      this.#options.onDisconnect?.(reason, wait);
      await delay(wait, undefined, { signal: this.#signal }).catch(() => {});
      if (this.#signal.aborted) return { kind: "aborted" };
    }
  }

  async #connectOnce(): Promise<SseEndReason> {
    if (this.#signal.aborted) return { kind: "aborted" };
    const idle = new IdleTimer(this.#options.idleTimeoutMs);
    try {
      const response = await fetch(this.#options.url, {
        headers: {
          accept: "text/event-stream",
          "cache-control": "no-cache",
          ...this.#options.headers,
          ...(this.#lastEventId === null ? {} : { "last-event-id": this.#lastEventId }),
        },
        signal: AbortSignal.any([this.#signal, idle.signal]),
      });
      const refusal = await refused(response);
      if (refusal !== null) return refusal;
      this.#options.onOpen?.({ reconnected: this.#opened, lastEventId: this.#lastEventId });
      this.#opened = true;
      await this.#read(response, idle);
      return this.#signal.aborted ? { kind: "aborted" } : { kind: "stream_ended" };
    } catch (error) {
      if (this.#signal.aborted) return { kind: "aborted" };
      if (idle.expired) return { kind: "idle_timeout", idleTimeoutMs: this.#options.idleTimeoutMs ?? 0 };
      return { kind: "network", message: rootMessage(error) };
    } finally {
      idle.stop();
    }
  }

  async #read(response: Response, idle: IdleTimer): Promise<void> {
    if (response.body === null) return;
    const decoder = new SseDecoder({
      maxEventBytes: this.#options.maxEventBytes ?? DEFAULT_MAX_EVENT_BYTES,
      onEvent: (event) => this.#event(event),
      onOversize: (bytes) => this.#options.onOversize?.(bytes),
      onRetry: (milliseconds) => {
        this.#retryMs = Math.max(milliseconds, MIN_RETRY_MS);
      },
    });
    const reader = response.body.getReader();
    // Node 20: a read that is pending when the fetch is aborted right behind the body's last chunk never settles.
    const cancel = (): void => void reader.cancel().catch(() => {});
    this.#signal.addEventListener("abort", cancel);
    try {
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        idle.touch();
        decoder.push(Buffer.from(read.value.buffer, read.value.byteOffset, read.value.byteLength));
        if (this.#pause === null) continue;
        idle.stop();
        while (this.#pause !== null && !this.#signal.aborted) await this.#pause.promise;
        idle.touch();
      }
    } finally {
      this.#signal.removeEventListener("abort", cancel);
    }
  }

  #event(event: SseEvent): void {
    if (this.#signal.aborted) return;
    this.#failures = 0;
    if (event.id !== null) this.#lastEventId = event.id === "" ? null : event.id;
    try {
      this.#options.onEvent(event);
    } catch (error) {
      // A bug of the handler must not look like a network failure.
      queueMicrotask(() => {
        throw error;
      });
    }
  }

  /** Between half and all of the doubled delay, so that many clients of one dead server do not return in step. */
  #backoff(): number {
    const full = Math.min(this.#retryMs * 2 ** Math.min(this.#failures, 30), this.#maxRetryMs);
    return Math.round(full * (0.5 + Math.random() / 2));
  }
}

/** 204 is how a server says "do not come back"; other 4xx will not get better by asking again. */
function isFinal(reason: SseEndReason): boolean {
  switch (reason.kind) {
    case "aborted":
    case "wrong_content_type":
      return true;
    case "http_status":
      return reason.status === 204 || (reason.status >= 400 && reason.status < 500 && ![408, 425, 429].includes(reason.status));
    case "stream_ended":
    case "network":
    case "idle_timeout":
      return false;
    default:
      return unreachable(reason);
  }
}

function unreachable(value: never): never {
  throw new Error(`Unhandled case: ${JSON.stringify(value)}`);
}

async function refused(response: Response): Promise<SseEndReason | null> {
  const contentType = response.headers.get("content-type") ?? "";
  if (response.status !== 200) {
    return { kind: "http_status", status: response.status, body: (await response.text()).slice(0, 2_000) };
  }
  if (/^text\/event-stream\b/i.test(contentType)) return null;
  await response.body?.cancel();
  return { kind: "wrong_content_type", contentType };
}

/** Also ended by the signal: a paused stream can be closed. */
function pause(signal: AbortSignal): { promise: Promise<void>; end(): void } {
  let end = (): void => {};
  const promise = new Promise<void>((resolve) => {
    end = () => {
      signal.removeEventListener("abort", end);
      resolve();
    };
    signal.addEventListener("abort", end);
  });
  return { promise, end: () => end() };
}

class IdleTimer {
  readonly #ms: number | undefined;
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number | undefined) {
    this.#ms = ms;
    this.touch();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get expired(): boolean {
    return this.#controller.signal.aborted;
  }

  touch(): void {
    if (this.#ms === undefined) return;
    if (this.#timer !== undefined) this.#timer.refresh();
    else this.#timer = setTimeout(() => this.#controller.abort(), this.#ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
