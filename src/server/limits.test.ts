import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { descriptorAdvice } from "./descriptors.ts";
import { ownTurn, paced } from "./pacing.ts";
import type { TokenRow, TokenTable } from "./shared-tokens.ts";
import { startTestServer, type TestServer } from "./test-server.ts";
import { TokenStore } from "./token-store.ts";

let server: TestServer | null = null;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.close();
  server = null;
});

/** A raw connection, with all that came so far. */
async function open(
  port: number,
): Promise<{ socket: Socket; text(): string; until(pattern: RegExp): Promise<void>; closed: Promise<void> }> {
  const socket = connect({ port, host: "127.0.0.1" });
  sockets.push(socket);
  let text = "";
  let check = (): void => {};
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
    check();
  });
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  await new Promise((resolve) => socket.once("connect", resolve));
  const until = (pattern: RegExp): Promise<void> =>
    new Promise((resolve) => {
      check = () => {
        if (pattern.test(text)) resolve();
      };
      check();
    });
  return { socket, text: () => text, until, closed };
}

describe("the size of a body", () => {
  it("is small where no token is needed, and larger only for routes that take large ones", async () => {
    server = await startTestServer({ limits: { body_bytes: 8 * 1024 * 1024, subscribers: 10 } });
    const { raw, call, createSession } = server;
    const json = { "content-type": "application/json" };
    expect((await raw("POST", "/v1/auth/page", json, JSON.stringify({ token: "x".repeat(5_000) }))).status).toBe(413);
    expect((await raw("POST", "/v1/nothing", json, "x".repeat(5_000))).status).toBe(404);
    expect((await raw("POST", "/v1/sessions", json, "x".repeat(5_000))).status).toBe(401);
    const session = await createSession();
    const text = "x".repeat(2 * 1024 * 1024);
    expect((await call("POST", `/v1/sessions/${session.session_id}/messages`, { message: text })).status).toBe(202);
    expect((await call("PATCH", `/v1/sessions/${session.session_id}`, { title: text })).status).toBe(413);
  });

  it("is not read when nobody knows the caller", async () => {
    server = await startTestServer();
    const { socket, until, closed } = await open(server.port);
    socket.write(
      "POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 900000\r\n\r\n{",
    );
    await until(/^HTTP\/1.1 401/);
    await closed;
  });
});

