import { once } from "node:events";
import { globalAgent } from "node:http";
import { type AddressInfo, connect, createServer } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { startModelServer } from "../verify/model-server/model-server.ts";
import { scenario } from "../verify/model-server/test-client.ts";
import { ResponsesClient, type StreamedResponse } from "./client.ts";
import { compact } from "./compact.ts";
import type { ResponsesError } from "./errors.ts";
import { KNOWN_EVENT_TYPES } from "./event-types.ts";
import type { ReceivedEvent } from "./provider-event.ts";
import { type Answer, block, conformingEvents, message, resource, sendStream, startEndpoint, streamOf } from "./test-endpoint.ts";

const BODY = JSON.stringify({ model: "m", input: "hi", stream: true });
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function endpoint(answer: Answer) {
  const started = await startEndpoint(answer);
  closers.push(started.close);
  return started;
}

async function ask(baseUrl: string, more: object = {}, signal?: AbortSignal) {
  const events: ReceivedEvent[] = [];
  const bytes: Buffer[] = [];
  let outcome: StreamedResponse | ResponsesError;
  try {
    outcome = await new ResponsesClient({ baseUrl, ...more }).stream(BODY, {
      onEvent: (event) => void events.push(event),
      onBytes: (chunk) => void bytes.push(chunk),
      ...(signal ? { signal } : {}),
    });
  } catch (error) {
    outcome = error as ResponsesError;
  }
  return { outcome, events, bytes: Buffer.concat(bytes).toString() };
}

