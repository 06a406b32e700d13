import type { Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";
import type { UniversalEvent } from "../schema/event.ts";
import { checkGrammar } from "../schema/grammar.ts";
import { startTestServer, type TestServer } from "./test-server.ts";

type Message = {
  type?: string;
  event?: UniversalEvent;
  id?: string | number | null;
  ok?: boolean;
  result?: Record<string, unknown>;
  problem?: { code: string };
};

let server: TestServer;
const open: WebSocket[] = [];
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(async () => {
  for (const ws of open) ws.terminate();
  await server.close();
});

class Client {
  readonly ws: WebSocket;
  readonly messages: Message[] = [];
  readonly closed: Promise<number>;
  readonly #waiting = new Set<(message: Message) => void>();

  constructor(path: string, token = server.token) {
    this.ws = new WebSocket(`${server.url.replace("http", "ws")}${path}`, { headers: { authorization: `Bearer ${token}` } });
    open.push(this.ws);
    this.closed = new Promise((resolve) => this.ws.on("close", resolve));
    this.ws.on("message", (data) => {
      const message = JSON.parse(data.toString()) as Message;
      this.messages.push(message);
      for (const look of [...this.#waiting]) look(message);
    });
  }

  get events(): UniversalEvent[] {
    return this.messages.flatMap(({ event }) => event ?? []);
  }

  /** The first message that fits, past or to come. */
  until(fits: (message: Message) => boolean): Promise<Message> {
    const past = this.messages.find(fits);
    if (past) return Promise.resolve(past);
    return new Promise((resolve) => {
      const look = (message: Message): void => {
        if (!fits(message)) return;
        this.#waiting.delete(look);
        resolve(message);
      };
      this.#waiting.add(look);
    });
  }

  event(type: string): Promise<Message> {
    return this.until(({ event }) => event?.type === type);
  }

  async call(id: string, op: string, more: object = {}): Promise<Message> {
    this.ws.send(JSON.stringify({ id, op, ...more }));
    return this.until((message) => message.id === id);
  }
}

const connect = async (query = "", token?: string): Promise<Client> => {
  const { session_id } = await server.createSession();
  const client = new Client(`/v1/sessions/${session_id}/ws${query}`, token);
  await client.until(({ type }) => type === "hello");
  return client;
};

describe("a session over WebSocket", () => {
  it("is driven by all commands, and closes with 1000 after its end", async () => {
    const client = await connect();
    expect(await client.call("1", "send", { message: "ask" })).toMatchObject({ ok: true, result: { queued: false } });
    await client.event("permission.requested");
    const pending = await client.call("2", "pending");
    const [permission] = (pending.result as { permissions: { permission_id: string }[] }).permissions;
    const answer = { permission_id: permission?.permission_id, reply: "once" };
    expect(await client.call("3", "reply_permission", answer)).toMatchObject({ ok: true });
    expect(await client.call("4", "reply_permission", answer)).toMatchObject({ ok: true });
    expect(await client.call("5", "reply_permission", { ...answer, reply: "reject" })).toMatchObject({
      ok: false,
      problem: { code: "already_answered", status: 409 },
    });
    await client.event("turn.ended");
    expect(await client.call("6", "configure", { title: "A title" })).toMatchObject({ ok: true, result: { title: "A title" } });
    await client.call("7", "send", { message: "question" });
    const asked = await client.event("question.requested");
    const question_id = asked.event?.type === "question.requested" ? asked.event.data.question_id : "";
    expect(await client.call("8", "reject_question", { question_id })).toMatchObject({ ok: true });
    expect(await client.call("9", "interrupt")).toMatchObject({ ok: true });
    client.ws.send(JSON.stringify({ id: "10", op: "terminate" }));
    expect(await client.closed).toBe(1000);
    expect(client.events.at(-1)?.type).toBe("session.ended");
    expect(checkGrammar(client.events)).toEqual([]);
  });

  it("begins where it is told, and can begin again elsewhere", async () => {
    const client = await connect("?subscribe=false");
    await client.call("1", "send", { message: "say one" });
    expect(client.events).toEqual([]);
    await client.call("2", "subscribe", { after: 1, types: ["turn.ended"], include_raw: true });
    const { event } = await client.event("turn.ended");
    expect(event?.raw).toMatchObject({ type: "done" });
    expect(client.events).toHaveLength(1);
    await client.call("3", "unsubscribe");
    await client.call("4", "send", { message: "say two" });
    await client.call("5", "subscribe", { after: 0 });
    await client.event("session.started");
    expect(await client.call("6", "subscribe", { after: 9999 })).toMatchObject({ problem: { code: "cursor_too_large" } });
  });

  it("follows from where it was told last, however many orders came at once", async () => {
    const client = await connect("?subscribe=false");
    const { _socket: socket } = client.ws as unknown as { _socket: Socket };
    socket.cork();
    client.ws.send(JSON.stringify({ op: "subscribe", after: 0 }));
    const answer = client.call("none", "unsubscribe");
    socket.uncork();
    await answer;
    await server.play(new URL(client.ws.url).pathname.split("/")[3] ?? "", "hello");
    await client.call("read", "session");
    expect(client.events).toEqual([]);
  });

  it("sends messages to the agent in the order they came", async () => {
    const client = await connect();
    for (let i = 0; i < 5; i++) client.ws.send(JSON.stringify({ id: `m${i}`, op: "send", message: `say number-${i}` }));
    await client.until(() => client.events.filter(({ type }) => type === "turn.ended").length === 5);
    const answers = client.events.flatMap((event) =>
      event.type === "item.completed" && event.data.item.role === "assistant" ? [JSON.stringify(event.data.item.content)] : [],
    );
    expect(answers.map((text) => /number-(\d)/.exec(text)?.[1])).toEqual(["0", "1", "2", "3", "4"]);
  });

  it.each([
    ["not JSON", "{", "invalid_json"],
    ["no op", '{"id":"x"}', "invalid_request"],
    ["an unknown op", '{"id":"x","op":"exec"}', "invalid_request"],
    ["a wrong type", '{"id":"x","op":"send","message":5}', "invalid_request"],
    ["an unknown field", '{"id":"x","op":"interrupt","force":true}', "invalid_request"],
    ["nothing to change", '{"id":"x","op":"configure"}', "invalid_request"],
    ["a missing request", '{"id":"x","op":"reject_question","question_id":"none"}', "question_not_found"],
  ])("answers %s with a problem and lives on", async (_, text, code) => {
    const client = await connect();
    client.ws.send(text);
    expect(await client.until(({ ok }) => ok === false)).toMatchObject({ problem: { code } });
    expect(await client.call("after", "session")).toMatchObject({ ok: true });
  });

  it("refuses binary frames, and closes on one that is too large", async () => {
    const client = await connect();
    client.ws.send(Buffer.from("{}"));
    expect(await client.until(({ ok }) => ok === false)).toMatchObject({ problem: { code: "unsupported_media_type" } });
    client.ws.send(JSON.stringify({ id: "1", op: "send", message: "x".repeat(2 * 1024 * 1024) }));
    expect(await client.closed).toBe(1009);
  });

  it("answers pings, and ends the connection of a message that has no end", async () => {
    const client = await connect();
    const pong = new Promise((resolve) => client.ws.once("pong", (data) => resolve(data.toString())));
    client.ws.ping("there?");
    expect(await pong).toBe("there?");
    for (let piece = 0; piece < 20_000; piece++) client.ws.send("x", { fin: false });
    expect(await client.closed).toBe(1008);
  });

  it("lets an observe token watch and nothing more", async () => {
    const client = await connect("", server.tokens.secret("observe"));
    await client.event("session.started");
    for (const [op, more] of [
      ["send", { message: "x" }],
      ["terminate", {}],
      ["interrupt", {}],
      ["configure", { title: "x" }],
      ["reply_permission", { permission_id: "p", reply: "once" }],
    ] as const)
      expect(await client.call(op, op, more)).toMatchObject({ ok: false, problem: { code: "forbidden" } });
    expect(await client.call("pending", "pending")).toMatchObject({ ok: true });
  });

  it("a client that stops reading gets everything after it wakes", async () => {
    const client = await connect();
    client.ws.pause();
    const id = new URL(client.ws.url).pathname.split("/")[3] ?? "";
    await server.flood(id, "flood 20000 500");
    client.ws.resume();
    await client.event("turn.ended");
    expect(client.events.map(({ sequence }) => sequence)).toEqual(client.events.map((_, index) => index + 1));
    expect(client.events.length).toBeGreaterThan(20_000);
  });
});
