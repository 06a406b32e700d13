import { createServer, type Server } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type AmpServer, startAmpServer } from "./amp-server.ts";

let model: Server;
let amp: AmpServer;

beforeEach(async () => {
  // Answers with what it was asked, or breaks off in the middle.
  model = createServer((request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream", "x-path": request.url ?? "" });
    response.write("data: one\n\n");
    if (request.url?.includes("cut")) setImmediate(() => response.destroy());
    else response.end("data: two\n\n");
  });
  await new Promise<void>((resolve) => model.listen(0, "127.0.0.1", () => resolve()));
  const address = model.address();
  amp = await startAmpServer({ modelUrl: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}` });
});

afterEach(async () => {
  await amp.close();
  model.closeAllConnections();
  await new Promise<void>((resolve) => model.close(() => resolve()));
});

const internal = async (method: string, params: unknown): Promise<unknown> => {
  const answer = await fetch(`${amp.url}/api/internal?${method}`, { method: "POST", body: JSON.stringify({ method, params }) });
  return answer.json();
};

describe("the stand-in of Amp's server", () => {
  it("keeps threads, so that another process can continue them", async () => {
    expect(await internal("getThread", { thread: "T-1" })).toMatchObject({ ok: false, error: { code: "thread-not-found" } });
    await internal("uploadThread", { thread: { id: "T-1", messages: [1] } });
    expect(await internal("getThread", { thread: "T-1" })).toEqual({
      ok: true,
      result: { thread: { data: { id: "T-1", messages: [1] } } },
    });
    expect(amp.methods).toEqual(["getThread", "uploadThread", "getThread"]);
  });

  it("answers what it does not know, so that no start-up fails on it", async () => {
    expect(await internal("getUserInfo", {})).toMatchObject({ ok: true, result: { features: [] } });
    expect(await internal("somethingNew", {})).toEqual({ ok: true, result: {} });
  });

  it("hands model requests on, with their path and stream", async () => {
    const answer = await fetch(`${amp.url}/api/provider/anthropic/v1/messages?beta=true`, { method: "POST", body: "{}" });
    expect(answer.headers.get("x-path")).toBe("/v1/messages?beta=true");
    expect(await answer.text()).toBe("data: one\n\ndata: two\n\n");
  });

  it("breaks off where the model breaks off", async () => {
    const answer = await fetch(`${amp.url}/api/provider/openai/v1/cut`, { method: "POST", body: "{}" });
    await expect(answer.text()).rejects.toThrow();
  });
});
