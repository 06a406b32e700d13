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

  it("an answer that breaks off after it has begun is not asked for again under its own events", async () => {
    const { sender, messages, sockets } = await start();
    const first = await sender.stream(body(user("a")), quiet);
    const [socket] = sockets;
    socket?.removeAllListeners("message");
    socket?.on("message", () => {
      const created = { type: "response.created", sequence_number: 0, response: resource("in_progress", { id: "resp_x" }) };
      socket.send(JSON.stringify(created), () => socket.close());
    });
    const seen: unknown[] = [];
    const second = sender.stream(body(user("a"), ...first.items, user("b")), {
      onEvent: ({ data }) => void seen.push(data?.type),
    });
    await expect(second).rejects.toMatchObject({ code: "cut", retryable: true });
    expect(seen).toEqual(["response.created"]);
    expect(messages).toHaveLength(1);
  });
});

/** A socket whose server answers a request with these events, and then closes it. */
async function closing(events: readonly JsonObject[], idleMs = 120_000) {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  const closed = new Promise<void>((resolve) =>
    server.on("connection", (socket) => {
      socket.once("close", () => resolve());
      socket.on("message", () => {
        for (const [sequence_number, event] of events.entries()) socket.send(JSON.stringify({ sequence_number, ...event }));
        socket.close();
      });
    }),
  );
  await new Promise((resolve) => server.once("listening", resolve));
  const socket = new ResponsesSocket({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, idleMs });
  closers.push(() => {
    socket.close();
    for (const client of server.clients) client.terminate();
    server.close();
  });
  return { socket, closed };
}

describe("ResponsesSocket", () => {
  const whole = [
    { type: "response.created", response: resource("in_progress") },
    { type: "response.output_item.added", output_index: 0, item: message("", "in_progress") },
    { type: "response.output_item.done", output_index: 0, item: message("hi") },
    { type: "response.completed", response: resource("completed", { output: [message("hi")] }) },
  ];

  it("a response that came whole counts, also when the socket is closed while it is read", async () => {
    const { socket, closed } = await closing(whole);
    const read = socket.create({ model: "m", input: [] }, { onEvent: () => closed });
    await expect(read).resolves.toMatchObject({ kind: "completed", items: [{ type: "message" }] });
  });

  it("a slow reader is not a silent server", async () => {
    const { socket } = await closing(whole, 300);
    const slow = () => new Promise<void>((resolve) => setTimeout(resolve, 450));
    await expect(socket.create({ model: "m", input: [] }, { onEvent: slow })).resolves.toMatchObject({ kind: "completed" });
  });

  it("a socket that is closed after an error gives its reason", async () => {
    const error = { type: "error", error: { type: "invalid_request_error", code: "invalid_prompt", message: "no such thing" } };
    const { socket } = await closing([whole[0] ?? {}, error]);
    const read = socket.create({ model: "m", input: [] }, quiet);
    await expect(read).rejects.toMatchObject({ code: "invalid_request", providerCode: "invalid_prompt" });
  });
});
