/**
 * The database of a fleet dies under the load of three nodes, real processes all: killed and started again, and killed for good with its synchronous standby in its place. Nothing that a client saw is missing
 * afterwards, nothing is there twice. DRAGOMAN_FLEET_DATABASE_KILLS and DRAGOMAN_FLEET_FAILOVERS set how often.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Postgres } from "../../src/log/postgres/connection.ts";
import { startPostgres, type TestPostgres, withoutPostgres } from "../../src/log/postgres/test-postgres.ts";
import { startProxy, type TestProxy } from "../../src/log/postgres/test-proxy.ts";
import { checkStory, Follower, inPortions, median, TestCluster } from "./test-cluster.ts";

const KILLS = Number(process.env.DRAGOMAN_FLEET_DATABASE_KILLS ?? 1);
const FAILOVERS = Number(process.env.DRAGOMAN_FLEET_FAILOVERS ?? 1);
const NAMES = ["a", "b", "c"];
const SESSIONS = 6;
/** Before a fault so many new events were seen. */
const EVENTS = 300;

describe.skipIf(withoutPostgres())("the database of a fleet dies", () => {
  let cluster: TestCluster;
  let primary: TestPostgres;
  let proxy: TestProxy;
  const servers: TestPostgres[] = [];

  beforeAll(async () => {
    // A pause before a commit lets several sessions share one: more is in flight when the database dies.
    primary = await startPostgres();
    servers.push(primary);
    proxy = await startProxy(primary.url);
    cluster = new TestCluster(primary);
    for (const name of [...NAMES, "gateway"]) await cluster.start(name, { url: proxy.url });
  });
  afterAll(async () => {
    await cluster?.stop();
    await proxy?.close();
    for (const server of servers) await server.stop();
  });

  /** Sessions on all nodes that work without end, each followed through another node, while `faults` happen. */
  const underLoad = async (faults: (seen: () => number) => Promise<void>): Promise<number> => {
    const ids = await inPortions(Array.from({ length: SESSIONS }), (_, n) => cluster.create(NAMES[n % 3] ?? "a", "gateway"));
    const followers = ids.map((id, n) => new Follower(cluster, id, () => NAMES[(n + 1) % 3] ?? "a"));
    const seen = (): number => followers.reduce((sum, { last }) => sum + last, 0);
    let stopped = false;
    const accepted = new Map<string, string>();
    const work = ids.map(async (id, n) => {
      for (let turn = 0; !stopped; turn++) {
        const key = `${id}-${turn}`;
        for (;;) {
          const answer = await cluster.send(NAMES[(n + turn) % 3] ?? "a", id, `say ${key}\nmessages 20`, key).catch(() => null);
          if (answer?.status === 202) break;
          if (answer) expect(answer.status, await answer.text()).toBeGreaterThanOrEqual(500);
        }
        accepted.set(key, id);
        await expect.poll(() => followers[n]?.seen.filter(({ type }) => type === "turn.ended").length).toBeGreaterThan(turn);
      }
    });
    try {
      await faults(seen);
    } finally {
      stopped = true;
    }
    await Promise.all(work);
    await inPortions(followers, async (follower) => {
      await follower.close();
      const events = await cluster.events("gateway", follower.id);
      checkStory(events);
      follower.check(events);
      // Every message that was accepted began one turn; one that was refused while the database was away began none.
      const queued = events.filter(({ type }) => type === "message.queued").length;
      const refused = events.filter(({ type }) => type === "message.removed").length;
      const turns = events.filter(({ type, data }) => type === "turn.started" && "message_id" in data).length;
      const wanted = [...accepted.values()].filter((id) => id === follower.id).length;
      expect({ turns, kept: queued - refused }).toEqual({ turns: wanted, kept: wanted });
      await cluster.call("gateway", "DELETE", `/v1/sessions/${follower.id}`);
    });
    return seen();
  };

  it(`[O4] killed and started again: nothing that was seen is lost, nothing is there twice (${KILLS} times)`, {
    timeout: 240_000 + KILLS * 30_000,
  }, async () => {
    const back: number[] = [];
    const total = await underLoad(async (seen) => {
      for (let round = 0; round < KILLS; round++) {
        const before = seen();
        await expect.poll(seen).toBeGreaterThan(before + EVENTS);
        await primary.kill();
        const dead = seen();
        await primary.restart();
        const restarted = performance.now();
        await expect.poll(seen, { interval: 20 }).toBeGreaterThan(dead + SESSIONS * 4);
        back.push(performance.now() - restarted);
      }
    });
    console.log(
      `the database was killed ${KILLS} times: ${total} events seen, 0 lost; new ones ${Math.round(median(back))} ms (median) after the restart, at most ${Math.round(Math.max(...back))}`,
    );
  });

  it(`[O4] killed for good, a synchronous standby takes its place: nothing that was seen is lost (${FAILOVERS} times)`, {
    timeout: 240_000 + FAILOVERS * 60_000,
  }, async () => {
    const back: number[] = [];
    const total = await underLoad(async (seen) => {
      for (let round = 0; round < FAILOVERS; round++) {
        const standby = await primary.standby();
        servers.push(standby);
        await isSynchronous(primary);
        const before = seen();
        await expect.poll(seen).toBeGreaterThan(before + EVENTS);
        await primary.kill();
        const dead = seen();
        await standby.promote();
        proxy.lead(standby.url);
        primary = standby;
        const promoted = performance.now();
        await expect.poll(seen, { interval: 20 }).toBeGreaterThan(dead + SESSIONS * 4);
        back.push(performance.now() - promoted);
      }
    });
    console.log(
      `failed over to a synchronous standby ${FAILOVERS} times: ${total} events seen, 0 lost; new ones ${Math.round(median(back))} ms (median) after the promotion, at most ${Math.round(Math.max(...back))}`,
    );
  });
});

async function isSynchronous({ url }: TestPostgres): Promise<void> {
  const database = await Postgres.open({ url });
  try {
    const state = async () => (await database.query("SELECT sync_state FROM pg_stat_replication")).rows[0]?.sync_state;
    await expect.poll(state).toBe("sync");
  } finally {
    await database.close();
  }
}
