import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { problem, readSse, startTestServer, type TestServer } from "./test-server.ts";

let server: TestServer;
let bearer: { authorization: string };
let observe: { authorization: string };
let own: string;

beforeAll(async () => {
  server = await startTestServer({ allowOrigins: ["https://app.example.org"], allowHosts: ["daemon.internal"] });
  bearer = { authorization: `Bearer ${server.token}` };
  observe = { authorization: `Bearer ${server.tokens.secret("observe")}` };
  own = `127.0.0.1:${server.port}`;
});
afterAll(() => server.close());

/** Trades the token for a cookie, as the printed link does. */
const login = async (): Promise<string> => {
  const reply = await server.raw("GET", `/ui?token=${server.token}`, { "sec-fetch-site": "none" });
  return String(reply.headers["set-cookie"]).split(";")[0] ?? "";
};

const upgrade = (headers: Record<string, string>, path: string, protocols: string[] = []): Promise<number> =>
  new Promise((resolve) => {
    const ws = new WebSocket(`${server.url.replace("http", "ws")}${path}`, protocols, { headers });
    ws.on("open", () => {
      ws.terminate();
      resolve(101);
    });
    ws.on("unexpected-response", (_, response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    ws.on("error", () => {});
  });

describe("Host", () => {
  it.each(["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil", "[::2]", "a b", "127.0.0.1@evil"])(
    "refuses %s on API, static and health routes alike, before the token is looked at",
    async (host) => {
      for (const path of ["/v1/health", "/v1/sessions", "/ui", "/openapi.json", "/nowhere"]) {
        const reply = await server.raw("GET", path, { host, ...bearer });
        expect([path, reply.status, problem(reply).code]).toEqual([path, 403, "forbidden_origin"]);
      }
    },
  );

  it.each(["localhost", "127.0.0.1", "[::1]:9", "LOCALHOST:1", "daemon.internal"])("takes %s", async (host) => {
    expect((await server.raw("GET", "/v1/health", { host })).status).toBe(200);
  });

  it("refuses a request without Host, with two of them, and with an absolute target", async () => {
    const talk = (text: string): Promise<string> =>
      new Promise((resolve, reject) => {
        let answer = "";
        const socket = connect(server.port, "127.0.0.1", () => socket.end(text));
        socket.setEncoding("utf8");
        socket.on("data", (chunk: string) => {
          answer += chunk;
        });
        socket.on("close", () => resolve(answer));
        socket.on("error", reject);
      });
    expect(await talk("GET /v1/health HTTP/1.0\r\n\r\n")).toContain("forbidden_origin");
    expect(await talk(`GET /v1/health HTTP/1.1\r\nHost: ${own}\r\nHost: evil.example\r\nConnection: close\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 4/,
    );
    expect(await talk(`GET http://evil.example/v1/health HTTP/1.1\r\nHost: ${own}\r\nConnection: close\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 404/,
    );
  });

  it("refuses a WebSocket with a foreign Host", async () => {
    const { session_id } = await server.createSession();
    expect(await upgrade({ ...bearer, host: "evil.example" }, `/v1/sessions/${session_id}/ws`)).toBe(403);
  });
});

describe("Origin and Sec-Fetch-Site", () => {
  it.each(["https://evil.example", "null", "http://localhost:3000", "http://127.0.0.1", "file://"])(
    "refuses pages of %s, even with the right token",
    async (origin) => {
      const reply = await server.raw("GET", "/v1/sessions", { origin, ...bearer });
      expect([reply.status, problem(reply).code]).toEqual([403, "forbidden_origin"]);
      expect(reply.headers["access-control-allow-origin"]).toBeUndefined();
    },
  );

  it("takes its own pages", async () => {
    expect((await server.raw("GET", "/v1/sessions", { origin: `http://${own}`, ...bearer })).status).toBe(200);
  });

  it.each(["cross-site", "same-site"])("refuses %s loads without an Origin", async (site) => {
    for (const path of ["/v1/sessions", "/v1/health", "/openapi.json"]) {
      const reply = await server.raw("GET", path, { "sec-fetch-site": site, "sec-fetch-mode": "no-cors", ...bearer });
      expect([path, reply.status]).toEqual([path, 403]);
    }
  });

  it("lets a person come to the UI by a link on another page, and to nothing else", async () => {
    const visit = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
    expect((await server.raw("GET", "/ui", visit)).status).toBe(200);
    expect((await server.raw("GET", "/v1/sessions", { ...visit, ...bearer })).status).toBe(403);
    expect((await server.raw("GET", "/ui", { ...visit, "sec-fetch-dest": "iframe" })).status).toBe(403);
  });

  it("gives listed origins CORS without credentials, and only them", async () => {
    const origin = "https://app.example.org";
    const reply = await server.raw("GET", "/v1/sessions", { origin, "sec-fetch-site": "cross-site", ...bearer });
    expect(reply.status).toBe(200);
    expect(reply.headers["access-control-allow-origin"]).toBe(origin);
    expect(reply.headers["access-control-allow-credentials"]).toBeUndefined();
    const ask = { origin, "access-control-request-method": "POST", "sec-fetch-site": "cross-site" };
    const preflight = await server.raw("OPTIONS", "/v1/sessions", ask);
    expect(preflight.status).toBe(204);
    expect(preflight.headers["access-control-allow-headers"]).toContain("authorization");
    expect((await server.raw("GET", "/v1/sessions", { origin, cookie: await login() })).status).toBe(403);
  });

  it("refuses a WebSocket of a foreign page, whatever it carries", async () => {
    const { session_id } = await server.createSession();
    const path = `/v1/sessions/${session_id}/ws`;
    expect(await upgrade({ ...bearer, origin: "https://evil.example" }, path)).toBe(403);
    expect(await upgrade({ cookie: await login(), origin: "http://localhost:3000" }, path)).toBe(403);
    expect(await upgrade({ cookie: await login() }, path)).toBe(403);
    expect(await upgrade({ cookie: await login(), origin: `http://${own}` }, path)).toBe(101);
  });
});

describe("tokens", () => {
  it("are needed everywhere but for health, the description and the UI's shell", async () => {
    const open = ["/v1/health", "/openapi.json", "/docs/api", "/ui", "/docs/api.css"];
    for (const path of open) expect([path, (await server.raw("GET", path)).status]).toEqual([path, 200]);
    const document = await server.json<{ paths: Record<string, Record<string, { security?: [] }>> }>("GET", "/openapi.json");
    let checked = 0;
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, { security }] of Object.entries(methods)) {
        if (security) continue;
        const reply = await server.raw(method.toUpperCase(), path.replace(/\{\w+\}/g, "x"));
        expect([method, path, reply.status, problem(reply).code]).toEqual([method, path, 401, "unauthorized"]);
        checked++;
      }
    }
    expect(checked).toBeGreaterThan(25);
  });

  it("observe may read and not act", async () => {
    const { session_id } = await server.createSession();
    expect((await server.raw("GET", `/v1/sessions/${session_id}/events`, observe)).status).toBe(200);
    const document = await server.json<{ paths: Record<string, Record<string, { "x-role"?: string }>> }>("GET", "/openapi.json");
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        if (operation["x-role"] !== "operate") continue;
        const reply = await server.raw(method.toUpperCase(), path.replace(/\{\w+\}/g, "x"), observe);
        expect([method, path, problem(reply).code]).toEqual([method, path, "forbidden"]);
      }
    }
  });

  it("are not taken from the query of an API route", async () => {
    expect((await server.raw("GET", `/v1/sessions?token=${server.token}`)).status).toBe(401);
  });

  it("can be offered as a WebSocket sub-protocol, and are not sent back", async () => {
    const { session_id } = await server.createSession();
    const path = `/v1/sessions/${session_id}/ws`;
    expect(await upgrade({}, path, ["dragoman.v1", `token.${server.token}`])).toBe(101);
    expect(await upgrade({}, path, ["dragoman.v1", "token.wrong-token-wrong-token"])).toBe(401);
    expect(await upgrade({}, path)).toBe(401);
    expect(await upgrade(bearer, "/v1/sessions/none/ws")).toBe(404);
    expect(await upgrade(bearer, "/v1/sessions")).toBe(404);
  });

  it("minted ones never have more rights than their minter, and end with it", async () => {
    const mint = (role: string, headers: Record<string, string>) => server.call("POST", "/v1/auth/tokens", { role }, headers);
    expect(problem(await mint("operate", observe)).code).toBe("forbidden");
    const parent = JSON.parse((await mint("operate", bearer)).text);
    const child = JSON.parse((await mint("observe", { authorization: `Bearer ${parent.token}` })).text);
    const asChild = { authorization: `Bearer ${child.token}` };
    expect((await server.raw("GET", "/v1/sessions", asChild)).status).toBe(200);
    expect((await server.call("DELETE", `/v1/auth/tokens/${parent.token_id}`)).status).toBe(204);
    expect((await server.raw("GET", "/v1/sessions", asChild)).status).toBe(401);
  });

  it("do not stand in replies or in the daemon's log", async () => {
    await login();
    await server.raw("GET", `/v1/health?token=${server.token}`, bearer);
    expect(server.logged.length).toBeGreaterThan(0);
    expect(server.logged.join("")).not.toContain(server.token);
    expect(server.logged.join("")).toContain("token=[redacted]");
  });
});

