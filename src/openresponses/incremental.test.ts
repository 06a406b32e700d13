import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { IncrementalSender } from "./incremental.ts";
import type { JsonObject } from "./json.ts";
import { message, resource } from "./test-endpoint.ts";
import { ResponsesSocket } from "./websocket.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A server that remembers the last response of each socket, as the specification says. */
async function start(options: { forget?: boolean } = {}) {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  const messages: JsonObject[] = [];
  const sockets: WebSocket[] = [];
  let serial = 0;
  server.on("connection", (socket) => {
    sockets.push(socket);
    let last = "";
    socket.on("message", (data) => {
      const asked = JSON.parse(String(data)) as JsonObject;
      messages.push(asked);
      const known = asked.previous_response_id === undefined || (asked.previous_response_id === last && !options.forget);
      if (!known) {
        const error = { code: "previous_response_not_found", message: "gone" };
        return socket.send(JSON.stringify({ type: "error", status: 400, error }));
      }
      serial += 1;
      last = `resp_${serial}`;
      const item = message(`answer ${serial}`);
      const events = [
        { type: "response.created", response: resource("in_progress", { id: last }) },
        { type: "response.output_item.added", output_index: 0, item: message("", "in_progress") },
        { type: "response.output_item.done", output_index: 0, item },
        { type: "response.completed", response: resource("completed", { id: last, output: [item] }) },
      ];
      for (const [sequence_number, event] of events.entries()) socket.send(JSON.stringify({ ...event, sequence_number }));
    });
  });
  await new Promise((resolve) => server.once("listening", resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const sender = new IncrementalSender(new ResponsesSocket({ baseUrl }));
  closers.push(() => {
    sender.close();
    for (const client of server.clients) client.terminate();
    server.close();
  });
  return { sender, messages, sockets };
}

const user = (text: string): JsonObject => ({ type: "message", role: "user", content: text });
const body = (...input: readonly JsonObject[]): string => JSON.stringify({ model: "m", store: false, stream: true, input });
const quiet = { onEvent: () => {} };

describe("IncrementalSender", () => {
  it("sends the whole conversation first, then only what is new", async () => {
    const { sender, messages } = await start();
    const first = await sender.stream(body(user("a")), quiet);
    const second = await sender.stream(body(user("a"), ...first.items, user("b")), quiet);
    await sender.stream(body(user("a"), ...first.items, user("b"), ...second.items, user("c")), quiet);
    expect(messages.map((one) => [one.previous_response_id, one.input])).toEqual([
      [undefined, [user("a")]],
      ["resp_1", [user("b")]],
      ["resp_2", [user("c")]],
    ]);
  });

  it("sends all of it when the beginning or anything else has changed", async () => {
    const { sender, messages } = await start();
    const first = await sender.stream(body(user("a")), quiet);
    await sender.stream(body(user("A"), ...first.items, user("b")), quiet);
    await sender.stream(body(user("x")), quiet);
    const again = await sender.stream(body(user("a")), quiet);
    const other = body(user("a"), ...again.items, user("b")).replace('"model":"m"', '"model":"n"');
    await sender.stream(other, quiet);
    expect(messages.every((one) => one.previous_response_id === undefined)).toBe(true);
  });

  it("sends all of it again when the server has forgotten, or the socket was closed", async () => {
    const forgetful = await start({ forget: true });
    const first = await forgetful.sender.stream(body(user("a")), quiet);
    const second = await forgetful.sender.stream(body(user("a"), ...first.items, user("b")), quiet);
    expect(second.kind).toBe("completed");
    expect(forgetful.messages).toHaveLength(3);
    expect(forgetful.messages[2]?.input).toHaveLength(3);
    const cut = await start();
    const one = await cut.sender.stream(body(user("a")), quiet);
    const gone = new Promise((resolve) => cut.sockets[0]?.once("close", resolve));
    cut.sockets[0]?.terminate();
    await gone;
    expect((await cut.sender.stream(body(user("a"), ...one.items, user("b")), quiet)).kind).toBe("completed");
    expect(cut.messages.at(-1)?.input).toHaveLength(3);
  });
});
