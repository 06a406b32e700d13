// Puts one answer on the socket: whole or streamed, at the pace the step asks for, and broken the way its fault asks for.

import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Fault, ModelStep } from "../../agents/scenario.ts";
import type { ModelRequest } from "./model-request.ts";
import type { Frame, Protocol } from "./protocols/protocol.ts";
import type { Reply } from "./reply.ts";

export interface Delivery {
  readonly response: ServerResponse;
  readonly protocol: Protocol;
  readonly request: ModelRequest;
  readonly reply: Reply;
  readonly step: ModelStep;
  readonly fault: Fault | undefined;
  /** The stream ends in `[DONE]`. */
  readonly done?: boolean;
}

/** Fires when the client closes the connection or the answer is out. */
type Gone = AbortSignal;

/** Resolves when the answer is out, or the client has closed the connection. */
export async function deliver(delivery: Delivery): Promise<void> {
  const { response, step, fault } = delivery;
  const gone = goneSignal(response);
  if (step.delay_ms) await pause(step.delay_ms, gone);
  if (gone.aborted) return;
  for (const [name, value] of Object.entries(step.headers ?? {})) response.setHeader(name, value);
  if (fault && (await refused(delivery, fault, gone))) return;
  if (!delivery.request.stream) return whole(delivery, gone);
  if (delivery.request.as_array)
    return sendJson(
      response,
      200,
      frames(delivery).map((frame) => frame.data),
    );
  return stream(delivery, gone);
}

/** Faults that come instead of an answer. */
async function refused(delivery: Delivery, fault: Fault, gone: Gone): Promise<boolean> {
  const { response, protocol, reply } = delivery;
  switch (fault.kind) {
    case "http":
      for (const [name, value] of Object.entries(fault.headers ?? {})) response.setHeader(name, value);
      sendJson(response, fault.status, fault.body ?? protocol.error(fault.status, fault.message));
      return true;
    case "context_overflow": {
      const overflow = protocol.overflow(reply);
      if (Array.isArray(overflow)) return false;
      sendJson(response, overflow.status, overflow.body);
      return true;
    }
    case "refuse_connection":
      response.socket?.resetAndDestroy();
      return true;
    case "hang":
      if (fault.after_chunks !== undefined) return false;
      await ended(gone);
      return true;
    case "failed":
    case "cut":
    case "eof":
    case "sse_error":
    case "garbage":
      return false;
    default:
      return fault satisfies never;
  }
}

function frames({ protocol, reply, request, fault }: Delivery): Frame[] {
  if (fault?.kind === "failed") return protocol.failed(reply, fault.code, fault.message ?? "Scripted failure.");
  if (fault?.kind === "context_overflow") {
    const overflow = protocol.overflow(reply);
    if (Array.isArray(overflow)) return overflow;
  }
  return protocol.frames(reply, request);
}

async function stream(delivery: Delivery, gone: Gone): Promise<void> {
  const { response, step, fault } = delivery;
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    connection: "keep-alive",
  });
  response.flushHeaders();
  const limit = breakAfter(fault);
  let sent = 0;
  for (const frame of frames(delivery)) {
    if (gone.aborted) return;
    if (limit !== undefined && sent >= limit && (frame.content || limit === 0)) break;
    if (frame.content && step.chunk_delay_ms) await pause(step.chunk_delay_ms, gone);
    await write(response, encode(frame), gone);
    if (frame.content) sent += 1;
  }
  if (gone.aborted) return;
  if (fault && limit !== undefined) return breakStream(delivery, fault, gone);
  response.end(delivery.done ? "data: [DONE]\n\n" : undefined);
}

/** After how many pieces the stream breaks; undefined when it does not. */
function breakAfter(fault: Fault | undefined): number | undefined {
  switch (fault?.kind) {
    case "cut":
    case "eof":
      return fault.after_chunks;
    case "hang":
      return fault.after_chunks ?? 0;
    case "sse_error":
    case "garbage":
      return fault.after_chunks ?? 1;
    default:
      return undefined;
  }
}

async function breakStream({ response, protocol }: Delivery, fault: Fault, gone: Gone): Promise<void> {
  switch (fault.kind) {
    case "cut":
      await flushed(response, gone);
      response.socket?.destroy();
      return;
    case "hang":
      return ended(gone);
    case "sse_error":
      for (const frame of protocol.streamError(fault.error_type, fault.message ?? "Scripted error in the stream.")) {
        response.write(encode(frame));
      }
      break;
    case "garbage":
      response.write(fault.text ?? `data: {"this is": not JSON,\n\n`);
      break;
    default:
      break;
  }
  response.end();
}

/** An answer that does not stream knows fewer ways to break. */
async function whole({ response, protocol, reply, fault }: Delivery, gone: Gone): Promise<void> {
  const body = protocol.body(reply);
  switch (fault?.kind) {
    case "hang":
      return ended(gone);
    case "sse_error":
      return sendJson(response, 500, protocol.error(500, fault.message, fault.error_type));
    case "failed":
      return sendJson(response, 500, protocol.error(500, fault.message, fault.code));
    case "context_overflow":
      return sendJson(
        response,
        400,
        protocol.error(400, "Your input exceeds the context window of this model.", "context_length_exceeded"),
      );
    case "cut":
    case "eof": {
      const text = JSON.stringify(body);
      response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
      response.write(text.slice(0, Math.floor(text.length / 2)));
      await flushed(response, gone);
      response.socket?.destroy();
      return;
    }
    case "garbage":
      response.writeHead(200, { "content-type": "application/json" });
      response.end(fault.text ?? `{"this is": not JSON`);
      return;
    default:
      return sendJson(response, 200, body);
  }
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  response.end(text);
}

function encode(frame: Frame): string {
  const data = typeof frame.data === "string" ? frame.data : JSON.stringify(frame.data);
  return `${frame.event === undefined ? "" : `event: ${frame.event}\n`}data: ${data}\n\n`;
}

async function write(response: ServerResponse, text: string, gone: Gone): Promise<void> {
  if (response.write(text)) return;
  await once(response, "drain", { signal: gone }).catch(() => undefined);
}

/** What was written has left this process, so that a destroyed socket does not swallow it. */
function flushed(response: ServerResponse, gone: Gone): Promise<void> {
  return new Promise((resolve) => {
    if (gone.aborted || !response.socket) return resolve();
    gone.addEventListener("abort", () => resolve(), { once: true });
    response.socket.write("", () => resolve());
  });
}

function goneSignal(response: ServerResponse): Gone {
  const controller = new AbortController();
  response.once("close", () => controller.abort());
  if (response.destroyed) controller.abort();
  return controller.signal;
}

function pause(ms: number, gone: Gone): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      gone.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    gone.addEventListener("abort", done, { once: true });
  });
}

function ended(gone: Gone): Promise<void> {
  return new Promise((resolve) => {
    if (gone.aborted) return resolve();
    gone.addEventListener("abort", () => resolve(), { once: true });
  });
}
