/** Another daemon's inspector beside this one's: its origin is listed, and its page traded a link of its own. Everybody else gets nothing, whatever token they show. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Reply, startTestServer, type TestServer } from "./test-server.ts";

const INSPECTOR = "http://laptop-2.internal:4700";
const HOSTILE = "http://hostile.example.org";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ allowOrigins: [INSPECTOR], daemons: ["http://laptop-3.internal:4700"] });
});
afterAll(() => server.close());

const link = async (): Promise<string> =>
  (await server.json<{ token: string }>("POST", "/v1/auth/links", {}, { authorization: `Bearer ${server.token}` })).token;
const trade = (token: string, origin: string): Promise<Reply> =>
  server.raw("POST", "/v1/auth/page", { "content-type": "application/json", origin }, JSON.stringify({ token }));
const read = (token: string, origin?: string): Promise<Reply> =>
  server.raw("GET", "/v1/sessions", { authorization: `Bearer ${token}`, ...(origin === undefined ? {} : { origin }) });
const tokenOf = ({ text }: Reply): string => (JSON.parse(text) as { token: string }).token;

describe("the inspector of another daemon", () => {
  it("trades a link of this one, once, for a token that only its own origin can use", async () => {
    const given = await link();
    const traded = await trade(given, INSPECTOR);
    expect(traded.status).toBe(201);
    expect(traded.headers["access-control-allow-origin"]).toBe(INSPECTOR);
    expect(traded.headers["access-control-allow-credentials"]).toBeUndefined();
    const token = tokenOf(traded);
    expect((await read(token, INSPECTOR)).status).toBe(200);
    expect((await read(token, server.url)).status).toBe(403);
    expect((await read(token, HOSTILE)).status).toBe(403);
    expect((await trade(given, INSPECTOR)).status).toBe(401);
    // A page's token makes no further ones.
    const made = await server.raw(
      "POST",
      "/v1/auth/links",
      { authorization: `Bearer ${token}`, origin: INSPECTOR, "content-type": "application/json" },
      "{}",
    );
    expect(made.status).toBe(403);
  });

  it("has no use of the token of this daemon's own page", async () => {
    const token = tokenOf(await trade(await link(), server.url));
    expect((await read(token, server.url)).status).toBe(200);
    expect((await read(token, INSPECTOR)).status).toBe(403);
  });

  it("is the only one: an origin that is not listed trades nothing, and the link stays good", async () => {
    const given = await link();
    const refused = await trade(given, HOSTILE);
    expect(refused.status).toBe(403);
    expect(refused.headers["access-control-allow-origin"]).toBeUndefined();
    expect((await trade(given, INSPECTOR)).status).toBe(201);
  });

  it("may be talked to by this daemon's page where its start names it, and nobody else may", async () => {
    const answer = await server.json("GET", "/v1/daemons", undefined, { authorization: `Bearer ${server.token}` });
    expect(answer).toEqual({ daemons: [{ url: "http://laptop-3.internal:4700" }] });
  });
});
