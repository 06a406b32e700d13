/**
 * What clients see while a fleet breaks around them: real processes. Streams go on through the death of a gateway and of an owner, through a drain and a restart of the database; a message with a key makes
 * one turn. DRAGOMAN_FLEET_STREAMS and DRAGOMAN_FLEET_KEYS set how often.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withoutPostgres } from "../../src/log/postgres/test-postgres.ts";
import { checkStory, Follower, inPortions, TestCluster, textOf } from "./test-cluster.ts";

const STREAMS = Number(process.env.DRAGOMAN_FLEET_STREAMS ?? 1);
/** Messages with a key; so many of them in one takeover. */
const KEYS = Number(process.env.DRAGOMAN_FLEET_KEYS ?? 8);
const AT_ONCE = 20;
const NAMES = ["a", "b", "c"];
const GATEWAYS = ["gateway-1", "gateway-2"];

describe.skipIf(withoutPostgres())("clients of a fleet that breaks", () => {
  let cluster: TestCluster;
  /** Those that live. */
  const gateways = new Set(GATEWAYS);
  const anyGateway = (): string => [...gateways][0] ?? "";

  beforeAll(async () => {
    cluster = await TestCluster.start([...NAMES, ...GATEWAYS]);
  });
  afterAll(() => cluster?.stop());

  it(`[O6] [O10] a stream of events tells 1 to n once through the death of its gateway and of the owner, a drain and a restart of the database (${STREAMS} times)`, {
    timeout: 240_000 + STREAMS * 120_000,
  }, async () => {
    for (let round = 0; round < STREAMS; round++) {
      await cluster.settled(anyGateway(), NAMES);
      const ids = await inPortions(["a", "a", "b", "b"], (on) => cluster.create(on, anyGateway()));
      // Half of them through a gateway, half through a node that owns none of them.
      const followers = ids.map((id, index) => new Follower(cluster, id, () => (index % 2 === 0 ? anyGateway() : "c")));
      /** Each session says something new, and each follower hears it. */
      const goOn = async (): Promise<void> => {
        await inPortions(ids, async (id) => {
          const ended = (await cluster.events("c", id, "turn.ended")).length;
          await expect.poll(async () => (await cluster.send("c", id, "say one two three")).status).toBe(202);
          await cluster.hasEvents("c", id, "turn.ended", ended + 1);
        });
        for (const follower of followers) {
          const { length } = await cluster.events("c", follower.id);
          await expect.poll(() => follower.last).toBeGreaterThanOrEqual(length);
        }
      };
      await goOn();
      const gateway = anyGateway();
      gateways.delete(gateway);
      await cluster.kill(gateway);
      await goOn();
      await cluster.kill("a");
      for (const id of ids.slice(0, 2)) await cluster.hasEvents("c", id, "session.moved");
      await goOn();
      await cluster.postgres.kill();
      await cluster.postgres.restart();
      await goOn();
      expect((await cluster.call("c", "POST", "/v1/nodes/b/drain")).status).toBe(202);
      await expect
        .poll(async () => (await cluster.nodeRows("c")).find(({ node_id }) => node_id === "b"))
        .toMatchObject({ state: "draining", sessions: 0 });
      await goOn();
      for (const follower of followers) {
        await follower.close();
        const events = await cluster.events("c", follower.id);
        checkStory(events);
        follower.check(events);
        expect(follower.seen.length).toBe(events.length);
        await cluster.call("c", "DELETE", `/v1/sessions/${follower.id}`);
      }
      await cluster.call("c", "POST", "/v1/nodes/b/drain", { undo: true });
      await Promise.all([cluster.start("a"), cluster.start(gateway)]);
      gateways.add(gateway);
    }
  });

  it("[O6] what is sent while nobody owns a session waits for the takeover, and is answered through the node that takes it over as through others", async () => {
    await cluster.settled("gateway-1", NAMES);
    const ids = await inPortions(Array.from({ length: 4 }), () => cluster.create("a", "gateway-1"));
    await cluster.kill("a");
    const sent = ids.flatMap((id) =>
      ["b", "c", "gateway-1"].map((through) => cluster.send(through, id, `say through ${through}`)),
    );
    for (const answer of await Promise.all(sent)) expect(answer.status, await answer.text()).toBe(202);
    await inPortions(ids, async (id) => {
      await cluster.hasEvents("c", id, "turn.ended", 3);
      const events = await cluster.events("c", id);
      checkStory(events);
      for (const through of ["b", "c", "gateway-1"]) expect(textOf(events)).toContain(`through ${through}`);
      await cluster.call("c", "DELETE", `/v1/sessions/${id}`);
    });
    await cluster.start("a");
  });

  it(`[O7] a message with a key that is sent again over three nodes during a takeover makes one turn (${KEYS} messages)`, {
    timeout: 240_000 + KEYS * 10_000,
  }, async () => {
    let answers = 0;
    for (let done = 0; done < KEYS; done += AT_ONCE) {
      const victim = NAMES[(done / AT_ONCE) % NAMES.length] ?? "a";
      const others = [...NAMES.filter((name) => name !== victim), "gateway-1"];
      await cluster.settled("gateway-1", NAMES);
      const count = Math.min(AT_ONCE, KEYS - done);
      const ids = await inPortions(Array.from({ length: count }), () => cluster.create(victim, "gateway-1"));
      const stopped = done % (2 * AT_ONCE) !== 0;
      const accepted = new Map<string, Set<string>>();
      const work = ids.map(async (id, n) => {
        const turns = new Set<string>();
        accepted.set(id, turns);
        // A client that tries until it has two answers, each time at another address; the first attempts go to the node that dies.
        for (let attempt = 0, right = 0; right < 2; attempt++) {
          const through = attempt === 0 && n % 2 === 0 ? victim : (others[(attempt + n) % others.length] ?? "b");
          const answer = await cluster.send(through, id, "say exactly once", `key-${id}`).catch(() => null);
          if (answer?.status === 202) {
            turns.add(((await answer.json()) as { turn_id: string }).turn_id);
            right++;
            answers++;
          } else if (answer) expect([421, 500, 502, 503], await answer.text()).toContain(answer.status);
        }
      });
      if (stopped) cluster.node(victim).child.kill("SIGSTOP");
      else await cluster.kill(victim);
      // A client that waits for a node that is stopped waits until it is given up; a dead one is not there.
      await inPortions(ids, (id) => expect.poll(async () => (await cluster.view("gateway-1", id)).node).not.toBe(victim));
      if (stopped) cluster.node(victim).child.kill("SIGCONT");
      await Promise.all(work);
      await inPortions(ids, async (id) => {
        await cluster.hasEvents("gateway-1", id, "turn.ended");
        const events = await cluster.events("gateway-1", id);
        checkStory(events);
        expect(events.filter(({ type }) => type === "turn.started")).toHaveLength(1);
        expect(events.filter(({ type }) => type === "message.queued")).toHaveLength(1);
        expect([...(accepted.get(id) ?? [])]).toEqual([events.find(({ type }) => type === "turn.started")?.data.turn_id]);
        await cluster.call("gateway-1", "DELETE", `/v1/sessions/${id}`);
      });
      if (!stopped) await cluster.start(victim);
    }
    console.log(`${KEYS} messages with a key over three nodes during takeovers: ${answers} answers, one turn each`);
  });
});
