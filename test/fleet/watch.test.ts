/** What people see of a fleet as it changes: the stream of its nodes, and lists and events of some nodes only. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withoutPostgres } from "../../src/log/postgres/test-postgres.ts";
import type { UniversalEvent } from "../../src/schema/event.ts";
import type { FleetMessage, Node } from "../../src/schema/node.ts";
import { TestFleet } from "./test-fleet.ts";

describe.skipIf(withoutPostgres())("who watches a fleet", () => {
  const fleet = new TestFleet();

  beforeAll(() =>
    fleet.start(
      { id: "a", labels: { zone: "north", disk: "fast" } },
      { id: "b", labels: { zone: "south" } },
      { id: "gateway", kind: "gateway" },
    ),
  );
  afterAll(() => fleet.stop());

  /** Follows the stream of the nodes until `stop`. */
  const follow = (through: string, after?: string) => {
    const seen: FleetMessage[] = [];
    const cursors: string[] = [];
    const ending = new AbortController();
    const over = (async () => {
      const stream = fleet.client(through).watchNodes({ signal: ending.signal, ...(after === undefined ? {} : { after }) });
      for await (const { cursor, message } of stream) {
        seen.push(message);
        cursors.push(cursor);
      }
    })();
    const stop = (): Promise<void> => {
      ending.abort();
      return over;
    };
    return { seen, cursors, stop };
  };
  const types = (seen: readonly FleetMessage[], node: string): string[] =>
    seen.flatMap((each) => ("node" in each && each.node.node_id === node ? [each.type] : []));
  const moves = (seen: readonly FleetMessage[]): FleetMessage[] => seen.filter(({ type }) => type === "session.moved");

  it("gets all nodes first, then joining, draining, load, leaving, and who took which session", async () => {
    const { seen, cursors, stop } = follow("gateway");
    await expect.poll(() => seen.length).toBeGreaterThan(0);
    expect(seen[0]).toMatchObject({
      type: "nodes",
      nodes: [{ node_id: "a" }, { node_id: "b" }, { node_id: "gateway", self: true }],
    });
    await fleet.startNode({ id: "c" });
    await expect.poll(() => types(seen, "c")).toContain("node.joined");
    const id = await fleet.create("gateway", "c");
    await expect.poll(() => types(seen, "c")).toContain("node.load");
    await fleet.turn("a", id, "say before");
    expect((await fleet.call("b", "POST", "/v1/nodes/c/drain")).status).toBe(202);
    await expect.poll(() => types(seen, "c")).toContain("node.draining");
    await expect.poll(() => moves(seen)).toHaveLength(1);
    const event = (await fleet.events("a", id)).find(({ type }) => type === "session.moved") as UniversalEvent;
    expect(moves(seen)[0]).toEqual({
      type: "session.moved",
      at: event.time,
      session_id: id,
      sequence: event.sequence,
      ...event.data,
    });
    await fleet.stopNode("c");
    await expect.poll(() => types(seen, "c")).toContain("node.left");
    expect(await fleet.json<Node>("a", "GET", "/v1/nodes/c")).toMatchObject({ state: "left", sessions: 0 });
    await fleet.query("UPDATE dragoman.nodes SET left_at = left_at - interval '2 hours' WHERE node_id = 'c'");
    await expect.poll(() => types(seen, "c").at(-1)).toBe("node.forgotten");
    expect((await fleet.call("a", "GET", "/v1/nodes/c")).status).toBe(404);
    await stop();
    // From an earlier place: a session that moved meanwhile is told again, with all nodes first.
    const again = follow("b", cursors[0]);
    await expect.poll(() => moves(again.seen)).toHaveLength(1);
    expect(again.seen[0]).toMatchObject({ type: "nodes" });
    await again.stop();
  });

  it("is told that a node was fenced and came back, and that a drain was taken back", async () => {
    const { seen, stop } = follow("a");
    await expect.poll(() => seen.length).toBeGreaterThan(0);
    await fleet.client("a").drainNode("b");
    await fleet.client("gateway").drainNode("b", { undo: true });
    await expect.poll(() => types(seen, "b").at(-1)).toMatch(/node\.(up|load)/);
    await fleet.client("a").fenceNode("b");
    await expect.poll(() => types(seen, "b")).toContain("node.fenced");
    await expect.poll(() => types(seen, "b").at(-1)).toMatch(/node\.(joined|load)/);
    await stop();
  });

  it("is refused where the cursor is not one, and with a token that reaches some sessions only", async () => {
    expect((await fleet.call("a", "GET", "/v1/nodes/sse?after=nonsense")).status).toBe(400);
    const { token } = await fleet.json<{ token: string }>("a", "POST", "/v1/auth/tokens", {
      role: "observe",
      scope: { directories: [fleet.shared] },
    });
    const answer = await fleet.call("a", "GET", "/v1/nodes/sse", undefined, { authorization: `Bearer ${token}` });
    expect(answer.status).toBe(403);
  });

  it("lists the sessions of a node, or of nodes with a label, the same everywhere and over pages", async () => {
    const made = { a: new Set<string>(), b: new Set<string>() };
    for (const node of ["a", "b", "a", "a"] as const) made[node].add(await fleet.create("gateway", node));
    const list = async (through: string, query: string): Promise<string[]> => {
      const ids: string[] = [];
      for (let before = ""; ; ) {
        const page = await fleet.json<{ sessions: { session_id: string }[]; next: string | null }>(
          through,
          "GET",
          `/v1/sessions?limit=2&${query}${before}`,
        );
        ids.push(...page.sessions.map(({ session_id }) => session_id));
        if (page.next === null) return ids;
        before = `&before=${page.next}`;
      }
    };
    const [all, onB] = [await list("a", ""), await list("a", "node=b")];
    expect(onB).toEqual(expect.arrayContaining([...made.b]));
    expect(onB.filter((id) => made.a.has(id))).toEqual([]);
    const onA = await list("b", "label=zone=north");
    expect(onA).toEqual(expect.arrayContaining([...made.a]));
    expect([...onA, ...onB].sort()).toEqual([...all].sort());
    for (const through of ["a", "b", "gateway"]) {
      expect(await list(through, "node=b")).toEqual(onB);
      expect(await list(through, "label=zone=north,disk=fast")).toEqual(onA);
      expect(await list(through, "label=zone=north&node=b")).toEqual([]);
      expect(await list(through, "node=nobody")).toEqual([]);
    }
    expect((await fleet.call("a", "GET", "/v1/sessions?label=zone")).status).toBe(400);
    const sdk = await fleet.client("gateway").sessions({ labels: { zone: "south" }, limit: 500 });
    expect(sdk.sessions.map(({ session_id }) => session_id).sort()).toEqual([...onB].sort());
  });

  it("follows the events of some nodes only, through a move to and from them", async () => {
    const [here, there] = [await fleet.create("gateway", "a"), await fleet.create("gateway", "b")];
    const seen: UniversalEvent[] = [];
    const ending = new AbortController();
    const over = (async () => {
      const stream = fleet.client("gateway").events({ signal: ending.signal, labels: { zone: "north" }, kinds: ["session"] });
      for await (const { event } of stream) seen.push(event);
    })();
    const told = (id: string): string[] => seen.flatMap((each) => (each.session_id === id ? [JSON.stringify(each.data)] : []));
    // The stream begins now: when it tells the first, it is there.
    await expect
      .poll(async () => {
        await fleet.call("a", "PATCH", `/v1/sessions/${here}`, { title: `title ${Math.random()}` });
        return told(here).length;
      })
      .toBeGreaterThan(0);
    await fleet.turn("b", there, "say not for us");
    await fleet.turn("b", here, "say for us");
    await expect.poll(() => told(here).join()).toContain("for us");
    expect(told(there)).toEqual([]);
    await fleet.call("gateway", "POST", `/v1/sessions/${there}/move`, { node: "a" });
    await expect.poll(() => told(there).join()).toContain('"to":"a"');
    await fleet.turn("b", there, "say now it is");
    await expect.poll(() => told(there).join()).toContain("now it is");
    expect(told(there).join()).not.toContain("not for us");
    await fleet.client("gateway").session(there).move({ node: "b" });
    await expect
      .poll(async () => (await fleet.events("a", there)).filter(({ type }) => type === "session.moved"))
      .toHaveLength(2);
    await fleet.turn("b", there, "say gone again");
    await fleet.turn("b", here, "say still here");
    await expect.poll(() => told(here).join()).toContain("still here");
    expect(told(there).join()).not.toContain("gone again");
    ending.abort();
    await over;
  });
});