describe("ResponsesClient", () => {
  it("reads a stream, keeps its bytes and gives items and usage", async () => {
    const text = streamOf(conformingEvents());
    const { baseUrl, requests } = await endpoint((response) => sendStream(response, text));
    const { outcome, events, bytes } = await ask(baseUrl, { apiKey: "secret", headers: { "x-team": "a" } });
    expect(outcome).toMatchObject({ kind: "completed", usage: { input: 10, output: 5, cached: 4, reasoning: 2 } });
    expect((outcome as StreamedResponse).items).toHaveLength(2);
    expect(bytes).toBe(text);
    expect(events.map((event) => event.bytes.toString()).join("")).toBe(text);
    expect(requests[0]).toMatchObject({
      path: "/v1/responses",
      body: BODY,
      headers: { authorization: "Bearer secret", "x-team": "a", accept: "text/event-stream" },
    });
  });

  it("talks to the scripted model server: tools, reasoning, refusal and phases", async () => {
    const server = await startModelServer({
      scenarios: [
        scenario("all", [
          {
            blocks: [
              { type: "thinking", text: "hm" },
              { type: "text", text: "on it", phase: "commentary" },
              { type: "tool", native_name: "read", input: { path: "a" } },
              { type: "native_event", event: "acme:note", data: { type: "acme:note", sequence_number: 99 } },
            ],
          },
        ]),
      ],
      default: "all",
    });
    closers.push(() => server.close());
    const { outcome, events } = await ask(`${server.url}/v1`);
    expect(outcome).toMatchObject({
      kind: "completed",
      items: [{ type: "reasoning" }, { type: "message" }, { type: "function_call" }],
    });
    expect(events.some((event) => event.data?.type === "acme:note")).toBe(true);
    expect(events.flatMap((event) => event.errors).filter((error) => !error.startsWith("[OR1]"))).toEqual([]);
  });

  it("endpoint down: says that it cannot be reached", async () => {
    const port = await freePort();
    const { outcome } = await ask(`http://127.0.0.1:${port}/v1`);
    expect(outcome).toMatchObject({ code: "unreachable", retryable: true });
    expect((outcome as ResponsesError).message).toContain("is the endpoint running?");
  });

  it("wrong key, unknown model, wrong path: says which", async () => {
    const bodies: Record<string, [number, unknown]> = {
      auth: [401, { error: { message: "Incorrect API key provided", type: "invalid_request_error", code: "invalid_api_key" } }],
      model_unknown: [404, { error: { message: "model 'm' not found", type: "not_found_error" } }],
      not_found: [404, "<html><head><title>Nothing here</title></head></html>"],
      rate_limit: [429, { error: { message: "slow down", code: "rate_limit_exceeded" } }],
      quota: [429, { error: { message: "no credit", code: "insufficient_quota" } }],
      context_overflow: [400, { error: { message: "too long", code: "context_length_exceeded" } }],
      invalid_request: [422, { detail: [{ msg: "field required" }] }],
      server_error: [503, "overloaded"],
    };
    const { baseUrl } = await endpoint((response, { headers }) => {
      const [status, body] = bodies[String(headers["x-case"])] ?? [500, ""];
      response.writeHead(status, { "retry-after": "2" });
      response.end(typeof body === "string" ? body : JSON.stringify(body));
    });
    for (const [code, [status]] of Object.entries(bodies)) {
      const { outcome } = await ask(baseUrl, { headers: { "x-case": code } });
      expect(outcome, code).toMatchObject({ code, status, retryAfterMs: 2000 });
    }
    bodies.too_large = [413, { error: { message: "Payload too large" } }];
    expect((await ask(baseUrl, { headers: { "x-case": "too_large" } })).outcome).toMatchObject({ code: "context_overflow" });
    const { outcome } = await ask(baseUrl, { headers: { "x-case": "model_unknown" } });
    expect((outcome as ResponsesError).message).toContain('does not know the model "m"');
  });

  it("HTML instead of a stream: not an endpoint, and its title is told", async () => {
    const { baseUrl } = await endpoint((response) => {
      response.writeHead(200, { "content-type": "text/html" });
      response.end("<html><title>Sign in</title><body>…</body></html>");
    });
    const { outcome } = await ask(baseUrl);
    expect(outcome).toMatchObject({ code: "not_a_stream", retryable: false });
    expect((outcome as ResponsesError).message).toContain("Sign in");
  });

  it("HTML with the content type of a stream: cut, and nothing is taken for an event", async () => {
    const { baseUrl } = await endpoint((response) => sendStream(response, "<html>\n\n<body>\n\n</html>"));
    expect(await ask(baseUrl)).toMatchObject({ outcome: { code: "cut" }, events: [] });
  });

  it("redirect: is not followed", async () => {
    const { baseUrl, requests } = await endpoint((response) => {
      response.writeHead(307, { location: "https://elsewhere.example/v1/responses" });
      response.end();
    });
    expect((await ask(baseUrl, { apiKey: "secret" })).outcome).toMatchObject({ code: "redirected" });
    expect(requests).toHaveLength(1);
  });

  it("stream that stops: cut in good order, by the socket, and in the middle of an event", async () => {
    const text = streamOf(conformingEvents().slice(0, 6), false);
    const answers: Answer[] = [
      (response) => sendStream(response, text),
      (response) => sendStream(response, `${text}data: {"half`),
      (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(text, () => response.socket?.destroy());
      },
    ];
    for (const answer of answers) {
      const { baseUrl } = await endpoint(answer);
      const { outcome, events } = await ask(baseUrl);
      expect(outcome).toMatchObject({ code: "cut", retryable: true });
      expect(events).toHaveLength(6);
    }
  });

  it("stream that falls silent: stalled; headers that never come: stalled", async () => {
    const silent = await endpoint((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(streamOf(conformingEvents().slice(0, 2), false));
    });
    expect((await ask(silent.baseUrl, { timeouts: { idleMs: 50 } })).outcome).toMatchObject({ code: "stalled", retryable: true });
    const mute = await endpoint(() => {});
    expect((await ask(mute.baseUrl, { timeouts: { headersMs: 50 } })).outcome).toMatchObject({ code: "stalled" });
  });

  it("a slow reader is not a silent server", async () => {
    const { baseUrl } = await endpoint((response) => sendStream(response, streamOf(conformingEvents())));
    let waited = false;
    const outcome = await new ResponsesClient({ baseUrl, timeouts: { idleMs: 300 } }).stream(BODY, {
      onEvent: async () => {
        if (waited) return;
        waited = true;
        await new Promise((resolve) => setTimeout(resolve, 900));
      },
    });
    expect(outcome.kind).toBe("completed");
  });

  it("abort: before, while it waits and while it streams", async () => {
    const { baseUrl } = await endpoint((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(streamOf(conformingEvents().slice(0, 2), false));
    });
    const early = AbortSignal.abort();
    expect((await ask(baseUrl, {}, early)).outcome).toMatchObject({ code: "aborted", retryable: false });
    const controller = new AbortController();
    const running = new ResponsesClient({ baseUrl }).stream(BODY, {
      signal: controller.signal,
      onEvent: () => controller.abort(),
    });
    await expect(running).rejects.toMatchObject({ code: "aborted" });
  });

  it("an event of 20 MB passes whole; one over the limit is cut and annotated", async () => {
    const events = conformingEvents();
    const big = { type: "acme:blob", sequence_number: 3, data: "x".repeat(20_000_000) };
    const text = streamOf([...events.slice(0, 3), big, ...events.slice(4).map((event) => ({ ...event }))]);
    const { baseUrl } = await endpoint((response) => sendStream(response, text));
    const whole = await ask(baseUrl);
    expect(whole.outcome).toMatchObject({ kind: "completed" });
    expect(String(whole.events[3]?.data?.data)).toHaveLength(20_000_000);
    const cut = await ask(baseUrl, { maxEventBytes: 1_000_000 });
    expect(cut.outcome).toMatchObject({ kind: "completed" });
    expect(cut.events[3]).toMatchObject({ status: "invalid_json", errors: [expect.stringContaining("over the limit")] });
    expect(cut.events).toHaveLength(whole.events.length);
  });

  it("invalid JSON in the middle: kept, and the stream goes on", async () => {
    const events = conformingEvents();
    const text = `${streamOf(events.slice(0, 4), false)}data: {"this is": not JSON,\n\n${streamOf(events.slice(4))}`;
    const { baseUrl } = await endpoint((response) => sendStream(response, text));
    const { outcome, events: seen } = await ask(baseUrl);
    expect(outcome).toMatchObject({ kind: "completed" });
    expect(seen[4]).toMatchObject({ status: "invalid_json", raw: '{"this is": not JSON,' });
  });

  it("JSON nested too deeply for anybody to walk over: kept, and the stream goes on", async () => {
    const deep = (levels: number) => `{"type":"acme:deep","sequence_number":3,"x":${"[".repeat(levels)}"]"${"]".repeat(levels)}}`;
    const text = streamOf(conformingEvents()).replace(
      "event: response.completed",
      `data: ${deep(100_000)}\n\ndata: ${deep(150)}\n\nevent: response.completed`,
    );
    const { baseUrl } = await endpoint((response) => sendStream(response, text));
    const { outcome, events, bytes } = await ask(baseUrl);
    expect(outcome).toMatchObject({ kind: "completed" });
    expect(bytes).toBe(text);
    expect(events.filter(({ status }) => status === "invalid_json").map(({ raw }) => raw)).toEqual([deep(100_000)]);
    expect(events.some(({ text: payload, status }) => payload === deep(150) && status === "event")).toBe(true);
  });

  it("abort while the last bytes of a complete answer are read: no error that nobody listens for", async () => {
    const { baseUrl } = await endpoint((response) => sendStream(response, streamOf(conformingEvents())));
    for (const reader of ["goes on", "fails"]) {
      const abort = new AbortController();
      const reading = new ResponsesClient({ baseUrl }).stream(BODY, {
        signal: abort.signal,
        onEvent: ({ status }) => {
          if (status !== "done") return;
          abort.abort();
          if (reader === "fails") throw new Error("The reader has failed.");
        },
      });
      if (reader === "fails") await expect(reading).rejects.toThrow("The reader has failed.");
      else await expect(reading).resolves.toMatchObject({ kind: "completed" });
    }
  });

  it("drops nothing: every known type, extensions, unknown types and garbage come out, byte for byte", async () => {
    const inside = KNOWN_EVENT_TYPES.filter((type) => !/^(response\.(created|completed|failed|incomplete)|error)$/.test(type));
    const [created, ...rest] = conformingEvents();
    const strange = [...inside, "acme:thing", "response.brand_new", "constructor", "__proto__"].map((type) => block({ type }));
    const text = [
      block(created),
      ...strange,
      "data: {nope\n\n",
      'data: "text"\n\n',
      "event: only-a-name\n\n",
      ": comment\n\n",
      ...rest.map((event) => block(event)),
      "data: [DONE]\n\n",
    ].join("");
    const { baseUrl } = await endpoint((response) => sendStream(response, text));
    const { outcome, events, bytes } = await ask(baseUrl);
    expect(outcome).toMatchObject({ kind: "completed" });
    expect(bytes).toBe(text);
    // All blocks but the one without data and the comment.
    expect(events).toHaveLength(text.split("\n\n").length - 1 - 2);
    expect(events.map((event) => event.data?.type)).toEqual(expect.arrayContaining([...inside, "acme:thing", "constructor"]));
    expect(events.filter((event) => event.status === "invalid_json")).toHaveLength(2);
  });

  it("failed, error, incomplete and a stream without [DONE]", async () => {
    const [created] = conformingEvents();
    const failed = resource("failed", { error: { code: "rate_limit_exceeded", message: "later" } });
    const answers: Record<string, string> = {
      failed: streamOf([created, { type: "response.failed", sequence_number: 1, response: failed }]),
      error: streamOf([created, { type: "error", sequence_number: 1, code: "server_error", message: "m", param: null }], false),
      incomplete: streamOf([
        created,
        {
          type: "response.incomplete",
          sequence_number: 1,
          response: resource("incomplete", {
            incomplete_details: { reason: "max_output_tokens" },
            output: [message("cut", "incomplete")],
          }),
        },
      ]),
      unmarked: streamOf(conformingEvents(), false),
    };
    const { baseUrl } = await endpoint((response, { headers }) => sendStream(response, answers[String(headers["x-case"])] ?? ""));
    const outcome = async (name: string) => (await ask(baseUrl, { headers: { "x-case": name } })).outcome;
    expect(await outcome("failed")).toMatchObject({ code: "rate_limit", retryable: true });
    expect(await outcome("error")).toMatchObject({ code: "server_error" });
    expect(await outcome("incomplete")).toMatchObject({ kind: "incomplete", items: [{ status: "incomplete" }] });
    expect(await outcome("unmarked")).toMatchObject({ kind: "completed" });
  });

  it("does not wait for a connection that stays open after [DONE]", async () => {
    const { baseUrl } = await endpoint((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(streamOf(conformingEvents()));
    });
    expect((await ask(baseUrl)).outcome).toMatchObject({ kind: "completed" });
  });

  it("a response that has ended counts, though no mark follows and the connection stays open or breaks", async () => {
    const text = streamOf(conformingEvents()).replace(/data: \[DONE\]\s*$/, "");
    expect(text).not.toContain("[DONE]");
    const { baseUrl } = await endpoint((response, { headers }) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(text, () => {
        if (headers["x-case"] === "breaks") response.destroy();
      });
    });
    const outcome = async (name: string) => (await ask(baseUrl, { headers: { "x-case": name } })).outcome;
    expect(await outcome("stays")).toMatchObject({ kind: "completed", items: [{}, {}] });
    expect(await outcome("breaks")).toMatchObject({ kind: "completed", items: [{}, {}] });
  });

  it("asks again over the same connection when the answer ends after [DONE]", async () => {
    const { baseUrl, requests } = await endpoint((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(streamOf(conformingEvents()), () => response.end());
    });
    const free = once(globalAgent, "free");
    expect((await ask(baseUrl)).outcome).toMatchObject({ kind: "completed" });
    await free;
    expect((await ask(baseUrl)).outcome).toMatchObject({ kind: "completed" });
    expect(requests).toHaveLength(2);
    expect(requests[1]?.port).toBe(requests[0]?.port);
  });

  it("asks over a new connection when the server has closed the one of the request before", async () => {
    let connections = 0;
    const text = streamOf(conformingEvents());
    const server = createServer((socket) => {
      connections += 1;
      let requests = 0;
      socket.on("error", () => {});
      socket.on("data", (chunk) => {
        if (!chunk.toString().endsWith(BODY)) return;
        requests += 1;
        if (requests > 1) return void socket.resetAndDestroy();
        socket.write(
          `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
        );
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closers.push(async () => void server.close());
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const free = once(globalAgent, "free");
    expect((await ask(baseUrl)).outcome).toMatchObject({ kind: "completed" });
    await free;
    expect((await ask(baseUrl)).outcome).toMatchObject({ kind: "completed" });
    expect(connections).toBe(2);
  });

  it("understands a proxy that compresses all the same", async () => {
    const { baseUrl } = await endpoint((response) => {
      response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" });
      response.end(gzipSync(streamOf(conformingEvents())));
    });
    expect((await ask(baseUrl)).outcome).toMatchObject({ kind: "completed" });
  });

  it("refuses a base URL that is none", async () => {
    expect((await ask("localhost:11434")).outcome).toMatchObject({ code: "invalid_request" });
  });

  it("compacts where the endpoint can", async () => {
    const item = { type: "compaction", id: "cmp_1", encrypted_content: "…" };
    const { baseUrl, requests } = await endpoint((response, { path }) => {
      response.writeHead(path.endsWith("/compact") ? 200 : 404, { "content-type": "application/json" });
      response.end(JSON.stringify({ id: "c", object: "response.compaction", created_at: 1, output: [item] }));
    });
    const client = new ResponsesClient({ baseUrl });
    expect(await compact(client, { model: "m", input: "hi" })).toEqual([item]);
    expect(requests[0]?.path).toBe("/v1/responses/compact");
  });

  it("an answer of a JSON call that is no JSON is an error", async () => {
    const { baseUrl } = await endpoint((response) => sendStream(response, block({ type: "x" })));
    await expect(new ResponsesClient({ baseUrl }).json("GET", "/models")).rejects.toMatchObject({ code: "not_a_stream" });
  });
});

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  await new Promise((resolve) => server.close(resolve));
  const probe = connect(port, "127.0.0.1");
  await new Promise((resolve) => probe.once("error", resolve));
  return port;
}
