/** Tokens in a fleet: what was made on one node counts on all, and what was ended is ended on all. */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withoutPostgres } from "../../src/log/postgres/test-postgres.ts";
import { TestFleet } from "./test-fleet.ts";

type Minted = { token: string; token_id: string };

describe.skipIf(withoutPostgres())("tokens of a fleet", () => {
  const fleet = new TestFleet();
  const all = ["a", "b", "gateway"];

  beforeAll(() => fleet.start({ id: "a" }, { id: "b" }, { id: "gateway", kind: "gateway" }));
  afterAll(() => fleet.stop());

  const as = (token: string) => ({ authorization: `Bearer ${token}` });
  const mint = (through: string, body: object, by?: string): Promise<Minted> =>
    fleet.json<Minted>(through, "POST", "/v1/auth/tokens", body, by === undefined ? {} : as(by));
  const opens = async (through: string, token: string, path = "/v1/sessions"): Promise<number> =>
    (await fleet.call(through, "GET", path, undefined, as(token))).status;
  const everywhere = (token: string, path?: string): Promise<number[]> =>
    Promise.all(all.map((through) => opens(through, token, path)));
  const trade = (through: string, token: string): Promise<Response> =>
    fetch(`${fleet.url(through)}/v1/auth/page`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token }),
    });

  it("[O12] a token with a role is taken by every node at once, with that role", async () => {
    const id = await fleet.create("a", "a");
    for (const [index, through] of all.entries()) {
      const made = await mint(through, { role: "approve", label: `number ${index}` });
      expect(await everywhere(made.token)).toEqual([200, 200, 200]);
      for (const other of all) {
        const said = await fleet.call(other, "POST", `/v1/sessions/${id}/messages`, { message: "say no" }, as(made.token));
        expect([said.status, other]).toEqual([403, other]);
        const listed = await fleet.json<{ tokens: { token_id: string; role: string }[] }>(other, "GET", "/v1/auth/tokens");
        expect(listed.tokens).toContainEqual(expect.objectContaining({ token_id: made.token_id, role: "approve" }));
      }
    }
  });

  it("[O12] is ended by any node, with all made by it, and its streams with it", async () => {
    const made = await mint("a", { role: "admin" });
    const child = await mint("b", { role: "observe" }, made.token);
    expect(await everywhere(child.token)).toEqual([200, 200, 200]);
    const stream = await fetch(`${fleet.url("gateway")}/v1/events/sse`, { headers: as(child.token) });
    expect(stream.status).toBe(200);
    expect((await fleet.call("b", "DELETE", `/v1/auth/tokens/${made.token_id}`)).status).toBe(204);
    // The node that ended it refuses it at once, others when they next look.
    expect(await opens("b", made.token)).toBe(401);
    for (const token of [made.token, child.token]) await expect.poll(() => everywhere(token)).toEqual([401, 401, 401]);
    for await (const _ of stream.body ?? []);
  });

  it("a shared session opens on every node, for its reader alone", async () => {
    const [id, other] = [await fleet.create("a", "b"), await fleet.create("a", "b")];
    const { token } = await fleet.json<Minted>("gateway", "POST", `/v1/sessions/${id}/share`);
    expect(await everywhere(token, `/v1/sessions/${id}`)).toEqual([200, 200, 200]);
    expect(await everywhere(token, `/v1/sessions/${other}`)).toEqual([404, 404, 404]);
  });

  it("what a node's own root token made ends with that root token, everywhere", async () => {
    const file = join(fleet.home, "a", "token.observe");
    const observe = readFileSync(file, "utf8").trim();
    const link = await fleet.json<Minted>("a", "POST", "/v1/auth/links", { role: "observe" }, as(observe));
    const page = (await (await trade("b", link.token)).json()) as Minted;
    expect(await everywhere(page.token)).toEqual([200, 200, 200]);
    expect(await opens("b", observe)).toBe(401);
    await fleet.stopNode("a");
    expect(await opens("b", page.token)).toBe(200);
    rmSync(file);
    await fleet.startNode({ id: "a" });
    await expect.poll(() => everywhere(page.token)).toEqual([401, 401, 401]);
  });

  it("[O12] a link is good for one trade, whatever node it is shown to", async () => {
    const link = await fleet.json<Minted>("gateway", "POST", "/v1/auth/links", {});
    const answers = await Promise.all([...all, ...all].map((through) => trade(through, link.token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 401, 401, 401, 401, 401]);
  });

  it("is renewed through one node for all, and survives the node that made it", async () => {
    const made = await mint("a", { role: "observe", lifetime_ms: 60_000, renewable: true });
    const before = await fleet.json<{ expires_at: string }>("b", "GET", "/v1/auth", undefined, as(made.token));
    const renewed = await fleet.json<{ expires_at: string }>("b", "POST", "/v1/auth/renew", undefined, as(made.token));
    expect(Date.parse(renewed.expires_at)).toBeGreaterThan(Date.parse(before.expires_at));
    await fleet.stopNode("a");
    expect(await opens("gateway", made.token)).toBe(200);
    await fleet.startNode({ id: "a" });
    expect(await everywhere(made.token)).toEqual([200, 200, 200]);
    const known = await fleet.json<{ expires_at: string }>("a", "GET", "/v1/auth", undefined, as(made.token));
    expect(known.expires_at).toBe(renewed.expires_at);
  });
});