describe("one connection", () => {
  it("gets pipelined answers in order, each begun when the one before is over", async () => {
    server = await startTestServer();
    const session = await server.createSession();
    const { socket, until, text } = await open(server.port);
    const get = (path: string): string =>
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server?.token}\r\n\r\n`;
    socket.write(get(`/v1/sessions/${session.session_id}`) + get("/v1/nothing") + get("/v1/health") + get("/v1/sessions"));
    await until(/"sessions":\[/);
    expect(text().match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 404", "HTTP/1.1 200", "HTTP/1.1 200"]);
  });

  it("that sends hundreds of requests ahead is closed", async () => {
    server = await startTestServer();
    const { socket, closed } = await open(server.port);
    // The first never ends: a stream.
    const stream = `GET /v1/events/sse HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.token}\r\n\r\n`;
    socket.write(stream + "GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(1_000));
    await closed;
  });
});

describe("too many connections", () => {
  it("close the oldest idle one, never one that works for a valid token", async () => {
    server = await startTestServer({ limits: { body_bytes: 1024, subscribers: 5, connections: 10 } });
    const stream = await open(server.port);
    stream.socket.write(`GET /v1/events/sse HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.token}\r\n\r\n`);
    await stream.until(/retry:/);
    const first = await open(server.port);
    for (let i = 0; i < 20; i++) await open(server.port);
    await first.closed;
    expect((await server.call("GET", "/v1/sessions")).status).toBe(200);
    expect(stream.socket.destroyed).toBe(false);
  });
});

describe("requests at once", () => {
  it("do not count one whose caller went before it was known who calls", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "dragoman-limits-"));
    const rows: TokenRow[] = [];
    let answered = Promise.resolve();
    let asked = (): void => {};
    const table: TokenTable = {
      async since(version) {
        asked();
        await answered;
        return { version: rows.length, rows: rows.slice(version) };
      },
      put: async (more) => void rows.push(...more),
      take: async () => true,
    };
    const other = TokenStore.open({ dataDir: join(dataDir, "other"), shared: { node: "other", table } });
    const tokens = TokenStore.open({ dataDir: join(dataDir, "own"), shared: { node: "own", table } });
    try {
      const limits = { body_bytes: 1024 * 1024, subscribers: 10, concurrent_requests: 1 };
      server = await startTestServer({ tokens, limits });
      const root = other.list().find(({ role }) => role === "admin");
      if (!root) throw new Error("there is a root token");
      await other.saved();
      const { secret } = other.mint(root, { role: "observe", lifetimeMs: 60_000 });
      await other.saved();

      // The database takes its time, and the caller does not wait for it.
      let answer = (): void => {};
      answered = new Promise((resolve) => {
        answer = resolve;
      });
      const isAsked = new Promise<void>((resolve) => {
        asked = resolve;
      });
      const { socket, closed } = await open(server.port);
      const head = `GET /v1/auth HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${secret}\r\n\r\n`;
      socket.write(head);
      await isAsked;
      socket.destroy();
      await closed;
      for (let i = 0; i < 3; i++) expect((await server.raw("GET", "/v1/health")).status).toBe(200);
      answer();

      expect((await server.raw("GET", "/v1/auth", { authorization: `Bearer ${secret}` })).status).toBe(200);
    } finally {
      other.close();
      tokens.close();
      rmSync(dataDir, { recursive: true });
    }
  });
});

describe("long reads", () => {
  it("take turns: one a turn of the event loop, in the order they asked", async () => {
    const order: string[] = [];
    const reader = async (name: string): Promise<void> => {
      for (let step = 1; step <= 2; step++) {
        await ownTurn();
        order.push(name + step);
        setImmediate(() => order.push("-"));
      }
    };
    await Promise.all([reader("a"), reader("b")]);
    expect(order.filter((each) => each !== "-")).toEqual(["a1", "b1", "a2", "b2"]);
    expect(order.join("")).not.toMatch(/[ab]\d[ab]\d[ab]\d/);
  });

  it("leave turns between their steps, because the loop takes one new connection a turn", async () => {
    let turns = 0;
    let counting = true;
    const count = (): void => {
      turns += 1;
      if (counting) setImmediate(count);
    };
    count();
    const at: number[] = [];
    await Promise.all(Array.from({ length: 5 }, () => ownTurn().then(() => at.push(turns))));
    counting = false;
    const between = at.slice(1).map((turn, index) => turn - (at[index] ?? 0));
    expect(Math.min(...between)).toBeGreaterThanOrEqual(10);
  });

  it("keep their text, in pieces", async () => {
    const texts = Array.from({ length: 500 }, (_, i) => `${i}:${"x".repeat(i)}\n`);
    const pieces: string[] = [];
    for await (const piece of paced(texts)) pieces.push(piece);
    expect(pieces.join("")).toBe(texts.join(""));
    expect(pieces.length).toBeGreaterThan(1);
  });

  it("of a transcript give what the events add up to, also when asked twice at once", async () => {
    server = await startTestServer();
    const { session_id } = await server.createSession();
    await server.play(session_id, "say good morning");
    const [one, other] = await Promise.all(
      [0, 1].map(() => server?.json<{ items: unknown[]; last_sequence: number }>("GET", `/v1/sessions/${session_id}/items`)),
    );
    expect(one).toEqual(other);
    expect(one?.items.length).toBeGreaterThan(1);
    await server.play(session_id, "say good night");
    const later = await server.json<{ items: unknown[] }>("GET", `/v1/sessions/${session_id}/items`);
    expect(later.items.length).toBeGreaterThan(one?.items.length ?? 0);
  });
});

describe("open files", () => {
  it("that are too few are told with the way to have more", () => {
    expect(descriptorAdvice(200)).toContain("ulimit -n");
    expect(descriptorAdvice(256)).toBeNull();
  });
});
