/** The contract of a registry as tests: each engine passes them. */
import { beforeEach, describe, expect, it } from "vitest";
import { type NodeProfile, NodeReplaced, type Registry } from "./registry.ts";

export type RegistryLab = {
  registry: Registry;
  /** A lease that a test can see running out. */
  term_ms: number;
  /** So much time passes for the registry. */
  pass(ms: number): Promise<void>;
};

export function registrySuite(name: string, open: () => Promise<RegistryLab>): void {
  describe(`registry: ${name}`, () => {
    let lab: RegistryLab;
    let registry: Registry;

    beforeEach(async () => {
      lab = await open();
      registry = lab.registry;
    });

    const profile = (node_id: string, more: Partial<NodeProfile> = {}): NodeProfile => ({
      node_id,
      kind: "node",
      writer: `${node_id}/life`,
      url: `http://${node_id}:2468`,
      version: "1.0.0",
      labels: { zone: "a" },
      places: ["shared"],
      agents: ["mock"],
      capacity: 10,
      ...more,
    });
    const begin = async (node_id: string, term_ms: number, more?: Partial<NodeProfile>) =>
      registry.join(profile(node_id, more), { term_ms, birth: await registry.birth() });
    const join = (node_id: string, more?: Partial<NodeProfile>) => begin(node_id, 60_000, more);
    const session = (session_id: string, place: string | null = "shared") => ({ session_id, agent: "mock", place });
    const ids = (claims: readonly { session_id: string }[]): string[] => claims.map(({ session_id }) => session_id).sort();

    it("[O1] a node that joins again fences its earlier life, and takes its sessions up under a higher epoch", async () => {
      const first = await join("a");
      expect(await registry.own(first, session("s1", null))).toBe(1);
      const second = await join("a");
      expect(second.incarnation).toBeGreaterThan(first.incarnation);
      expect(await registry.renew(first, { term_ms: 60_000, load: 0 })).toBe("fenced");
      expect(await registry.own(first, session("s2"))).toBeUndefined();
      expect(await registry.claim(first, { limit: 10 })).toEqual([]);
      expect(await registry.claim(second, { limit: 10 })).toEqual([{ session_id: "s1", epoch: 2, from: "a", reason: "restart" }]);
    });

    it("[O8] the same process that joins again keeps what nobody took, under the same epoch", async () => {
      const birth = await registry.birth();
      const a = await registry.join(profile("a"), { term_ms: 60_000, birth });
      const b = await join("b");
      await registry.own(a, session("kept"));
      await registry.own(a, session("taken"));
      await registry.mark("a", "fenced");
      const [taken] = await registry.claim(b, { limit: 1 });
      const again = await registry.join(profile("a"), { term_ms: 60_000, birth, before: a.incarnation });
      const left = taken?.session_id === "kept" ? "taken" : "kept";
      expect(await registry.owned(again)).toEqual([{ session_id: left, epoch: 1, from: null, reason: "restart" }]);
      expect(await registry.claim(b, { limit: 10 })).toEqual([]);
    });

    it("[O8] a process that comes back and finds another one as its node is refused", async () => {
      const birth = await registry.birth();
      const old = await registry.join(profile("a"), { term_ms: 60_000, birth });
      await registry.own(old, session("s1"));
      const young = await join("a", { writer: "a/another life" });
      await expect(registry.join(profile("a"), { term_ms: 60_000, birth, before: old.incarnation })).rejects.toBeInstanceOf(
        NodeReplaced,
      );
      expect(await registry.renew(young, { term_ms: 60_000, load: 0 })).toBe("up");
    });

    it("[O1] the first join of a process that arrives after that of a later process changes nothing", async () => {
      const birth = await registry.birth();
      const young = await join("a", { writer: "a/later life" });
      await expect(registry.join(profile("a"), { term_ms: 60_000, birth })).rejects.toBeInstanceOf(NodeReplaced);
      expect(await registry.renew(young, { term_ms: 60_000, load: 0 })).toBe("up");
    });

    it("[O5] who is dead is fenced by a node whose own lease has been unbroken for a whole term, and by no other", async () => {
      const { term_ms } = lab;
      const dead = await begin("dead", term_ms);
      const old = await begin("old", term_ms * 100);
      await lab.pass(term_ms * 1.5);
      const young = await begin("young", term_ms * 100);
      expect(await registry.fenceDead(young, { term_ms: term_ms * 100 })).toEqual([]);
      expect(await registry.fenceDead(dead, { term_ms })).toEqual([]);
      expect(await registry.fenceDead(old, { term_ms })).toEqual(["dead"]);
      expect(await registry.renew(dead, { term_ms, load: 0 })).toBe("fenced");
      expect(await registry.fenceDead(old, { term_ms })).toEqual([]);
    });

    it("[O2] a lease that ran out and was renewed before anybody fenced it holds on, and its term begins anew", async () => {
      const { term_ms } = lab;
      const late = await begin("late", term_ms);
      await begin("dead", term_ms);
      await lab.pass(term_ms * 1.5);
      expect(await registry.renew(late, { term_ms: term_ms * 100, load: 3 })).toBe("up");
      expect(await registry.fenceDead(late, { term_ms })).toEqual([]);
      const row = (await registry.nodes()).find(({ node_id }) => node_id === "late");
      expect(row).toMatchObject({ load: 3, state: "up" });
      expect(row?.lease_ms).toBeGreaterThan(0);
    });

    it("[O6] many claim at once: each session has one new owner", async () => {
      const gone = await join("gone");
      const all = Array.from({ length: 40 }, (_, no) => `s${String(no).padStart(2, "0")}`);
      for (const id of all) await registry.own(gone, session(id));
      const takers = await Promise.all(["a", "b", "c", "d"].map((id) => join(id)));
      expect(await registry.claim(takers[0] ?? gone, { limit: 50 })).toEqual([]);
      await registry.leave(gone);
      const claims = (
        await Promise.all(Array.from({ length: 12 }, (_, no) => registry.claim(takers[no % 4] ?? gone, { limit: 7 })))
      ).flat();
      for (const taker of takers) claims.push(...(await registry.claim(taker, { limit: 50 })));
      expect(ids(claims)).toEqual(all);
      expect(claims.every(({ epoch, reason, from }) => epoch === 2 && reason === "takeover" && from === "gone")).toBe(true);
      const owned = await Promise.all(takers.map((taker) => registry.owned(taker)));
      expect(ids(owned.flat())).toEqual(all);
    });

    it("[O6] says again what a claim said: its answer may have been lost", async () => {
      const [a, b] = [await join("a"), await join("b")];
      for (const id of ["given", "left"]) await registry.own(a, session(id));
      await registry.release(a, { session_id: "given", epoch: 1 }, { to: "b" });
      const moved = await registry.claim(b, { limit: 10 });
      expect(moved).toEqual([{ session_id: "given", epoch: 2, from: "a", reason: "move" }]);
      expect(await registry.owned(b)).toEqual(moved);
      await registry.leave(a);
      const taken = await registry.claim(b, { limit: 10 });
      expect(taken).toEqual([{ session_id: "left", epoch: 2, from: "a", reason: "takeover" }]);
      expect(await registry.owned(b)).toEqual(expect.arrayContaining([...moved, ...taken]));
    });

    it("[O9] a session goes only where its directory and its agent are", async () => {
      const gone = await join("gone");
      await registry.own(gone, session("shared"));
      await registry.own(gone, session("local", null));
      await registry.own(gone, { session_id: "other-agent", agent: "codex", place: "shared" });
      const elsewhere = await join("elsewhere", { places: ["other"] });
      const gateway = await join("gateway", { kind: "gateway" });
      const draining = await join("draining");
      await registry.mark("draining", "draining");
      await registry.leave(gone);
      for (const node of [elsewhere, gateway, draining]) expect(await registry.claim(node, { limit: 10 })).toEqual([]);
      expect(ids(await registry.claim(await join("fits"), { limit: 10 }))).toEqual(["shared"]);
      expect(ids(await registry.claim(await join("gone"), { limit: 10 }))).toEqual(["local"]);
    });

    it("[O10] a released session is for the node it was promised to, unless that cannot take it", async () => {
      const [a, b, c] = [await join("a"), await join("b"), await join("c")];
      for (const id of ["one", "two", "three"]) await registry.own(a, session(id, id === "three" ? null : "shared"));
      expect(await registry.release(b, { session_id: "one", epoch: 1 })).toBe(false);
      expect(await registry.release(a, { session_id: "one", epoch: 1 }, { to: "c" })).toBe(true);
      expect(await registry.claim(b, { limit: 10 })).toEqual([]);
      expect(await registry.claim(c, { limit: 10 })).toEqual([{ session_id: "one", epoch: 2, from: "a", reason: "move" }]);
      await registry.release(a, { session_id: "two", epoch: 1 }, { to: "c" });
      await registry.mark("c", "draining");
      expect(ids(await registry.claim(b, { limit: 10 }))).toEqual(["two"]);
      await registry.release(a, { session_id: "three", epoch: 1 }, { to: "b" });
      expect(ids(await registry.claim(a, { limit: 10 }))).toEqual(["three"]);
    });

    it("[O10] a release whose answer was lost no longer takes effect once the session was kept", async () => {
      const [a, b] = [await join("a"), await join("b")];
      for (const id of ["kept", "gone"]) await registry.own(a, session(id));
      const [kept, gone] = [
        { session_id: "kept", epoch: 1 },
        { session_id: "gone", epoch: 1 },
      ];
      expect(await registry.keep(b, kept)).toBeUndefined();
      expect(await registry.keep(a, kept)).toBe(2);
      expect(await registry.release(a, kept)).toBe(false);
      expect(await registry.release(a, gone)).toBe(true);
      expect(await registry.keep(a, gone)).toBeUndefined();
      expect(ids(await registry.claim(b, { limit: 10 }))).toEqual(["gone"]);
      expect(await registry.owned(a)).toEqual([{ session_id: "kept", epoch: 2, from: null, reason: "restart" }]);
    });

    it("forgets nodes that are gone for a while, and a name that returns has a life of its own", async () => {
      const { term_ms } = lab;
      const left = await join("left");
      const waited = await join("waited");
      await registry.own(waited, session("local", null));
      await registry.own(left, session("shared"));
      const [died, gateway] = [await join("died"), await join("gateway", { kind: "gateway" })];
      for (const node of [left, waited]) await registry.leave(node);
      for (const { node_id } of [died, gateway]) await registry.mark(node_id, "fenced");
      const alive = await join("alive");
      expect(ids(await registry.claim(alive, { limit: 10 }))).toEqual(["shared"]);
      expect(await registry.forgetGone({ left_ms: 600_000, dead_ms: 600_000 })).toEqual([]);
      await lab.pass(term_ms);
      // A lease that runs on although its node was fenced counts until it would have ended.
      expect(await registry.forgetGone({ left_ms: 0, dead_ms: 600_000 })).toEqual(["left"]);
      expect(await registry.forgetGone({ left_ms: -120_000, dead_ms: 600_000 })).toEqual(["gateway"]);
      expect(await registry.forgetGone({ left_ms: -120_000, dead_ms: -120_000 })).toEqual(["died"]);
      expect((await registry.nodes()).map(({ node_id }) => node_id)).toEqual(["alive", "waited"]);
      const again = await join("left");
      expect(again.incarnation).toBeGreaterThan(left.incarnation);
      expect(await registry.renew(left, { term_ms, load: 0 })).toBe("fenced");
    });

    it("says who owns what, and forgets what was removed", async () => {
      const a = await join("a");
      expect(await registry.own(a, session("s1"))).toBe(1);
      expect(await registry.own(a, session("s1"))).toBeUndefined();
      expect(await registry.find(["s1", "none"])).toEqual([
        { session_id: "s1", agent: "mock", place: "shared", home: "a", owner: a, owned: true, epoch: 1 },
      ]);
      expect((await registry.nodes())[0]).toMatchObject({ node_id: "a", sessions: 1, labels: { zone: "a" }, places: ["shared"] });
      const b = await join("b");
      await registry.own(b, session("s2"));
      await registry.own(b, session("s3"));
      expect((await registry.ownedBy(["a", "b"])).sort()).toEqual(["s1", "s2", "s3"]);
      expect(await registry.ownedBy(["none"])).toEqual([]);
      await registry.mark("b", "fenced");
      expect(await registry.ownedBy(["a", "b"])).toEqual(["s1"]);
      await registry.leave(a);
      expect((await registry.nodes()).map(({ node_id, left }) => [node_id, left])).toEqual([
        ["a", true],
        ["b", false],
      ]);
      expect((await registry.find(["s1"]))[0]).toMatchObject({ owned: false });
      expect(await registry.mark("a", "up")).toBe(false);
      await registry.forget("s1");
      expect(await registry.find(["s1"])).toEqual([]);
      await join("a");
      expect((await registry.nodes())[0]).toMatchObject({ node_id: "a", left: false });
    });
  });
}
