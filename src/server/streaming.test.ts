import { request as httpRequest, type IncomingMessage } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";
import type { Dialect } from "../schema/dialect.ts";
import type { UniversalEvent } from "../schema/event.ts";
import { checkGrammar } from "../schema/grammar.ts";
import { readSse, type SseBlock, sseEvents, startTestServer, type TestServer } from "./test-server.ts";

/** Two lines an event, the same for every reader. */
const SHOUT: Dialect = {
  lineTypes: [],
  versions: [1],
  nativeOf: new Set(),
  open: () => ({
    remember: () => undefined,
    lines: ({ json }) =>
      [(JSON.parse(json) as UniversalEvent).type.toUpperCase(), "AGAIN"].map((word) => ({
        type: "word",
        json: JSON.stringify(word),
      })),
  }),
};

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    dialects: new Map([["shout", SHOUT]]),
  });
});
afterAll(() => server.close());

const eventsOf = (blocks: SseBlock[]): UniversalEvent[] =>
  blocks.flatMap(({ data }) => (data === undefined ? [] : [JSON.parse(data) as UniversalEvent]));
const has = (type: string) => (blocks: SseBlock[]) => eventsOf(blocks).some((event) => event.type === type);

const played = async (message: string): Promise<string> => {
  const { session_id } = await server.createSession();
  await server.play(session_id, message);
  return session_id;
};

