import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocketServer } from "ws";
import { startModelServer } from "../verify/model-server/model-server.ts";
import { scenario } from "../verify/model-server/test-client.ts";
import type { JsonObject } from "./json.ts";
import { probe } from "./probe.ts";
import { PROFILES, profileById, profileOf } from "./profiles.ts";
import { conformingEvents, sendStream, startEndpoint, streamOf } from "./test-endpoint.ts";
import { ResponsesSocket, socketIsStale } from "./websocket.ts";

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

describe("profiles", () => {
  it("finds the profile of an address", () => {
    expect(profileOf("https://api.openai.com/v1").id).toBe("openai");
    expect(profileOf("http://localhost:11434/v1").id).toBe("ollama");
    expect(profileOf("http://127.0.0.1:1234/v1").id).toBe("lmstudio");
    expect(profileOf("http://10.0.0.1:1234/v1").id).toBe("generic");
    expect(profileOf("nonsense").id).toBe("generic");
    expect(profileById("vllm")?.facts.doneMark).toBe(false);
    expect(new Set(PROFILES.map((profile) => profile.id)).size).toBe(PROFILES.length);
  });
});

describe("probe", () => {
  it("finds the facts of the scripted model server", async () => {
    const server = await startModelServer({
      scenarios: [scenario("ok", [{ blocks: [{ type: "text", text: "ok" }] }])],
      default: "ok",
    });
    closers.push(() => server.close());
    const report = await probe({ baseUrl: `${server.url}/v1` });
    expect(report.checks.map(({ name, outcome }) => [name, outcome])).toEqual([
      ["models", "yes"],
      ["stream", "yes"],
      ["tool_call", "no"],
      ["tool_choice", "no"],
      ["reasoning_items", "yes"],
      ["stored", "no"],
      ["compact", "yes"],
      ["websocket", "yes"],
    ]);
    expect(report.facts).toMatchObject({ reasoning: "items", sequenceNumbers: true, stored: false, websocket: true });
    expect(report.models.length).toBeGreaterThan(0);
  });

  it("finds the facts of an endpoint that can do it all but numbers nothing", async () => {
    const bare = conformingEvents().map(({ sequence_number: _, ...event }) => event);
    const calling = (name: string): JsonObject[] => JSON.parse(JSON.stringify(bare).replaceAll('"read"', `"${name}"`));
    const endpoint = await startEndpoint((response, { path, body }) => {
      if (path.endsWith("/models")) response.end(JSON.stringify({ data: [{ id: "m1" }] }));
      else if (path.endsWith("/compact")) response.end(JSON.stringify({ object: "response.compaction", output: [] }));
      else if (body.includes("previous_response_id")) {
        response.writeHead(404);
        response.end(JSON.stringify({ error: { message: "Previous response not found" } }));
      } else if (body.includes('"reasoning"')) {
        response.writeHead(400);
        response.end(JSON.stringify({ error: { message: "unknown item" } }));
      } else sendStream(response, streamOf(calling(body.includes("allowed_tools") ? "report_nothing" : "report_number"), false));
    });
    closers.push(endpoint.close);
    const report = await probe({ baseUrl: endpoint.baseUrl });
    expect(report.facts).toMatchObject({
      toolChoice: true,
      stored: true,
      compact: true,
      reasoning: "none",
      sequenceNumbers: false,
      doneMark: false,
      websocket: false,
    });
    expect(report.deviations.join("\n")).toContain("sequence_number");
    expect(report.models).toEqual(["m1"]);
  });

  it("stops at an endpoint that refuses the key", async () => {
    const endpoint = await startEndpoint((response) => {
      response.writeHead(401);
      response.end();
    });
    closers.push(endpoint.close);
    const report = await probe({ baseUrl: endpoint.baseUrl });
    expect(report.checks).toMatchObject([{ name: "models", outcome: "failed" }]);
    expect(endpoint.requests).toHaveLength(1);
  });
});

describe("WebSocket transport", () => {
  async function socketServer(answer: (message: JsonObject, send: (value: unknown) => void, close: () => void) => void) {
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    const messages: JsonObject[] = [];
    let connections = 0;
    server.on("connection", (socket) => {
      connections += 1;
      socket.on("message", (data) => {
        const message = JSON.parse(String(data)) as JsonObject;
        messages.push(message);
        answer(
          message,
          (value) => socket.send(typeof value === "string" ? value : JSON.stringify(value)),
          () => socket.terminate(),
        );
      });
    });
    await new Promise((resolve) => server.once("listening", resolve));
    closers.push(() => {
      for (const client of server.clients) client.terminate();
      server.close();
    });
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const socket = new ResponsesSocket({ baseUrl, idleMs: 60_000 });
    closers.push(() => socket.close());
    return { socket, messages, connections: () => connections };
  }

  it("reads responses one after the other on one socket, without the keys of streaming", async () => {
    const { socket, messages, connections } = await socketServer((_message, send) => {
      for (const event of conformingEvents()) send(event);
    });
    const types: unknown[] = [];
    for (const input of ["a", "b"]) {
      const outcome = await socket.create(
        { model: "m", input, stream: true },
        { onEvent: (event) => void types.push(event.data?.type) },
      );
      expect(outcome).toMatchObject({ kind: "completed", usage: { input: 10 } });
    }
    expect(types).toHaveLength(2 * conformingEvents().length);
    expect(messages).toEqual([
      { type: "response.create", model: "m", input: "a" },
      { type: "response.create", model: "m", input: "b" },
    ]);
    expect(connections()).toBe(1);
  });

  it("refuses a second response while one is in flight", async () => {
    const { socket } = await socketServer(() => {});
    const controller = new AbortController();
    const first = socket.create({ input: "a" }, { onEvent: () => {}, signal: controller.signal });
    await expect(socket.create({ input: "b" }, { onEvent: () => {} })).rejects.toMatchObject({ code: "invalid_request" });
    controller.abort();
    await expect(first).rejects.toMatchObject({ code: "aborted" });
  });

  it("tells a forgotten response, keeps invalid JSON, and opens another socket after a cut", async () => {
    const seen: string[] = [];
    const { socket, connections } = await socketServer((message, send, close) => {
      if (message.input === "cut") return close();
      if (message.previous_response_id !== undefined) {
        send({ type: "error", status: 400, error: { code: "previous_response_not_found", message: "gone" } });
        return;
      }
      send("{nope");
      for (const event of conformingEvents()) send(event);
    });
    const handlers = { onEvent: (event: { status: string }) => void seen.push(event.status) };
    const forgotten = await socket.create({ input: "a", previous_response_id: "r" }, handlers).catch((error: unknown) => error);
    expect(socketIsStale(forgotten)).toBe(true);
    await expect(socket.create({ input: "cut" }, handlers)).rejects.toMatchObject({ code: "cut" });
    expect((await socket.create({ input: "b" }, handlers)).kind).toBe("completed");
    expect(seen.filter((status) => status === "invalid_json")).toHaveLength(1);
    expect(connections()).toBe(3);
  });

  it("says when there is nobody", async () => {
    const socket = new ResponsesSocket({ baseUrl: "http://127.0.0.1:1/v1" });
    await expect(socket.create({ input: "a" }, { onEvent: () => {} })).rejects.toMatchObject({ code: "unreachable" });
  });
});