describe("the cookie", () => {
  it("comes for the token in the link, and the address loses the token", async () => {
    const reply = await server.raw("GET", `/ui?token=${server.token}`);
    expect(reply.status).toBe(302);
    expect(reply.headers.location).toBe("/ui");
    expect(reply.headers["referrer-policy"]).toBe("no-referrer");
    expect(String(reply.headers["set-cookie"])).toMatch(
      /^dragoman_\d+=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/; Max-Age=\d+$/,
    );
    expect(String(reply.headers["set-cookie"])).not.toContain(server.token);
    expect((await server.raw("GET", "/ui?token=wrong-wrong-wrong-wrong")).status).toBe(401);
  });

  it("reads, and acts only from the daemon's own pages", async () => {
    const cookie = await login();
    expect((await server.raw("GET", "/v1/sessions", { cookie })).status).toBe(200);
    expect((await server.raw("GET", "/v1/sessions", { cookie, "sec-fetch-site": "same-site" })).status).toBe(403);
    const create = (headers: Record<string, string>) =>
      server.raw(
        "POST",
        "/v1/sessions",
        { cookie, "content-type": "application/json", ...headers },
        JSON.stringify({ agent: "mock", directory: server.dataDir }),
      );
    expect((await create({})).status).toBe(403);
    expect((await create({ "sec-fetch-site": "same-origin" })).status).toBe(201);
    expect((await create({ origin: `http://${own}` })).status).toBe(201);
    expect((await create({ origin: `http://${own}`, "content-type": "text/plain" })).status).toBe(415);
  });

  it("is also given for a token in a body, and ends with logout, with its open streams", async () => {
    const reply = await server.raw(
      "POST",
      "/v1/auth/session",
      { "content-type": "application/json" },
      JSON.stringify({ token: server.token }),
    );
    const cookie = String(reply.headers["set-cookie"]).split(";")[0] ?? "";
    const { session_id } = await server.createSession();
    const ws = new WebSocket(`${server.url.replace("http", "ws")}/v1/sessions/${session_id}/ws`, {
      headers: { cookie, origin: `http://${own}` },
    });
    const closed = new Promise<number>((resolve) => ws.on("close", resolve));
    await new Promise((resolve) => ws.on("message", resolve));
    const stream = server.raw("GET", `/v1/sessions/${session_id}/events/sse`, { cookie });
    await readSse(server, `/v1/sessions/${session_id}/events/sse`, (blocks) => blocks.length > 1);
    expect((await server.raw("POST", "/v1/auth/logout", { cookie, origin: `http://${own}` })).status).toBe(204);
    expect(await closed).toBe(1008);
    expect((await stream).text).toContain("session.started");
    expect((await server.raw("GET", "/v1/sessions", { cookie })).status).toBe(401);
  });
});

