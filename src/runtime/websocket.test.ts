import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocketServer } from "ws";
import { IncrementalSender } from "../openresponses/incremental.ts";
import type { JsonObject } from "../openresponses/json.ts";
import { answerStream, type ShortItem } from "../openresponses/test-endpoint.ts";
import { ResponsesSocket } from "../openresponses/websocket.ts";
import { replay } from "./replay.ts";
import { openLoop } from "./test-loop.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

describe("the loop over a WebSocket", () => {
  it("sends only what is new, survives a closed socket, and can be replayed", async () => {
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    const asked: JsonObject[] = [];
    server.on("connection", (socket) =>
      socket.on("message", (data) => {
        asked.push(JSON.parse(String(data)) as JsonObject);
        // Once, the socket dies in the middle of an answer.
        if (asked.length === 2) return socket.terminate();
        const items: ShortItem[] = asked.length < 4 ? [{ call: "echo", args: { text: `${asked.length}` } }] : [{ text: "done" }];
        for (const block of answerStream(items).split("\n\n")) {
          const event = /^data: (\{.*)$/m.exec(block)?.[1];
          if (event !== undefined) socket.send(event);
        }
      }),
    );
    await new Promise((resolve) => server.once("listening", resolve));
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const sender = new IncrementalSender(new ResponsesSocket({ baseUrl }));
    closers.push(() => {
      sender.close();
      for (const client of server.clients) client.terminate();
      server.close();
    });
    const transport = {
      stream: (body: string, _request: object, handlers: Parameters<typeof sender.stream>[1]) => sender.stream(body, handlers),
    };
    const test = await openLoop({ baseUrl, override: { transport } });
    expect(await test.loop.prompt("go")).toMatchObject({ reason: "end_turn" });
    expect(asked.map((one) => [typeof one.previous_response_id, (one.input as unknown[]).length])).toEqual([
      ["undefined", 1],
      ["string", 1],
      // The server has forgotten everything with the socket.
      ["undefined", 3],
      ["string", 1],
    ]);
    const report = await replay(test.journal.records, { registry: test.registry, directory: "/nowhere" });
    expect(report).toMatchObject({ requests: 3, differentRequests: [], firstDifference: null });
  });
});
