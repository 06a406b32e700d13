import { existsSync, readFileSync, statSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { problem, readSse, startTestServer, type TestServer } from "./test-server.ts";

let server: TestServer;
let bearer: { authorization: string };
let own: string;

beforeAll(async () => {
  server = await startTestServer({ allowOrigins: ["https://app.example.org"], allowHosts: ["daemon.internal"] });
  bearer = { authorization: `Bearer ${server.token}` };
  own = `127.0.0.1:${server.port}`;
});
afterAll(() => server.close());

const json = { "content-type": "application/json" };

/** Trades a link for the page's token, as the inspector does. */
const login = async (): Promise<{ authorization: string }> => {
  const link = await server.json<{ token: string }>("POST", "/v1/auth/links", {});
  const reply = await server.raw(
    "POST",
    "/v1/auth/page",
    { ...json, origin: `http://${own}` },
    JSON.stringify({ token: link.token }),
  );
  return { authorization: `Bearer ${JSON.parse(reply.text).token}` };
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

  it("refuses a request without Host, with two of them, with an absolute target, and with an Origin after thousands of headers", async () => {
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
    const many = "a:\r\n".repeat(2_500);
    for (const header of ["Origin: http://evil.example", "Sec-Fetch-Site: cross-site"])
      expect(await talk(`GET /v1/health HTTP/1.1\r\nHost: ${own}\r\n${many}${header}\r\nConnection: close\r\n\r\n`)).toContain(
        "forbidden_origin",
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
    const page = await server.raw("GET", "/v1/sessions", { origin, ...(await login()) });
    expect([page.status, problem(page).code]).toEqual([403, "forbidden_origin"]);
  });

  it("refuses a WebSocket of a foreign page, whatever it carries", async () => {
    const { session_id } = await server.createSession();
    const path = `/v1/sessions/${session_id}/ws`;
    expect(await upgrade({ ...bearer, origin: "https://evil.example" }, path)).toBe(403);
    expect(await upgrade({ ...(await login()), origin: "http://localhost:3000" }, path)).toBe(403);
    expect(await upgrade({ ...(await login()), origin: "https://app.example.org" }, path)).toBe(403);
    const secret = (await login()).authorization.slice("Bearer ".length);
    expect(await upgrade({ origin: `http://${own}` }, path, ["dragoman.v1", `token.${secret}`])).toBe(101);
  });
});

describe("tokens", () => {
  it("are needed everywhere but for health, the description and the UI's shell", async () => {
    const open = ["/v1/health", "/openapi.json", "/docs/api", "/ui"];
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

  it("minted ones end with their minter", async () => {
    const mint = (role: string, headers: Record<string, string>) => server.call("POST", "/v1/auth/tokens", { role }, headers);
    const parent = JSON.parse((await mint("admin", bearer)).text);
    const child = JSON.parse((await mint("observe", { authorization: `Bearer ${parent.token}` })).text);
    const asChild = { authorization: `Bearer ${child.token}` };
    expect((await server.raw("GET", "/v1/sessions", asChild)).status).toBe(200);
    expect((await server.call("DELETE", `/v1/auth/tokens/${parent.token_id}`)).status).toBe(204);
    expect((await server.raw("GET", "/v1/sessions", asChild)).status).toBe(401);
  });

  it("are not said to be ended when they were not: the secret instead of the id, one that has ended, a root token", async () => {
    const made = JSON.parse((await server.call("POST", "/v1/auth/tokens", { role: "observe" })).text);
    const asMade = { authorization: `Bearer ${made.token}` };
    const end = async (id: string) => problem(await server.call("DELETE", `/v1/auth/tokens/${id}`)).code;
    expect(await end(made.token)).toBe("token_not_found");
    expect((await server.raw("GET", "/v1/auth", asMade)).status).toBe(200);
    expect((await server.call("GET", "/v1/audit?limit=3")).text).not.toContain(made.token);
    expect((await server.call("DELETE", `/v1/auth/tokens/${made.token_id}`)).status).toBe(204);
    expect(await end(made.token_id)).toBe("token_not_found");
    const { token_id } = JSON.parse((await server.call("GET", "/v1/auth")).text);
    expect(await end(token_id)).toBe("unsupported");
  });

  it("do not stand in replies or in the daemon's log", async () => {
    await login();
    for (const name of ["token", "%74oken", "a=b&tok%65n", "TOKEN", "access_token", "%6Bey"])
      await server.raw("GET", `/v1/health?${name}=${server.token}`, bearer);
    expect(server.logged.length).toBeGreaterThan(0);
    expect(server.logged.join("")).not.toContain(server.token);
    expect(server.logged.join("")).toContain("token=[redacted]");
  });
});

describe("the page's token", () => {
  it("comes for a link, once; nothing about it is a cookie or stands in an address", async () => {
    const link = await server.json<{ token: string; file: string }>("POST", "/v1/auth/links", {});
    expect(statSync(link.file).mode & 0o777).toBe(0o600);
    expect(readFileSync(link.file, "utf8")).toContain(`${server.url}/ui#link=${link.token}`);
    expect((await server.raw("GET", "/v1/sessions", { authorization: `Bearer ${link.token}` })).status).toBe(401);
    const trade = () => server.raw("POST", "/v1/auth/page", json, JSON.stringify({ token: link.token }));
    const first = await trade();
    expect(first.status).toBe(201);
    expect(first.headers["set-cookie"]).toBeUndefined();
    expect(JSON.parse(first.text)).toMatchObject({ role: "operate" });
    expect(existsSync(link.file)).toBe(false);
    const second = await trade();
    expect([second.status, problem(second).code]).toEqual([401, "link_invalid"]);
    expect(problem(second).detail).toContain("dragoman open");
  });

  it("is not given for an address with ?token=; the page that answers says what to do, and looks at no token", async () => {
    const reply = await server.raw("GET", `/ui?token=${server.token}`);
    expect([reply.status, reply.headers.location, reply.headers["set-cookie"]]).toEqual([302, "/ui/old-link", undefined]);
    const page = await server.raw("GET", "/ui/old-link");
    expect([page.status, page.text]).toEqual([410, expect.stringContaining("dragoman open")]);
  });

  it("counts for the daemon's own origin only, manages no tokens, and a cookie is nothing", async () => {
    const page = await login();
    expect((await server.raw("GET", "/v1/sessions", page)).status).toBe(200);
    expect((await server.raw("GET", "/v1/sessions", { ...page, origin: `http://${own}` })).status).toBe(200);
    expect((await server.raw("GET", "/v1/sessions", { ...page, host: "localhost", origin: "http://localhost" })).status).toBe(
      403,
    );
    expect((await server.raw("GET", "/v1/sessions", { ...page, "sec-fetch-site": "same-site" })).status).toBe(403);
    for (const path of ["/v1/auth/tokens", "/v1/auth/links"]) {
      const reply = await server.raw("POST", path, { ...page, ...json }, JSON.stringify({ role: "observe" }));
      expect([path, problem(reply).code]).toEqual([path, "forbidden"]);
    }
    const secret = page.authorization.slice("Bearer ".length);
    expect((await server.raw("GET", "/v1/sessions", { cookie: `dragoman_${server.port}=${secret}` })).status).toBe(401);
  });

  it("is renewed with its streams open, and ends with logout, with its open streams", async () => {
    const page = await login();
    const { session_id } = await server.createSession();
    const ws = new WebSocket(`${server.url.replace("http", "ws")}/v1/sessions/${session_id}/ws`, { headers: page });
    const closed = new Promise<number>((resolve) => ws.on("close", resolve));
    await new Promise((resolve) => ws.on("message", resolve));
    const stream = server.raw("GET", `/v1/sessions/${session_id}/events/sse`, page);
    await readSse(server, `/v1/sessions/${session_id}/events/sse`, (blocks) => blocks.length > 1);
    const renewed = await server.raw("POST", "/v1/auth/renew", page);
    expect(Date.parse(JSON.parse(renewed.text).expires_at)).toBeGreaterThan(Date.now() + 50 * 60_000);
    const { tokens } = await server.json<{ tokens: { kind: string }[] }>("GET", "/v1/auth/tokens");
    expect(tokens.some(({ kind }) => kind === "page")).toBe(true);
    expect((await server.raw("POST", "/v1/auth/logout", { ...page, origin: `http://${own}` })).status).toBe(204);
    expect(await closed).toBe(1008);
    expect((await stream).text).toContain("session.started");
    expect((await server.raw("GET", "/v1/sessions", page)).status).toBe(401);
  });

  it("takes no large body from anybody who is not known", async () => {
    const reply = await server.raw("POST", "/v1/auth/page", json, JSON.stringify({ token: "x".repeat(5_000) }));
    expect([reply.status, problem(reply).code]).toEqual([413, "body_too_large"]);
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
  it("is slowed down from all of loopback as one; the right token is answered at once, from everywhere", async () => {
    const guarded = await startTestServer();
    try {
      const call = (token: string, localAddress = "127.0.0.1"): Promise<{ status: number; retryAfter: number }> =>
        new Promise((resolve, reject) => {
          const headers = { authorization: `Bearer ${token}` };
          request({ host: "127.0.0.1", localAddress, port: guarded.port, path: "/v1/auth", headers, agent: false }, (reply) => {
            reply
              .resume()
              .on("end", () => resolve({ status: reply.statusCode ?? 0, retryAfter: Number(reply.headers["retry-after"] ?? 0) }));
          })
            .on("error", reject)
            .end();
        });
      for (let i = 0; i < 30; i++) expect((await call("the-same-wrong-token")).status).toBe(401);
      for (let i = 0; i < 9; i++) expect((await call(`${i}-guess`)).status).toBe(401);
      const guesses = Array.from({ length: 200 }, (_, i) => call(`${i}-further-guess`, `127.0.0.${1 + (i % 50)}`));
      const right = await call(guarded.token);
      const elsewhere = await call(guarded.token, "127.0.0.77");
      expect([right.status, elsewhere.status]).toEqual([200, 200]);
      const statuses = (await Promise.all(guesses)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 429)).toHaveLength(200);
      expect((await call("still-guessing", "127.0.0.99")).retryAfter).toBe(60);
      expect((await call(guarded.token)).status).toBe(200);
      expect((await guarded.raw("GET", "/v1/sessions")).status).toBe(401);
      expect((await guarded.raw("GET", "/v1/health")).status).toBe(200);
    } finally {
      await guarded.close();
    }
  });

  it("nothing is counted without a token, and for visits of the page", async () => {
    const guarded = await startTestServer();
    try {
      for (let i = 0; i < 30; i++) {
        expect((await guarded.raw("GET", "/v1/sessions")).status).toBe(401);
        expect((await guarded.raw("GET", `/ui?token=guess-${i}`)).status).toBe(302);
      }
      expect((await guarded.raw("GET", "/v1/sessions", { authorization: "Bearer the-first-guess" })).status).toBe(401);
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
      expect(answer).toMatch(/^HTTP\/1.1 408 [\s\S]*"code":"request_timeout"/);
    } finally {
      await impatient.close();
    }
  });
});
