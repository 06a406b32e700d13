/**
 * One server-sent event stream to one client. Writes what it is given and says when the client cannot take more; it never buffers for a client, and
 * never asks what an event means.
 */
import type { Writable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { mayOnlyLook, type OpenStream, type OpenStreams } from "../open-streams.ts";

const RETRY_MS = 2_000;
const BEAT = Buffer.from(": still here\n\n");

export type SseOptions = {
  /** Sent before the first event, so that a client that is cut off early resumes at the right place. */
  id?: string;
  headers?: Record<string, string>;
};

export class SseStream implements OpenStream {
  readonly tokenId: string | null;
  readonly looks: boolean;
  readonly #response: FastifyReply["raw"];
  /** Behind the headers the body is just bytes: written to the socket itself, without the response's bookkeeping around every write. */
  readonly #out: Writable;
  readonly #streams: OpenStreams;
  #closed = false;
  #onDrain: (() => void) | undefined;
  #onClose: (() => void) | undefined;

  /** Takes the reply out of the framework's hands. From here on errors cannot become problem replies. */
  constructor(request: FastifyRequest, reply: FastifyReply, streams: OpenStreams, options: SseOptions = {}) {
    this.tokenId = request.caller?.id ?? null;
    this.looks = mayOnlyLook(request.caller);
    this.#response = reply.raw;
    this.#streams = streams;
    const headers = reply.getHeaders();
    reply.hijack();
    // The end of the body is the end of the connection: no chunk framing around every write, the buffer goes to the socket as it is.
    this.#response.useChunkedEncodingByDefault = false;
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) this.#response.setHeader(name, value);
    this.#response.writeHead(200, {
      ...options.headers,
      "content-type": "text/event-stream; charset=utf-8",
      "x-accel-buffering": "no",
      connection: "close",
    });
    this.#response.on("close", () => this.#gone());
    this.#response.on("error", () => this.#gone());
    this.#response.socket?.setNoDelay(true).setKeepAlive(true, 30_000);
    this.#response.flushHeaders();
    // Without a socket the response still waits for an earlier one of the same connection.
    this.#out = this.#response.socket ?? this.#response;
    this.#out.on("drain", () => this.#onDrain?.());
    this.#out.write(`retry: ${RETRY_MS}\n${options.id === undefined ? "" : `id: ${options.id}\n`}\n`);
    streams.add(this);
    request.settle?.(200);
    if (request.raw.socket.destroyed) this.#gone();
  }

  get closed(): boolean {
    return this.#closed;
  }

  get buffered(): number {
    return this.#out.writableLength;
  }

  /** False: taken, but the client is slow; wait for `onDrain`. A client that is a little behind stays live: its share of the buffers is bounded. */
  write(chunk: Buffer | string): boolean {
    return this.#closed || this.#out.write(chunk) || this.#out.writableLength < this.#streams.share;
  }

  onDrain(call: () => void): void {
    this.#onDrain = call;
  }

  /** Called once, whoever ended it. */
  onClose(call: () => void): void {
    if (this.#closed) call();
    else this.#onClose = call;
  }

  /** A stalled client gets no heartbeats: they would pile up. */
  beat(): void {
    if (!this.#out.writableNeedDrain) this.#out.write(BEAT);
  }

  /** The client gets all that was written. */
  end(): void {
    if (!this.#closed) this.#response.end();
    this.#gone();
  }

  close(): void {
    // A client that does not read would hold the daemon's end up.
    if (this.#out.writableNeedDrain) this.#response.destroy();
    else this.#response.end();
    this.#gone();
  }

  #gone(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#streams.delete(this);
    this.#onClose?.();
  }
}

/** A message of ours, in streams that do not carry universal events. */
export const namedEvent = (name: string, data: unknown): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
