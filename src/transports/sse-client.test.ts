import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { openSse, type SseConnection, type SseOptions } from "./sse-client.ts";

let server: Server | undefined;
let connection: SseConnection | undefined;
afterEach(async () => {
  connection?.close();
  await connection?.ended;
  server?.closeAllConnections();
  server?.close();
});

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** The n-th connection is served by the n-th handler; the last one serves all that follow. */
async function serve(...handlers: Handler[]): Promise<string> {
  let count = 0;
  const made = createServer((request, response) => {
    handlers[Math.min(count++, handlers.length - 1)]?.(request, response);
  });
  server = made;
  await new Promise<void>((resolve) => made.listen(0, "127.0.0.1", resolve));
  const address = made.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
}

const stream = (response: ServerResponse) => response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });

/** Connects, and resolves with the story so far once `last` is reported. */
function story(url: string, last: string, options: Partial<SseOptions> = {}): Promise<string[]> {
  const told: string[] = [];
  return new Promise((resolve) => {
    const tell = (line: string) => {
      told.push(line);
      if (line === last) resolve(told);
    };
    connection = openSse({
      url,
      retryMs: 2,
      maxRetryMs: 10,
      onOpen: ({ reconnected, lastEventId }) => tell(reconnected ? `open again after ${lastEventId}` : "open"),
      onEvent: ({ event, data }) => tell(`${event}: ${data}`),
      onOversize: (bytes) => tell(`oversize ${bytes}`),
      onDisconnect: (reason) => tell(`lost: ${reason.kind}`),
      onEnd: (reason) => tell(`end: ${reason.kind}`),
      ...options,
    });
  });
}