describe("a session's stream", () => {
  it("begins with retry, carries the sequence as id, and ends after session.ended", async () => {
    const id = await played("say one two");
    await server.call("POST", `/v1/sessions/${id}/terminate`);
    const reply = await server.call("GET", `/v1/sessions/${id}/events/sse`);
    expect(reply.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
    expect(reply.headers["cache-control"]).toBe("no-store");
    expect(reply.text).toMatch(/^retry: \d+\nid: 0\n\n/);
    const events = sseEvents(reply.text);
    expect(checkGrammar(events)).toEqual([]);
    expect([...reply.text.matchAll(/^id: (\d+)\ndata: /gm)].map(([, id]) => Number(id))).toEqual(
      events.map(({ sequence }) => sequence),
    );
  });

  it("resumes behind Last-Event-ID, which counts more than after, and after is also called offset", async () => {
    const id = await played("say one two three");
    const path = `/v1/sessions/${id}/events/sse`;
    const firstOf = async (query: string, headers: Record<string, string> = {}): Promise<number | undefined> =>
      (await eventsOf(await readSse(server, path + query, (blocks) => eventsOf(blocks).length > 0, headers)))[0]?.sequence;
    expect(await firstOf("?after=3")).toBe(4);
    expect(await firstOf("?offset=2")).toBe(3);
    expect(await firstOf("?after=1", { "last-event-id": "5" })).toBe(6);
  });

  it("answers 204 to a browser that has seen the end", async () => {
    const id = await played("say bye");
    await server.call("POST", `/v1/sessions/${id}/terminate`);
    const { last_sequence } = await server.json<{ last_sequence: number }>("GET", `/v1/sessions/${id}`);
    const path = `/v1/sessions/${id}/events/sse`;
    const reply = await server.call("GET", path, undefined, { "last-event-id": String(last_sequence) });
    expect(reply.status).toBe(204);
    const again = await server.call("GET", `${path}?after=${last_sequence}`);
    expect([again.status, sseEvents(again.text)]).toEqual([200, []]);
    // Who asked for some types only never gets the last event: nothing more of these types is the end.
    const [turn] = sseEvents((await server.call("GET", `${path}?types=turn.ended`)).text);
    const resumed = async (types: string, after = 0) =>
      (await server.call("GET", `${path}?types=${types}`, undefined, { "last-event-id": String(after) })).status;
    expect(await resumed("turn.ended", turn?.sequence)).toBe(204);
    expect(await resumed("turn.ended", (turn?.sequence ?? 0) - 1)).toBe(200);
    expect(await resumed("session.ended", turn?.sequence)).toBe(200);
  });

  it("ends when the session is removed", async () => {
    const id = await played("say bye");
    const open = server.call("GET", `/v1/sessions/${id}/events/sse?after=1`);
    await readSse(server, `/v1/sessions/${id}/events/sse`, has("turn.ended"));
    expect((await server.call("DELETE", `/v1/sessions/${id}`)).status).toBe(204);
    expect((await open).status).toBe(200);
    expect((await server.call("GET", `/v1/sessions/${id}`)).status).toBe(404);
  });

  it("filters by type, keeping the sequence, live and in pages alike", async () => {
    const id = await played("say one two");
    const wanted = new Set(["turn.started", "turn.ended"]);
    const live = await eventsOf(
      await readSse(server, `/v1/sessions/${id}/events/sse?types=turn.started,turn.ended`, has("turn.ended")),
    );
    const page = await server.json<{ events: UniversalEvent[] }>(
      "GET",
      `/v1/sessions/${id}/events?types=turn.started&types=turn.ended`,
    );
    expect(live.map(({ type }) => type)).toEqual(["turn.started", "turn.ended"]);
    expect(page.events).toEqual(live);
    const all = await server.json<{ events: UniversalEvent[] }>("GET", `/v1/sessions/${id}/events`);
    expect(all.events.filter(({ type }) => wanted.has(type))).toEqual(live);
  });

  it("gives the native message in raw when asked, and null when not", async () => {
    const id = await played("say one");
    const page = await server.json<{ events: UniversalEvent[] }>("GET", `/v1/sessions/${id}/events?include_raw=true`);
    const delta = page.events.find(({ type, source }) => type === "item.delta" && source === "agent");
    expect(delta?.raw).toMatchObject({ type: "text", d: "one" });
    const live = await eventsOf(await readSse(server, `/v1/sessions/${id}/events/sse?include_raw=true`, has("turn.ended")));
    expect(live).toEqual(page.events.slice(0, live.length));
    const plain = await server.json<{ events: UniversalEvent[] }>("GET", `/v1/sessions/${id}/events`);
    expect(plain.events.every(({ raw }) => raw === null)).toBe(true);
  });

  it("speaks a dialect, one event in several lines of which the last has its id", async () => {
    const id = await played("say one");
    const blocks = await readSse(server, `/v1/sessions/${id}/events/sse?dialect=shout`, (seen) => seen.length >= 3);
    expect(blocks.slice(1, 3)).toMatchObject([
      { id: undefined, data: '"SESSION.STARTED"' },
      { id: "1", data: '"AGAIN"' },
    ]);
    const page = await server.json<{ events: unknown[] }>("GET", `/v1/sessions/${id}/events?dialect=shout&limit=1`);
    expect(page.events).toEqual(["SESSION.STARTED", "AGAIN"]);
  });
});

describe("pages", () => {
  it("walk forward and backward over all events", async () => {
    const id = await played("messages 5");
    type Page = { events: UniversalEvent[]; has_more: boolean; next: number; last_sequence: number };
    const walk = async (query: string, cursor: "after" | "before"): Promise<number[]> => {
      const seen: number[] = [];
      for (let at = ""; ; ) {
        const page = await server.json<Page>("GET", `/v1/sessions/${id}/events?limit=7${query}${at}`);
        expect(page.events.length).toBeLessThanOrEqual(7);
        seen.push(...page.events.map(({ sequence }) => sequence));
        if (!page.has_more) return seen;
        at = `&${cursor}=${page.next}`;
      }
    };
    const forward = await walk("", "after");
    expect(forward).toEqual(forward.map((_, index) => index + 1));
    expect(await walk("&order=desc", "before")).toEqual(forward.toReversed());
  });
});

describe("the stream of all sessions", () => {
  it("carries cursors, resumes behind them, and begins now unless told otherwise", async () => {
    const first = await played("say one");
    const fromStart = await readSse(server, "/v1/events/sse?after=0.0", (blocks) =>
      eventsOf(blocks).some((event) => event.session_id === first && event.type === "turn.ended"),
    );
    const cursors = fromStart.map(({ id }) => id ?? "");
    const middle = cursors[Math.floor(cursors.length / 2)] ?? "";
    const resumed = await readSse(server, "/v1/events/sse", (blocks) => blocks.at(-1)?.id === cursors.at(-1), {
      "last-event-id": middle,
    });
    expect(eventsOf(resumed)).toEqual(eventsOf(fromStart.slice(Math.floor(cursors.length / 2) + 1)));
    const now = readSse(server, "/v1/events/sse?types=session.started", (blocks) => eventsOf(blocks).length > 0);
    await expect.poll(async () => (await server.call("GET", "/metrics")).text).toMatch(/dragoman_subscribers [1-9]/);
    const second = await server.createSession();
    expect(eventsOf(await now).map(({ session_id }) => session_id)).toEqual([second.session_id]);
  });
});

describe("the stream of a message", () => {
  it("carries its own turn only, also when it was queued first", async () => {
    const { session_id: id } = await server.createSession();
    const first = server.call("POST", `/v1/sessions/${id}/messages/stream`, { message: "slow 20 one two three" });
    await readSse(server, `/v1/sessions/${id}/events/sse`, has("turn.started"));
    const second = await server.call("POST", `/v1/sessions/${id}/messages/stream`, { message: "say four" });
    const turns = [sseEvents((await first).text), sseEvents(second.text)];
    for (const [index, reply] of [await first, second].entries()) {
      const turn = turns[index] ?? [];
      expect(turn.at(0)).toMatchObject({ type: "turn.started", data: { turn_id: reply.headers["x-turn-id"] } });
      expect(turn.at(-1)).toMatchObject({ type: "turn.ended", data: { turn_id: reply.headers["x-turn-id"] } });
      expect(turn.filter(({ type }) => type === "turn.ended")).toHaveLength(1);
    }
    expect(turns[1]?.at(0)?.sequence).toBeGreaterThan(turns[0]?.at(-1)?.sequence ?? Number.POSITIVE_INFINITY);
  });

  it("a message that is sent with a stream is told as it was asked for: types, native messages, dialect", async () => {
    const { session_id: id } = await server.createSession();
    const raw = await server.call("POST", `/v1/sessions/${id}/messages/stream?include_raw=true&types=item.delta`, {
      message: "say hi",
    });
    const events = sseEvents(raw.text);
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(["item.delta"]));
    expect(events.every((event) => event.raw !== null)).toBe(true);
    const other = await server.call("POST", `/v1/sessions/${id}/messages/stream?dialect=shout`, { message: "say hi" });
    expect(other.text).toContain("TURN.STARTED");
    const unknown = await server.call("POST", `/v1/sessions/${id}/messages/stream?dialect=nonsense`, { message: "say hi" });
    expect(unknown.status).toBe(400);
  });

  it("begins at once for a message that is steered into a running turn", async () => {
    const { session_id: id } = await server.createSession();
    await server.call("POST", `/v1/sessions/${id}/messages`, { message: "ask" });
    await readSse(server, `/v1/sessions/${id}/events/sse`, has("permission.requested"));
    const steered = server.call("POST", `/v1/sessions/${id}/messages/stream`, { message: "hurry", when_busy: "steer" });
    await readSse(server, `/v1/sessions/${id}/events/sse`, (blocks) => blocks.some(({ data }) => data?.includes("Steered")));
    const { permissions } = await server.json<{ permissions: { permission_id: string }[] }>("GET", `/v1/sessions/${id}/pending`);
    await server.call("POST", `/v1/sessions/${id}/permissions/${permissions[0]?.permission_id}/reply`, { reply: "once" });
    expect(sseEvents((await steered).text).at(-1)?.type).toBe("turn.ended");
  });

  it("ends with the session when that ends first", async () => {
    const { session_id: id } = await server.createSession();
    const turn = server.call("POST", `/v1/sessions/${id}/messages/stream`, { message: "ask" });
    await readSse(server, `/v1/sessions/${id}/events/sse`, has("permission.requested"));
    const queued = server.call("POST", `/v1/sessions/${id}/messages/stream`, { message: "say never" });
    await expect.poll(async () => (await server.json<{ queued: number }>("GET", `/v1/sessions/${id}`)).queued).toBe(1);
    await server.call("POST", `/v1/sessions/${id}/terminate`);
    expect(sseEvents((await turn).text).at(-1)?.type).toBe("turn.ended");
    expect(sseEvents((await queued).text)).toEqual([]);
  });
});

