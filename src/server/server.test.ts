import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkGrammar } from "../schema/grammar.ts";
import { sseEvents, startTestServer, type TestServer } from "./test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

describe("a session over HTTP", () => {
  it("is created, driven, streamed and ended", async () => {
    const created = await server.call("POST", "/v1/sessions", { agent: "mock", directory: server.dataDir });
    expect(created.status).toBe(201);
    const { session_id: id } = JSON.parse(created.text);
    expect(created.headers.location).toBe(`/v1/sessions/${id}`);
    const turn = await server.play(id, "say hello there");
    expect(turn.at(0)?.type).toBe("turn.started");
    expect(turn.at(-1)?.type).toBe("turn.ended");
    const live = server.call("GET", `/v1/sessions/${id}/events/sse`);
    expect((await server.call("POST", `/v1/sessions/${id}/terminate`)).status).toBe(204);
    const events = sseEvents((await live).text);
    expect(events.at(-1)?.type).toBe("session.ended");
    expect(checkGrammar(events)).toEqual([]);
  });
});

describe("listening", () => {
  it("a port that is taken is the system's error, and an IPv6 or wildcard address is shown so that it can be opened", async () => {
    await expect(startTestServer({}, { host: "127.0.0.1", port: server.port })).rejects.toMatchObject({ code: "EADDRINUSE" });
    const wide = await startTestServer({}, { host: "0.0.0.0", port: 0 });
    expect(wide.url).toBe(`http://127.0.0.1:${wide.port}`);
    expect((await wide.raw("GET", "/v1/health", { host: `127.0.0.1:${wide.port}` })).status).toBe(200);
    expect((await wide.raw("GET", "/v1/health", { host: "192.0.2.7" })).status).toBe(403);
    await wide.close();
  });
});
