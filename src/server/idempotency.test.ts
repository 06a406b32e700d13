import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { MessageAccepted, Session } from "../schema/session.ts";
import { Idempotency } from "./idempotency.ts";
import { problem, sseEvents, startTestServer, type TestServer } from "./test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const key = (value: string) => ({ "idempotency-key": value });
const count = async (): Promise<number> =>
  (await server.json<{ sessions: Session[] }>("GET", "/v1/sessions?limit=500")).sessions.length;

describe("Idempotency-Key", () => {
  it("gives the first reply again, and does nothing twice", async () => {
    const before = await count();
    const body = { agent: "mock", directory: server.dataDir };
    const first = await server.call("POST", "/v1/sessions", body, key("a"));
    const second = await server.call("POST", "/v1/sessions", body, key("a"));
    expect([second.status, second.text]).toEqual([first.status, first.text]);
    expect([first.headers["idempotent-replayed"], second.headers["idempotent-replayed"]]).toEqual([undefined, "true"]);
    expect(second.headers["content-type"]).toBe(first.headers["content-type"]);
    expect(await count()).toBe(before + 1);
  });

  it("two at once make one", async () => {
    const before = await count();
    const body = { agent: "mock", directory: server.dataDir };
    const replies = await Promise.all(Array.from({ length: 5 }, () => server.call("POST", "/v1/sessions", body, key("b"))));
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(await count()).toBe(before + 1);
  });

  it("refuses another body, and knows callers and routes apart", async () => {
    const { session_id: id } = await server.createSession();
    const path = `/v1/sessions/${id}/messages`;
    expect((await server.call("POST", path, { message: "say one" }, key("c"))).status).toBe(202);
    expect(problem(await server.call("POST", path, { message: "say two" }, key("c"))).code).toBe("idempotency_conflict");
    const other = await server.createSession();
    expect(
      (await server.call("POST", `/v1/sessions/${other.session_id}/messages`, { message: "say two" }, key("c"))).status,
    ).toBe(202);
    expect(problem(await server.call("POST", path, { message: "x" }, key("x".repeat(300)))).code).toBe("invalid_request");
  });

  it("an attempt that the log answers late does not miss the one that was begun and ended meanwhile", async () => {
    const { documents } = server.core.log;
    let answer = (): void => {};
    let late: Promise<void> | null = new Promise((resolve) => {
      answer = resolve;
    });
    const get = async (kind: string, id: string): Promise<string | undefined> => {
      const wait = late;
      late = null;
      const body = await documents.get(kind, id);
      await wait;
      return body;
    };
    const slow = new Proxy(documents, {
      get: (target, name) => {
        if (name === "get") return get;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const keys = new Idempotency({ ...server.core.log, documents: slow });
    const attempt = async (): Promise<unknown> => {
      const began = await keys.begin("late", "request", { resumable: true });
      await keys.keep("late", { request: "request", status: 503, type: "", body: "" });
      return began;
    };
    const both = [attempt(), attempt()];
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    answer();
    expect((await Promise.all(both)).toSorted()).toEqual(["again", null]);
  });

  /** What the log holds when the daemon dies after the command and before its reply is kept. */
  const forgetReply = async (before: ReadonlySet<string>): Promise<void> => {
    const { documents } = server.core.log;
    for (const { id, body } of await documents.list("idempotency")) {
      const { request } = JSON.parse(body) as { request: string };
      if (!before.has(id)) documents.put("idempotency", id, JSON.stringify({ request }));
    }
  };
  const known = async (): Promise<Set<string>> =>
    new Set((await server.core.log.documents.list("idempotency")).map(({ id }) => id));

  it("does not carry out again what a dead daemon had begun", async () => {
    const { session_id: id } = await server.createSession();
    const before = await known();
    const path = `/v1/sessions/${id}/fork`;
    await server.call("POST", path, {}, key("died"));
    await forgetReply(before);
    expect(problem(await server.call("POST", path, {}, key("died"))).code).toBe("idempotency_unknown");
    expect(problem(await server.call("POST", path, { title: "x" }, key("died"))).code).toBe("idempotency_conflict");
  });

  it("a message that a dead daemon had begun to accept: the session knows whether it did, and it has one turn", async () => {
    const { session_id: id } = await server.createSession();
    const path = `/v1/sessions/${id}/messages`;
    const body = { message: "say one" };
    const send = () => server.call("POST", path, body, key("message"));
    const before = await known();
    const first = await send();
    await forgetReply(before);
    const second = await send();
    expect([second.status, second.text]).toEqual([202, first.text]);
    // It died before it accepted anything: the note alone is there.
    const stopped = await server.createSession();
    const other = `/v1/sessions/${stopped.session_id}/messages`;
    const noted = await known();
    await server.call("POST", other, { message: "say two", when_busy: "reject", command: true }, key("early"));
    await forgetReply(noted);
    const turnsOf = async (session: string): Promise<number> =>
      (await server.json<{ events: unknown[] }>("GET", `/v1/sessions/${session}/events?types=message.queued`)).events.length;
    expect(await turnsOf(id)).toBe(1);
    expect(await turnsOf(stopped.session_id)).toBe(0);
    expect(problem(await server.call("POST", other, { message: "say two", when_busy: "steer" }, key("early"))).code).toBe(
      "idempotency_conflict",
    );
  });

  it("keeps refusals and empty replies too", async () => {
    const { session_id: id } = await server.createSession();
    const path = `/v1/sessions/${id}/permissions/none/reply`;
    const first = await server.call("POST", path, { reply: "once" }, key("d"));
    const second = await server.call("POST", path, { reply: "once" }, key("d"));
    expect([first.status, second.status, second.text]).toEqual([404, 404, first.text]);
    expect(second.headers["content-type"]).toBe("application/problem+json");
    for (const replayed of [undefined, "true"]) {
      const reply = await server.call("POST", `/v1/sessions/${id}/terminate`, undefined, key("e"));
      expect([reply.status, reply.text, reply.headers["idempotent-replayed"]]).toEqual([204, "", replayed]);
    }
  });

  it("opens the stream of the same turn again", async () => {
    const { session_id: id } = await server.createSession();
    const path = `/v1/sessions/${id}/messages/stream`;
    const first = await server.call("POST", path, { message: "say one" }, key("f"));
    const second = await server.call("POST", path, { message: "say one" }, key("f"));
    expect(sseEvents(second.text)).toEqual(sseEvents(first.text));
    expect(problem(await server.call("POST", path, { message: "say two" }, key("f"))).code).toBe("idempotency_conflict");
    const { turn_id } = await server.json<MessageAccepted>("POST", `/v1/sessions/${id}/messages`, { message: "say two" });
    expect(turn_id).not.toBe(first.headers["x-turn-id"]);
  });
});
