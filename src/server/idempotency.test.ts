import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { MessageAccepted, Session } from "../schema/session.ts";
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

  it("does not carry out again what a dead daemon had begun", async () => {
    const { session_id: id } = await server.createSession();
    const path = `/v1/sessions/${id}/messages`;
    const body = { message: "say one" };
    const { documents } = server.core.log;
    const before = new Set((await documents.list("idempotency")).map(({ id: known }) => known));
    await server.call("POST", path, body, key("died"));
    // What the log holds when the daemon dies after the command and before its reply is kept.
    for (const { id: document, body: noted } of await documents.list("idempotency")) {
      const { request } = JSON.parse(noted) as { request: string };
      if (!before.has(document)) documents.put("idempotency", document, JSON.stringify({ request }));
    }
    expect(problem(await server.call("POST", path, body, key("died"))).code).toBe("idempotency_unknown");
    expect(problem(await server.call("POST", path, { message: "say two" }, key("died"))).code).toBe("idempotency_conflict");
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
