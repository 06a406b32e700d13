/** The scripted server as an Open Responses endpoint: held against the protocol's own rules, over HTTP and over a WebSocket, and at random. */
import { on, once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { ResponsesClient } from "../../openresponses/client.ts";
import { compact } from "../../openresponses/compact.ts";
import { probe } from "../../openresponses/probe.ts";
import type { ReceivedEvent } from "../../openresponses/provider-event.ts";
import { withRetry } from "../../openresponses/retry.ts";
import { ResponsesSocket, socketIsStale } from "../../openresponses/websocket.ts";
import { commonScenarios } from "../scenario/index.ts";
import { type ModelServer, startModelServer } from "./index.ts";

let server: ModelServer;
afterEach(() => server.close());

const start = async (more: object = {}): Promise<string> => {
  server = await startModelServer({ scenarios: commonScenarios, default: "text", doneMark: true, ...more });
  return `${server.url}/v1`;
};

const message = (text: string) => ({ type: "message", role: "user", content: [{ type: "input_text", text }] });
const faults = (events: readonly ReceivedEvent[]): string[] =>
  events.flatMap(({ errors, response_errors }) => [...errors, ...response_errors]);

describe("an Open Responses endpoint", () => {
  it("streams without a deviation, and ends in [DONE]", async () => {
    const client = new ResponsesClient({ baseUrl: await start() });
    for (const name of ["text", "thinking", "shell-ok", "refusal"]) {
      const events: ReceivedEvent[] = [];
      const body = { model: "m", stream: true, input: [message(`Go. [[scenario:${name}]]`)] };
      await client.stream(JSON.stringify(body), { onEvent: (event) => void events.push(event) });
      expect([name, ...faults(events)]).toEqual([name]);
      expect(events.at(-1)?.status).toBe("done");
    }
  });

  it("makes a conversation short, and the script goes on", async () => {
    const client = new ResponsesClient({ baseUrl: await start() });
    const items = await compact(client, { model: "m", input: [message("Go. [[scenario:text]]")] });
    expect(items.map((item) => item.type)).toEqual(["message", "compaction"]);
    expect(JSON.stringify(items)).toContain("[[scenario:text");
  });

  it("refuses to make a conversation short for no model", async () => {
    const answer = await fetch(`${await start()}/responses/compact`, { method: "POST", body: JSON.stringify({ input: "Go." }) });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { message: expect.stringContaining("model") } });
  });

  it("calls the first tool on offer where no script is named, unless the client forbids it", async () => {
    const client = new ResponsesClient({ baseUrl: await start({ callsTools: true }) });
    const schema = { type: "object", properties: { place: { type: "string" } }, required: ["place"] };
    const tools = ["sky", "sea"].map((name) => ({ type: "function", name, parameters: schema }));
    const kinds = async (more: object): Promise<unknown[]> => {
      const body = JSON.stringify({ model: "m", stream: true, input: [message("How is it?")], tools, ...more });
      return (await client.stream(body, { onEvent: () => {} })).items.map((item) => item.name ?? item.type);
    };
    expect(await kinds({})).toEqual(["sky"]);
    expect(await kinds({ tool_choice: "none" })).toEqual(["message"]);
    const allowed = { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "sea" }] };
    expect(await kinds({ tool_choice: allowed })).toEqual(["sea"]);
    const call = { type: "function_call", call_id: "c1", name: "sky", arguments: "{}" };
    const output = { type: "function_call_output", call_id: "c1", output: "blue" };
    expect(await kinds({ input: [message("How is it?"), call, output] })).toEqual(["message"]);
  });

  it("has what a probe asks for", async () => {
    const report = await probe({ baseUrl: await start() });
    const found = Object.fromEntries(report.checks.map(({ name, outcome }) => [name, outcome]));
    expect(found).toMatchObject({ models: "yes", stream: "yes", compact: "yes", websocket: "yes" });
    expect(report.deviations).toEqual([]);
    expect(report.facts.doneMark).toBe(true);
  });

  it("remembers the responses of a socket, and forgets one that failed", async () => {
    const socket = new ResponsesSocket({ baseUrl: await start() });
    const events: ReceivedEvent[] = [];
    const ask = (body: object) =>
      socket.create({ model: "m", store: false, ...body }, { onEvent: (event) => void events.push(event) });
    const first = await ask({ input: [message("Remember. [[scenario:multi-turn]]")] });
    const second = await ask({ input: [message("And now?")], previous_response_id: first.response.id });
    expect(second.response.previous_response_id).toBe(first.response.id);
    expect(server.requests.at(-1)?.history.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(faults(events)).toEqual([]);
    const unknown = await ask({ input: [message("Go.")], previous_response_id: "resp_nobody" }).catch((error: unknown) => error);
    expect(socketIsStale(unknown)).toBe(true);
    socket.close();
  });
});

