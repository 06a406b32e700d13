/**
 * How late events are at a follower: at the session's owner, at another node and at a gateway, from the moment an event is written until a client of that node has it. All are processes of one machine, so they have one
 * clock. The figures are printed, not judged; what is judged is that everybody gets everything, and that other nodes get it from the owner, not by looking at the log. DRAGOMAN_FLEET_LATENCY_SESSIONS sets how many
 * sessions are followed, DRAGOMAN_FLEET_LATENCY_EVENTS how many events each writes.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withoutPostgres } from "../../src/log/postgres/test-postgres.ts";
import { inPortions, TestCluster } from "./test-cluster.ts";

const SESSIONS = Number(process.env.DRAGOMAN_FLEET_LATENCY_SESSIONS ?? 4);
const EVENTS = Number(process.env.DRAGOMAN_FLEET_LATENCY_EVENTS ?? 40);
/** Between two events of a session. */
const PAUSE_MS = 100;
const FROM = ["a", "b", "gateway"] as const;

describe.skipIf(withoutPostgres())("how late a follower is", () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await TestCluster.start([...FROM]);
  });
  afterAll(() => cluster?.stop());

  const metric = async (through: string, name: string): Promise<number> =>
    Number(new RegExp(`^dragoman_${name} (\\d+)`, "m").exec(await (await cluster.call(through, "GET", "/metrics")).text())?.[1]);

  it(`at its owner, at another node and at a gateway (${SESSIONS} sessions, ${EVENTS} events each)`, {
    timeout: 240_000 + SESSIONS * EVENTS * 20,
  }, async () => {
    const ids = await inPortions(Array.from({ length: SESSIONS }), () => cluster.create("a"));
    const late = new Map(FROM.map((from) => [from, [] as number[]]));
    const stop = new AbortController();
    const seen = new Map<string, number>();
    const follow = async (from: (typeof FROM)[number], id: string): Promise<void> => {
      const events = cluster.client(from).session(id).events({ signal: stop.signal });
      for await (const { type, time } of events) {
        const count = seen.get(`${from} ${id}`) ?? 0;
        seen.set(`${from} ${id}`, count + 1);
        // Those of the beginning come from the log.
        if (type === "item.delta") late.get(from)?.push(Date.now() - Date.parse(time));
      }
    };
    const followers = FROM.flatMap((from) => ids.map((id) => follow(from, id)));
    await expect.poll(() => seen.size).toBe(followers.length);
    for (const from of ["b", "gateway"]) await expect.poll(() => metric(from, "tail_sessions")).toBe(SESSIONS);
    await inPortions(ids, (id) => cluster.send("a", id, `clock ${EVENTS} ${PAUSE_MS}`));
    for (const id of ids) await cluster.hasEvents("a", id, "turn.ended");
    for (const id of ids) {
      const { length } = await cluster.events("a", id);
      for (const from of FROM) await expect.poll(() => seen.get(`${from} ${id}`)).toBe(length);
    }
    for (const from of ["b", "gateway"]) expect(await metric(from, "tail_chunks_total")).toBeGreaterThanOrEqual(SESSIONS);
    stop.abort();
    await Promise.all(followers);
    for (const [from, values] of late) {
      const sorted = values.sort((a, b) => a - b);
      const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
      console.log(
        `from an event's writing to its follower at ${from}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms (${sorted.length} events)`,
      );
    }
  });
});
