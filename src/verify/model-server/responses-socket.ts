/**
 * The WebSocket transport of the Responses protocol: one response at a time, and a memory of the responses of this socket, so that a request may send only what is new.
 * A response that failed is forgotten.
 */
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { arrayOf, isObject, type JsonObject, objectOf, parseJson, stringOf } from "./json.ts";

const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** What one request is answered with: the payloads of the events, in order, or an error of the request. */
export type SocketAnswer = { events: readonly unknown[]; delayMs?: number } | { status: number; error: JsonObject };

export type AnswerRequest = (body: JsonObject, request: IncomingMessage) => SocketAnswer;

export function serveSockets(server: Server, enabled: boolean, answer: AnswerRequest): { close(): void } {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false });
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    if (!enabled || !/\/responses\/?$/.test(pathname))
      return void socket.end("HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n");
    sockets.handleUpgrade(request, socket, head, (client) => serveSocket(client, (body) => answer(body, request)));
  });
  return {
    close: () => {
      for (const client of sockets.clients) client.terminate();
      sockets.close();
    },
  };
}

function serveSocket(socket: WebSocket, answer: (body: JsonObject) => SocketAnswer): void {
  /** Response id → the conversation up to its end. */
  const memory = new Map<string, readonly unknown[]>();
  const refuse = (status: number, code: string, message: string): void =>
    socket.send(JSON.stringify({ type: "error", status, error: { type: "invalid_request", code, message, param: null } }));
  socket.on("error", () => {});
  socket.on("message", (data: Buffer) => {
    const body = parseJson(data.toString("utf8"));
    if (!isObject(body) || body.type !== "response.create")
      return refuse(400, "invalid_request", "Send a JSON object with the type response.create.");
    const previous = stringOf(body.previous_response_id);
    const before = previous === "" ? [] : memory.get(previous);
    if (before === undefined) return refuse(400, "previous_response_not_found", `This socket knows no response ${previous}.`);
    const given = typeof body.input === "string" ? [{ type: "message", role: "user", content: body.input }] : arrayOf(body.input);
    const input = [...before, ...given];
    const unasked = outputWithoutCall(input);
    if (unasked !== undefined) {
      memory.delete(previous);
      return refuse(400, "invalid_request", `There is no call ${unasked} that this output could belong to.`);
    }
    const answered = answer({ ...body, stream: true, input });
    if ("error" in answered) {
      memory.delete(previous);
      return void socket.send(JSON.stringify({ type: "error", ...answered }));
    }
    for (const event of answered.events) socket.send(JSON.stringify(withPrevious(event, previous)));
    const last = objectOf(objectOf(answered.events.at(-1)).response);
    if (last.status === "completed") memory.set(stringOf(last.id), [...input, ...arrayOf(last.output)]);
    else memory.delete(previous);
  });
}

/** The call id of an output that nothing in the conversation asked for. */
function outputWithoutCall(input: readonly unknown[]): string | undefined {
  const calls = new Set<string>();
  for (const item of input.map(objectOf)) {
    const id = stringOf(item.call_id);
    if (item.type === "function_call") calls.add(id);
    else if (item.type === "function_call_output" && !calls.has(id)) return id;
  }
  return undefined;
}

function withPrevious(event: unknown, previous: string): unknown {
  if (previous === "" || !isObject(event) || !isObject(event.response)) return event;
  return { ...event, response: { ...event.response, previous_response_id: previous } };
}
