// Search over HTTP: what is found, where it stands, and what a caller does not get to see.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SearchResult } from "../schema/search.ts";
import { problem, startTestServer, type TestServer } from "./test-server.ts";

let server: TestServer;
let other: string;
beforeAll(async () => {
  server = await startTestServer();
  other = join(server.dataDir, "other");
  mkdirSync(other);
});
afterAll(() => server.close());

const found = async (query: string, token?: string): Promise<SearchResult> => {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const answer = await server.call("GET", `/v1/search?${query}`, undefined, headers);
  expect(answer.status).toBe(200);
  return JSON.parse(answer.text) as SearchResult;
};

/** The index follows a moment later. */
const settled = (query: string, count: number) => expect.poll(async () => (await found(query)).hits.length).toBe(count);

describe("search", () => {
  it("finds what was said and done, with its place, until the session is removed", async () => {
    const { session_id } = await server.createSession({ title: "About whales" });
    await server.play(session_id, "say the narwhal has a tusk");
    await server.play(session_id, "shell echo narwhal-output");
    await settled("q=narwhal&kind=assistant", 1);
    const [hit] = (await found("q=narwhal%20tusk&kind=assistant")).hits;
    expect(hit).toMatchObject({ session_id, kind: "assistant", agent: "mock", title: "About whales" });
    expect(hit?.highlights.map(({ start, end }) => hit.snippet.slice(start, end))).toEqual(["narwhal", "tusk"]);
    const page = await server.json<object>("GET", `/v1/sessions/${session_id}/events?after=${(hit?.sequence ?? 0) - 1}&limit=1`);
    expect(page).toMatchObject({ events: [{ type: "item.completed", data: { item: { item_id: hit?.item_id } } }] });
    await settled("q=narwhal&kind=tool", 2);
    expect((await found("q=narwhal&kind=user,assistant")).hits.map(({ kind }) => kind).sort()).toEqual([
      "assistant",
      "user",
      "user",
    ]);
    expect((await found("q=narwhal&agent=codex")).hits).toEqual([]);
    expect((await found(`q=narwhal&session=${session_id}&limit=1`)).next).not.toBeNull();
    expect((await found("q=narwhal")).index).toEqual({ state: "ready" });
    await server.call("DELETE", `/v1/sessions/${session_id}`);
    expect((await found("q=narwhal")).hits).toEqual([]);
  });

  it("shows no session outside the scope, and no secret to an observer", async () => {
    const secret = `sk-ant-api03-${"aB3".repeat(14)}`;
    const inside = await server.createSession({ directory: other });
    const outside = await server.createSession();
    for (const { session_id } of [inside, outside]) await server.play(session_id, `say ptarmigan ${secret} end`);
    await settled("q=ptarmigan&kind=assistant", 2);
    const admin = server.tokens.find(server.tokens.secret("admin"));
    if (!admin) throw new Error("no admin token");
    const scoped = server.tokens.mint(admin, { role: "observe", scope: { directories: [other] }, lifetimeMs: 60_000 }).secret;
    const { hits } = await found("q=ptarmigan&kind=assistant", scoped);
    expect(hits.map(({ session_id }) => session_id)).toEqual([inside.session_id]);
    expect(hits[0]?.snippet).toContain("[redacted:");
    expect(hits[0]?.snippet).not.toContain("aB3");
    expect((await found("q=ptarmigan&kind=assistant")).hits[0]?.snippet).toContain("aB3");
  });

  it("[R1] does not help an observer to guess a secret: it is found neither by its beginning nor where the index cut a text", async () => {
    const secret = "sk-ant-api03-Qv81kTz0pLmN4rSx7WyB2cDe";
    const observer = server.tokens.secret("observe");
    const { session_id } = await server.createSession({ title: `wombat ${secret}` });
    // Of a long text the index has both ends: one of them begins in the middle of the secret.
    const tail = "burrow ".repeat(2_400).slice(0, 16_000 - 14);
    await server.play(session_id, `say wallaby ${"x ".repeat(9_000)} ${secret}${tail}`);
    await server.play(session_id, `say quokka ${secret} end`);
    await settled("q=quokka&kind=assistant", 1);
    for (const q of ["sk-ant-api03-Q", "qv81", "Qv81kTz0pLmN4rSx7WyB2cDe", "4rSx7W", "quokka%20qv8", "%22quokka%20sk%20ant"]) {
      expect([q, (await found(`q=${q}&limit=1`, observer)).hits, (await found(`q=${q}&limit=1`, observer)).next]).toEqual([
        q,
        [],
        null,
      ]);
    }
    expect((await found("q=quokka%20qv8&kind=assistant")).hits.length).toBe(1);
    expect((await found("q=quokka%20end&kind=assistant", observer)).hits.length).toBe(1);
    const cut = await found("q=wallaby&kind=assistant", observer);
    expect(cut.hits.length).toBe(1);
    expect((await found("q=wallaby%20burrow&kind=assistant", observer)).hits.length).toBe(1);
    expect(
      (await server.raw("GET", "/v1/search?q=burrow&limit=100", { authorization: `Bearer ${observer}` })).text,
    ).not.toContain("7WyB2cDe");
    const named = async (search: string, token: string) =>
      (
        await server.json<{ sessions: object[] }>("GET", `/v1/sessions?search=${search}`, undefined, {
          authorization: `Bearer ${token}`,
        })
      ).sessions.length;
    expect([await named("wombat", observer), await named("kTz0pL", server.token), await named("kTz0pL", observer)]).toEqual([
      1, 1, 0,
    ]);
  });

  it("takes any words, and says what is wrong with the rest", async () => {
    for (const q of ["%22", "*", "-", "a%20OR%20(", "%00"]) expect((await found(`q=${q}`)).hits).toEqual([]);
    for (const query of ["", "q=", "q=a&kind=song", "q=a&limit=0", "q=a&before=x", `q=${"a".repeat(1_001)}`])
      expect(problem(await server.call("GET", `/v1/search?${query}`)).code).toBe("invalid_request");
  });
});