describe("slow clients", () => {
  /** Opens a stream and does not read from it. */
  const stalled = (path: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${server.token}` };
      const request = httpRequest({ host: "127.0.0.1", port: server.port, path, headers, agent: false }, (response) => {
        response.pause();
        resolve(response);
      });
      request.on("error", reject);
      request.end();
    });

  it("get every event after they wake, in order, and the daemon keeps nothing for them", async () => {
    const { session_id: id } = await server.createSession();
    const sleepers = await Promise.all(Array.from({ length: 5 }, () => stalled(`/v1/sessions/${id}/events/sse`)));
    await server.flood(id, "flood 20000 600");
    // About 20 MB for each of them; what is kept is what they had been given when their socket filled up.
    const metrics = (await server.call("GET", "/metrics")).text;
    const buffered = Number(/^dragoman_subscriber_buffered_bytes (\d+)$/m.exec(metrics)?.[1]);
    expect(buffered).toBeGreaterThan(0);
    expect(buffered).toBeLessThan(25 * 1024 * 1024);
    await server.call("POST", `/v1/sessions/${id}/terminate`);
    const { last_sequence } = await server.json<{ last_sequence: number }>("GET", `/v1/sessions/${id}`);
    expect(last_sequence).toBeGreaterThan(20_000);
    for (const sleeper of sleepers) {
      let expected = 1;
      let rest = "";
      sleeper.setEncoding("utf8");
      for await (const chunk of sleeper) {
        const lines = (rest + chunk).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) {
          if (!line.startsWith("data: ")) continue;
          if (Number(/"sequence":(\d+)/.exec(line)?.[1]) === expected) expected++;
          else throw new Error(`expected ${expected}: ${line.slice(0, 200)}`);
        }
      }
      expect(expected - 1).toBe(last_sequence);
    }
  });

  it("do not hold up the daemon's end", async () => {
    const other = await startTestServer();
    const { session_id: id } = await other.createSession();
    const response = await new Promise<IncomingMessage>((resolve) => {
      const headers = { authorization: `Bearer ${other.token}` };
      httpRequest({ port: other.port, path: `/v1/sessions/${id}/events/sse`, headers }, (reply) => resolve(reply.pause())).end();
    });
    response.on("error", () => {});
    await other.flood(id, "flood 5000 2000");
    await other.close();
    expect(response.destroyed || response.readableFlowing === false).toBe(true);
  });
});

describe("a thousand subscribers", () => {
  it("all get all events of a session", async () => {
    const { session_id: id } = await server.createSession();
    const replies = Array.from({ length: 1_000 }, () => server.call("GET", `/v1/sessions/${id}/events/sse?after=0`));
    await expect.poll(async () => (await server.call("GET", "/metrics")).text).toContain("dragoman_subscribers 1000\n");
    await server.play(id, "messages 20");
    await server.call("POST", `/v1/sessions/${id}/terminate`);
    const texts = new Set((await Promise.all(replies)).map(({ text }) => text.replaceAll(/^:.*\n\n/gm, "")));
    expect(texts.size).toBe(1);
    expect(checkGrammar(sseEvents([...texts][0] ?? ""))).toEqual([]);
  });
});

describe("idle streams", () => {
  it("get a comment and a ping now and then, and are closed when the token's file was replaced", async () => {
    const lively = await startTestServer({ limits: { body_bytes: 1024 * 1024, subscribers: 10, heartbeat_ms: 300 } });
    try {
      const { session_id: id } = await lively.createSession();
      const ws = new WebSocket(`${lively.url.replace("http", "ws")}/v1/sessions/${id}/ws`, {
        headers: { authorization: `Bearer ${lively.token}` },
      });
      const closed = new Promise((resolve) => ws.on("close", resolve));
      const pinged = new Promise((resolve) => ws.on("ping", resolve));
      const response = await new Promise<IncomingMessage>((resolve) => {
        const headers = { authorization: `Bearer ${lively.token}` };
        httpRequest({ port: lively.port, path: `/v1/sessions/${id}/events/sse`, headers }, resolve).end();
      });
      await pinged;
      let text = "";
      for await (const chunk of response) {
        text += String(chunk);
        if (text.includes("\n: still here\n\n")) lively.tokens.rotate("admin");
      }
      expect(await closed).toBe(1008);
    } finally {
      await lively.close();
    }
  });
});