describe("openSse", () => {
  it("stops reading while it is paused, so that the server waits, and goes on where it was", async () => {
    const block = `data: ${"x".repeat(100_000)}\n\n`;
    let sent = 0;
    let got = 0;
    let blocked: () => void = () => {};
    const serverWaits = new Promise<void>((resolve) => {
      blocked = resolve;
    });
    const TOTAL = 400;
    const url = await serve((_, response) => {
      stream(response);
      const write = (): void => {
        while (sent < TOTAL) {
          sent++;
          if (response.write(block)) continue;
          // Longer than the time without a word that a connection is given: while it is paused, that does not count.
          const waiting = setInterval(() => got > 0 && blocked(), 1_500);
          response.once("drain", () => {
            clearInterval(waiting);
            write();
          });
          return;
        }
        response.end("event: last\ndata: done\n\n");
      };
      write();
    });
    const done = new Promise<void>((resolve) => {
      connection = openSse({
        url,
        idleTimeoutMs: 1_000,
        onEvent: ({ event }) => {
          got++;
          if (got === 1) connection?.setPaused(true);
          if (event === "last") resolve();
        },
      });
    });
    await serverWaits;
    expect(sent).toBeLessThan(TOTAL);
    const before = got;
    connection?.setPaused(false);
    await done;
    expect(before).toBeLessThan(sent);
    // Nothing twice, nothing missing, no reconnect although it was silent for longer than the limit.
    expect(got).toBe(TOTAL + 1);
  });

  it("can be closed while it is paused", async () => {
    const url = await serve((_, response) => void stream(response).write("data: one\n\n"));
    await story(url, "message: one");
    connection?.setPaused(true);
    connection?.close();
    expect(await connection?.ended).toEqual({ kind: "aborted" });
  });

  it("reconnects where it was, and says so", async () => {
    const asked: unknown[] = [];
    const url = await serve(
      (request, response) => {
        asked.push(request.headers["last-event-id"]);
        stream(response).end("id: 41\nevent: delta\ndata: one\n\ndata: cut");
      },
      (request, response) => {
        asked.push(request.headers["last-event-id"]);
        request.socket.destroy();
        response.destroy();
      },
      (request, response) => {
        asked.push(request.headers["last-event-id"]);
        stream(response).write("data: two\n\n");
      },
    );
    expect(await story(url, "message: two")).toEqual([
      "open",
      "delta: one",
      "lost: stream_ended",
      "lost: network",
      "open again after 41",
      "message: two",
    ]);
    expect(asked).toEqual([undefined, "41", "41"]);
  });

  it("keeps characters whole that were split between packets", async () => {
    const bytes = Buffer.from("data: 💥 grüße\n\n");
    const url = await serve((_request, response) => {
      stream(response).write(bytes.subarray(0, 8));
      setImmediate(() => response.write(bytes.subarray(8)));
    });
    expect(await story(url, "message: 💥 grüße")).toEqual(["open", "message: 💥 grüße"]);
  });

  it("sends the caller's headers", async () => {
    const url = await serve((request, response) => {
      stream(response).write(`data: ${request.headers.authorization} ${request.headers.accept}\n\n`);
    });
    const last = "message: Bearer t text/event-stream";
    expect(await story(url, last, { headers: { authorization: "Bearer t" } })).toContain(last);
  });

  it("leaves a silent server and comes back", async () => {
    const url = await serve(
      (_request, response) => stream(response).write("data: hello\n\n"),
      (_request, response) => stream(response).write("data: back\n\n"),
    );
    expect(await story(url, "message: back", { idleTimeoutMs: 60 })).toEqual([
      "open",
      "message: hello",
      "lost: idle_timeout",
      "open again after null",
      "message: back",
    ]);
  });

  it("leaves out an event over the limit and goes on", async () => {
    const url = await serve((_request, response) => stream(response).write(`data: ${"x".repeat(500)}\n\ndata: small\n\n`));
    expect(await story(url, "message: small", { maxEventBytes: 100 })).toEqual(["open", "oversize 506", "message: small"]);
  });

  it("retries when the server is overloaded or broken", async () => {
    const url = await serve(
      (_request, response) => response.writeHead(503).end(),
      (_request, response) => response.writeHead(429).end(),
      (_request, response) => stream(response).write("retry: 5\ndata: at last\n\n"),
    );
    expect(await story(url, "message: at last")).toEqual(["lost: http_status", "lost: http_status", "open", "message: at last"]);
  });

  it.each([
    [401, "text/plain", "end: http_status"],
    [204, "text/event-stream", "end: http_status"],
    [200, "text/html", "end: wrong_content_type"],
  ])("ends for good at %i %s", async (status, type, last) => {
    const url = await serve((_request, response) => response.writeHead(status, { "content-type": type }).end());
    expect(await story(url, last)).toEqual([last]);
  });

  it("gives up after the retries it was allowed", async () => {
    const url = await serve((_request, response) => response.writeHead(500).end("broken"));
    expect(await story(url, "end: http_status", { maxRetries: 2 })).toEqual([
      "lost: http_status",
      "lost: http_status",
      "end: http_status",
    ]);
    expect(await connection?.ended).toEqual({ kind: "http_status", status: 500, body: "broken" });
  });

  it("ends when closed or aborted: connected, waiting to retry, or before the start", async () => {
    const url = await serve((_request, response) => stream(response).write("data: x\n\n"));
    await story(url, "message: x");
    connection?.close();
    expect(await connection?.ended).toEqual({ kind: "aborted" });

    server?.closeAllConnections();
    await new Promise((resolve) => server?.close(resolve));
    const controller = new AbortController();
    await story(url, "lost: network", { signal: controller.signal, retryMs: 1_000_000, maxRetryMs: 1_000_000 });
    controller.abort();
    expect(await connection?.ended).toEqual({ kind: "aborted" });

    expect(await story(url, "end: aborted", { signal: controller.signal })).toEqual(["end: aborted"]);
  });

  it("backs off between half and all of the doubled delay, up to the maximum", async () => {
    const url = await serve((_request, response) => response.writeHead(500).end());
    const waits: number[] = [];
    await story(url, "end: http_status", {
      retryMs: 4,
      maxRetryMs: 20,
      maxRetries: 5,
      onDisconnect: (_reason, wait) => waits.push(wait),
    });
    expect(waits).toHaveLength(5);
    for (const [index, full] of [4, 8, 16, 20, 20].entries()) {
      expect(waits[index]).toBeGreaterThanOrEqual(full / 2);
      expect(waits[index]).toBeLessThanOrEqual(full);
    }
  });
});
