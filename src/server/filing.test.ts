// Tags, pins and the archive: how a person files sessions, also after their end, and finds them again.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Session, SessionList } from "../schema/session.ts";
import { problem, startTestServer, type TestServer } from "./test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const listed = async (query: string): Promise<string[]> =>
  (await server.json<{ sessions: Session[] }>("GET", `/v1/sessions?${query}`)).sessions.map(({ session_id }) => session_id);
const change = (id: string, body: object) => server.json<Session>("PATCH", `/v1/sessions/${id}`, body);

describe("a session", () => {
  it("is tagged, pinned and put away, is found by that, and tells it in its story", async () => {
    const { session_id: id } = await server.createSession({ tags: ["release", "übung 1"] });
    const { session_id: other } = await server.createSession();
    expect(await listed("tag=release")).toEqual([id]);
    expect(await listed(`tag=${encodeURIComponent("übung 1")}`)).toEqual([id]);
    expect(await change(id, { pinned: true, tags: ["later"] })).toMatchObject({ pinned: true, tags: ["later"], archived: false });
    expect([await listed("tag=release"), await listed("pinned=true"), await listed("tag=later&agent=mock")]).toEqual([
      [],
      [id],
      [id],
    ]);
    expect(await change(id, { archived: true })).toMatchObject({ archived: true });
    expect([await listed(""), await listed("archived=only"), (await listed("archived=include")).sort()]).toEqual([
      [other],
      [id],
      [id, other].sort(),
    ]);
    const { events } = await server.json<{ events: { data: object }[] }>(
      "GET",
      `/v1/sessions/${id}/events?types=session.updated`,
    );
    expect(events.map(({ data }) => data)).toMatchObject([{ pinned: true, tags: ["later"] }, { archived: true }]);
  });

  it("is filed after its end, too; nothing else of it changes then", async () => {
    const { session_id: id } = await server.createSession();
    await server.call("POST", `/v1/sessions/${id}/terminate`, {});
    const before = await server.json<Session>("GET", `/v1/sessions/${id}`);
    expect(await change(id, { archived: true, tags: ["done"] })).toMatchObject({
      archived: true,
      tags: ["done"],
      status: "ended",
    });
    const after = await server.json<Session>("GET", `/v1/sessions/${id}`);
    expect(after).toMatchObject({ last_sequence: before.last_sequence, tags: ["done"] });
    expect(problem(await server.call("PATCH", `/v1/sessions/${id}`, { title: "x", tags: [] })).code).toBe("session_ended");
    expect(await server.json<Session>("GET", `/v1/sessions/${id}`)).toEqual(after);
  });

  it("is listed by its last change when that is asked for", async () => {
    const ids: string[] = [];
    for (let count = 0; count < 3; count++) ids.push((await server.createSession({ tags: ["ordered"] })).session_id);
    const [first = "", second = "", third = ""] = ids;
    await server.play(first, "say hello");
    expect(await listed("tag=ordered")).toEqual([third, second, first]);
    expect(await listed("tag=ordered&order=updated")).toEqual([first, third, second]);
    const page = await server.json<SessionList>("GET", "/v1/sessions?tag=ordered&order=updated&limit=2");
    expect(await listed(`tag=ordered&order=updated&before=${page.next}`)).toEqual([second]);
  });

  it("takes only tags that can be typed and told apart", async () => {
    const { session_id: id } = await server.createSession();
    for (const tags of [
      [""],
      [" a"],
      ["a,b"],
      ["a", "a"],
      ["x".repeat(65)],
      "a",
      [5],
      Array.from({ length: 33 }, (_, i) => `t${i}`),
    ])
      expect(problem(await server.call("PATCH", `/v1/sessions/${id}`, { tags })).code).toBe("invalid_request");
    for (const query of ["archived=maybe", "order=up", "pinned=7"])
      expect(problem(await server.call("GET", `/v1/sessions?${query}`)).code).toBe("invalid_request");
  });
});
