import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Fault } from "../../agents/scenario.ts";
import { type ModelServer, startModelServer } from "./model-server.ts";
import { bodies, post, postJson, postStream, postUntilBroken, readEvents, scenario } from "./test-client.ts";

const faults: Record<string, Fault> = {
  http: { kind: "http", status: 429, headers: { "retry-after": "7" } },
  body: { kind: "http", status: 418, body: { teapot: true } },
  overflow: { kind: "context_overflow" },
  cut: { kind: "cut", after_chunks: 2 },
  eof: { kind: "eof", after_chunks: 2 },
  error: { kind: "sse_error", after_chunks: 1, error_type: "overloaded_error", message: "busy" },
  garbage: { kind: "garbage", after_chunks: 1 },
  reset: { kind: "refuse_connection" },
  hang: { kind: "hang" },
  stall: { kind: "hang", after_chunks: 2 },
};
const broken = Object.entries(faults).map(([name, fault]) =>
  scenario(name, [{ blocks: [{ type: "text", text: "abcdef", chunks: 6 }], fault }]),
);

describe("faults", () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await startModelServer({ scenarios: broken });
  });
  afterAll(() => server.close());

  const ask = (name: string, stream = true) => ({ ...bodies.anthropic([{ user: `[[scenario:${name}]]` }]), stream });
  const deltas = (text: string): number => readEvents(text).filter((one) => one.event === "content_block_delta").length;

  it("sends the provider's own error for a status, with headers", async () => {
    const anthropic = await post(`${server.url}/v1/messages`, ask("http"));
    expect([anthropic.status, anthropic.headers.get("retry-after")]).toEqual([429, "7"]);
    expect(await anthropic.json()).toMatchObject({ type: "error", error: { type: "rate_limit_error" } });
    const user = [{ user: "[[scenario:http]]" }];
    expect(await postJson(`${server.url}/v1/chat/completions`, bodies.chat(user))).toMatchObject({
      error: { code: "rate_limit_exceeded" },
    });
    expect(await postJson(`${server.url}/v1/responses`, bodies.responses(user))).toMatchObject({
      error: { code: "rate_limit_exceeded" },
    });
    expect(await postJson(`${server.url}/v1/models/g:generateContent`, bodies.gemini(user))).toMatchObject({
      error: { code: 429, status: "RESOURCE_EXHAUSTED" },
    });
    expect(await postJson(`${server.url}/v1/messages`, ask("body"))).toEqual({ teapot: true });
  });

  it("says overflow as each provider does", async () => {
    const user = [{ user: "[[scenario:overflow]]" }];
    expect(JSON.stringify(await postJson(`${server.url}/v1/messages`, ask("overflow")))).toContain("prompt is too long");
    expect(JSON.stringify(await postJson(`${server.url}/v1/chat/completions`, bodies.chat(user)))).toContain(
      "context_length_exceeded",
    );
    expect(JSON.stringify(await postJson(`${server.url}/v1/models/g:generateContent`, bodies.gemini(user)))).toContain(
      "input token count",
    );
  });

  it("cuts the socket after so many pieces", async () => {
    const { text, broken: dead } = await postUntilBroken(`${server.url}/v1/messages`, ask("cut"));
    expect([deltas(text), dead]).toEqual([2, true]);
    await expect(post(`${server.url}/v1/messages`, ask("cut", false)).then((response) => response.json())).rejects.toThrow();
  });

  it("ends early in good order", async () => {
    const { text, broken: dead } = await postUntilBroken(`${server.url}/v1/messages`, ask("eof"));
    expect([deltas(text), dead, text.includes("message_stop")]).toEqual([2, false, false]);
  });

  it("puts an error event, or garbage, into the stream", async () => {
    const events = await postStream(`${server.url}/v1/messages`, ask("error"));
    expect(events.at(-1)?.data).toMatchObject({ type: "error", error: { type: "overloaded_error", message: "busy" } });
    const raw = await (await post(`${server.url}/v1/messages`, ask("garbage"))).text();
    expect(() => JSON.parse(readEvents(raw).at(-1)?.raw ?? "")).toThrow();
  });

  it("resets the connection before any answer", async () => {
    await expect(post(`${server.url}/v1/messages`, ask("reset"))).rejects.toThrow();
  });

  it("is silent until the client hangs up, and closes with clients still hanging", async () => {
    const own = await startModelServer({ scenarios: broken });
    const leaving = new AbortController();
    const hung = post(`${own.url}/v1/messages`, ask("hang"), {}, leaving.signal);
    await own.waitForRequest((request) => request.scenario === "hang");
    leaving.abort();
    await expect(hung).rejects.toThrow();

    const stalled = await post(`${own.url}/v1/messages`, ask("stall"));
    const reader = stalled.body?.getReader();
    let text = "";
    while (deltas(text) < 2) text += new TextDecoder().decode((await reader?.read())?.value);
    expect(text).not.toContain("message_stop");
    await own.close();
    await expect(reader?.read()).rejects.toThrow();
  });

  it("waits for requests to come, and gives up when told or closed", async () => {
    const own = await startModelServer({ scenarios: broken });
    const coming = own.waitForRequest((request) => request.scenario === "body");
    await post(`${own.url}/v1/messages`, ask("body"));
    expect((await coming).position).toMatchObject({ scenario: "body", turn: 0, step: 0 });
    const stop = new AbortController();
    const never = own.waitForRequest(() => false, stop.signal);
    stop.abort();
    await expect(never).rejects.toThrow("in time");
    const closed = own.waitForRequest(() => false);
    await Promise.all([own.close(), expect(closed).rejects.toThrow("closed")]);
  });

  it("remembers a bounded number of requests", async () => {
    const own = await startModelServer({ scenarios: broken, remember: 3 });
    for (let count = 0; count < 5; count++) await post(`${own.url}/v1/messages`, ask("body"));
    expect(own.requests.map((request) => request.index)).toEqual([2, 3, 4]);
    await own.close();
  });

  it("says what to do when no scenario fits", async () => {
    expect(JSON.stringify(await postJson(`${server.url}/v1/messages`, ask("nowhere")))).toContain('No scenario \\"nowhere\\"');
    expect(JSON.stringify(await postJson(`${server.url}/v1/messages`, bodies.anthropic([{ user: "hi" }])))).toContain(
      "[[scenario:NAME]]",
    );
    await expect(startModelServer({ scenarios: [...broken, ...broken] })).rejects.toThrow("rename one");
    const junk = await fetch(`${server.url}/v1/messages`, { method: "POST", body: "not json" });
    expect(junk.status).toBe(400);
  });
});