describe("a socket that stays open", () => {
  it("forgets the response that a failed request went on from", async () => {
    const url = (await start()).replace("http", "ws");
    const socket = new WebSocket(`${url}/responses`);
    await once(socket, "open");
    /** The last event of an answer. */
    const ask = async (body: object): Promise<{ type: string; response?: { id: string }; error?: { code: string } }> => {
      socket.send(JSON.stringify({ type: "response.create", model: "m", store: false, ...body }));
      for await (const [data] of on(socket, "message")) {
        const event = JSON.parse(String(data));
        if (event.type === "error" || event.type === "response.completed") return event;
      }
      throw new Error("the socket was closed");
    };
    const previous_response_id = (await ask({ input: "Remember." })).response?.id;
    const output = { type: "function_call_output", call_id: "call_nobody", output: "x" };
    expect(await ask({ input: [output], previous_response_id })).toMatchObject({ error: { code: "invalid_request" } });
    expect(await ask({ input: "Go on.", previous_response_id })).toMatchObject({
      error: { code: "previous_response_not_found" },
    });
    socket.close();
  });
});

describe("chaos", () => {
  const tools = [
    {
      type: "function",
      name: "read",
      parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    },
    { type: "function", name: "add", parameters: { type: "object", properties: { a: { type: "integer" } }, required: ["a"] } },
  ];

  /** Plays a whole turn: every call gets an output. */
  async function play(baseUrl: string, prompt: string): Promise<unknown[]> {
    const client = new ResponsesClient({ baseUrl });
    const input: unknown[] = [message(prompt)];
    for (let step = 0; step < 20; step++) {
      const events: ReceivedEvent[] = [];
      const body = JSON.stringify({ model: "m", stream: true, tools, input });
      const retry = { policy: { retries: 3, baseMs: 1, maxMs: 1, random: () => 0 } };
      const { items } = await withRetry(() => {
        events.length = 0;
        return client.stream(body, { onEvent: (event) => void events.push(event) });
      }, retry);
      expect(faults(events)).toEqual([]);
      const calls = items.filter((item) => item.type === "function_call");
      for (const call of calls) expect(() => JSON.parse(String(call.arguments))).not.toThrow();
      input.push(...items, ...calls.map(({ call_id }) => ({ type: "function_call_output", call_id, output: "ok" })));
      if (calls.length === 0) return input;
    }
    throw new Error("the turn did not come to its end");
  }

  it("plays within the rules, comes to an end, and repeats itself for the same seed", async () => {
    const baseUrl = await start({ chaos: "7" });
    const ids = (items: unknown[]): string => JSON.stringify(items).replaceAll(/"(id|call_id)":"[^"]*"/g, "");
    for (let round = 0; round < 20; round++) {
      const one = await play(baseUrl, `Round ${round}.`);
      const two = await play(baseUrl, `Round ${round}.`);
      expect(ids(two)).toBe(ids(one));
    }
  });
});