describe("headers of every reply", () => {
  it("forbid caching, sniffing and framing, and scripts from elsewhere", async () => {
    for (const path of ["/v1/health", "/v1/sessions", "/ui", "/docs/api", "/nowhere"]) {
      const { headers } = await server.raw("GET", path);
      expect(headers["cache-control"]).toBe("no-store");
      expect(headers["x-content-type-options"]).toBe("nosniff");
      expect(headers["content-security-policy"]).toMatch(/default-src '(none|self)'/);
      expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
      expect(headers["content-security-policy"]).not.toContain("unsafe");
    }
  });
});

describe("guessing", () => {
  it("is slowed down on loopback too; the same wrong token again is not a guess; while blocked, the right token waits as well", async () => {
    const guarded = await startTestServer();
    try {
      const guess = (token: string) => guarded.raw("GET", "/v1/sessions", { authorization: `Bearer ${token}` });
      for (let i = 0; i < 30; i++) expect((await guess("the-same-wrong-token")).status).toBe(401);
      expect((await guess(guarded.token)).status).toBe(200);
      for (let i = 0; i < 9; i++) expect((await guess(`another-guess-${i}`)).status).toBe(401);
      const blocked = await guess(guarded.token);
      expect([blocked.status, problem(blocked).code]).toEqual([429, "rate_limited"]);
      expect(Number(blocked.headers["retry-after"])).toBeGreaterThan(0);
      expect((await guarded.raw("GET", `/ui?token=${guarded.token}`)).status).toBe(429);
      expect((await guarded.raw("GET", "/v1/health")).status).toBe(200);
    } finally {
      await guarded.close();
    }
  });
});

describe("slow and many connections", () => {
  it("a client that does not finish its headers is cut off", async () => {
    const impatient = await startTestServer({
      limits: { body_bytes: 1024, subscribers: 5, header_timeout_ms: 300 },
    });
    try {
      const answer = await new Promise<string>((resolve, reject) => {
        let text = "";
        const socket = connect(impatient.port, "127.0.0.1", () =>
          socket.write("GET /v1/health HTTP/1.1\r\nHost: localhost\r\nX-A: "),
        );
        socket.on("data", (chunk) => {
          text += chunk.toString();
        });
        socket.on("close", () => resolve(text));
        socket.on("error", reject);
      });
      expect(answer).toMatch(/^HTTP\/1.1 408/);
    } finally {
      await impatient.close();
    }
  });
});
