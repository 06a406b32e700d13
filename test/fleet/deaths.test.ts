/**
 * Nodes that die, and nodes that are stopped and come back too late: real processes. DRAGOMAN_FLEET_KILLS and DRAGOMAN_FLEET_ZOMBIES set how often, DRAGOMAN_FLEET_SESSIONS with how
 * many sessions.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withoutPostgres } from "../../src/log/postgres/test-postgres.ts";
import type { UniversalEvent } from "../../src/schema/event.ts";
import { linux, processesRunning } from "../daemon-process.ts";
import { checkStory, inPortions, LEASE_S, median, TestCluster, textOf } from "./test-cluster.ts";

const KILLS = Number(process.env.DRAGOMAN_FLEET_KILLS ?? 1);
const ZOMBIES = Number(process.env.DRAGOMAN_FLEET_ZOMBIES ?? 1);
const SESSIONS = Number(process.env.DRAGOMAN_FLEET_SESSIONS ?? 12);
/** So many of them have an agent that runs; the others rest. */
const BUSY = 16;
const NAMES = ["a", "b", "c"];
/** What sessions are doing when their node is gone: talking, waiting for a person, at rest. */
const WORK = ["slow 20 one two three four five six seven eight nine ten eleven twelve", "ask touch it", "question", "say done"];
const limit = (rounds: number): number => 120_000 + rounds * 60_000;

describe.skipIf(withoutPostgres())("deaths of nodes", () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await TestCluster.start([...NAMES, "gateway"]);
  });
  afterAll(() => cluster?.stop());

  const busy = async (on: string, count: number): Promise<string[]> => {
    return inPortions(Array.from({ length: count }), async (_, n) => {
      const id = await cluster.create(on, "gateway");
      if (n >= BUSY) return id;
      expect((await cluster.send("gateway", id, `say my number is ${n}`)).status).toBe(202);
      await cluster.hasEvents("gateway", id, "turn.ended");
      expect((await cluster.send("gateway", id, WORK[n % WORK.length] ?? "")).status).toBe(202);
      await cluster.hasEvents("gateway", id, "turn.started", 2);
      return id;
    });
  };

  /** By the registry: when the last of these sessions had another owner. */
  const takenOver = async (ids: readonly string[], from: string): Promise<void> => {
    await expect
      .poll(
        async () => {
          const views = await Promise.all(ids.map((id) => cluster.view("gateway", id)));
          return views.filter(({ node, reachable }) => node !== from && reachable).length;
        },
        { interval: 50 },
      )
      .toBe(ids.length);
  };

  /**
   * [O7] A message that was accepted makes exactly one turn, and that turn is its end: nothing is given to an agent twice. It is cut short by one thing only, another takeover, of which the log tells: on a machine
   * that is too busy for the lease the new owner may lose the session as well. Then the next message is the answer.
   */
  const goesOn = async (id: string, text: string): Promise<UniversalEvent[]> => {
    for (;;) {
      const sent = await cluster.send("gateway", id, text);
      expect(sent.status, await sent.clone().text()).toBe(202);
      const { turn_id } = (await sent.json()) as { turn_id: string };
      const of = async (type: UniversalEvent["type"]): Promise<UniversalEvent[]> =>
        (await cluster.events("gateway", id, type)).filter(({ data }) => "turn_id" in data && data.turn_id === turn_id);
      await expect
        .poll(() => of("turn.ended"))
        .toHaveLength(1)
        .catch(async (error: Error) => {
          throw new Error(`turn ${turn_id} of ${id} has no end: ${await cluster.whatIsKnown(id)}`, { cause: error });
        });
      const [ended] = await of("turn.ended");
      const [started, ...more] = await of("turn.started");
      expect(more).toEqual([]);
      const { stop_reason } = (ended?.data ?? {}) as { stop_reason?: string };
      if (stop_reason === "end_turn") return cluster.events("gateway", id);
      expect(stop_reason).toBe("interrupted");
      const taken = async (): Promise<number> =>
        (await cluster.events("gateway", id, "session.moved")).filter(({ sequence }) => sequence > (started?.sequence ?? 0))
          .length;
      await expect.poll(taken).toBeGreaterThan(0);
    }
  };

  it(`[O5] [O6] kill -9 of a node: others own its sessions, close what was open, and go on with what their agents knew (${KILLS} times, ${SESSIONS} sessions)`, {
    timeout: limit(KILLS),
  }, async () => {
    const taken: number[] = [];
    for (let round = 0; round < KILLS; round++) {
      const victim = NAMES[round % NAMES.length] ?? "a";
      await cluster.settled("gateway", NAMES);
      const ids = await busy(victim, SESSIONS);
      const lone = await cluster.create(victim, "gateway", { directory: cluster.alone(victim), env: {} });
      await cluster.send("gateway", lone, "say here only");
      await cluster.hasEvents("gateway", lone, "turn.ended");
      const before = new Map(await Promise.all(ids.map(async (id) => [id, await cluster.events("gateway", id)] as const)));
      const killedAt = performance.now();
      await cluster.kill(victim);
      await takenOver(ids, victim);
      taken.push(performance.now() - killedAt);
      await inPortions(ids, async (id, n) => {
        await cluster.hasEvents("gateway", id, "session.moved");
        const events = n < BUSY ? await goesOn(id, "remember") : await cluster.events("gateway", id);
        checkStory(events);
        const known = before.get(id) ?? [];
        expect(events.slice(0, known.length)).toEqual(known);
        const moved = events.findIndex(({ type }) => type === "session.moved");
        expect(events[moved]?.data).toMatchObject({ from: victim, reason: "takeover" });
        if (n < BUSY) expect(textOf(events.slice(moved))).toContain(`my number is ${n}`);
      });
      expect(await cluster.view("gateway", lone)).toMatchObject({ node: null, reachable: false, unclaimable: "directory" });
      expect((await cluster.send("gateway", lone, "say anybody")).status).toBe(503);
      expect((await cluster.events("gateway", lone)).length).toBeGreaterThan(0);
      await cluster.start(victim);
      await expect.poll(async () => (await cluster.view("gateway", lone)).reachable).toBe(true);
      const events = await goesOn(lone, "say back");
      checkStory(events);
      if (linux) for (const pid of processesRunning("agents/mock/program", cluster.home)) expect(livesUnder(pid)).toBe(true);
      await inPortions([...ids, lone], (id) => cluster.call("gateway", "DELETE", `/v1/sessions/${id}`));
    }
    console.log(
      `taken over after kill -9, of ${SESSIONS} sessions, ms: ${taken.map(Math.round).join(" ")} (median ${Math.round(median(taken))}, lease ${LEASE_S} s)`,
    );
  });

  it(`[O3] [O8] a node that was stopped for longer than its lease writes nothing any more, and ends the agents it lost (${ZOMBIES} times)`, {
    timeout: limit(ZOMBIES),
  }, async () => {
    for (let round = 0; round < ZOMBIES; round++) {
      const victim = NAMES[(round + 1) % NAMES.length] ?? "b";
      await cluster.settled("gateway", NAMES);
      const ids = await busy(victim, Math.min(SESSIONS, 8));
      const talking = await cluster.create(victim, "gateway");
      await cluster.send("gateway", talking, "clock 100000 5");
      await cluster.hasEvents("gateway", talking, "item.delta", 5);
      cluster.node(victim).child.kill("SIGSTOP");
      await takenOver([...ids, talking], victim);
      for (const id of [...ids, talking]) await cluster.hasEvents("gateway", id, "session.moved");
      const takenAt = new Map(
        await Promise.all([...ids, talking].map(async (id) => [id, await cluster.events("gateway", id)] as const)),
      );
      cluster.node(victim).child.kill("SIGCONT");
      // It finds out, has its lease again, and has given up what it lost: its agents are gone.
      await expect
        .poll(async () => (await cluster.nodeRows("gateway")).find(({ node_id }) => node_id === victim))
        .toMatchObject({ state: "up", load: 0, sessions: 0 });
      if (linux) await expect.poll(() => processesRunning("agents/mock/program", dirOf(victim))).toEqual([]);
      await inPortions([...ids, talking], async (id) => {
        const events = await goesOn(id, "say after the zombie");
        checkStory(events);
        const known = takenAt.get(id) ?? [];
        expect(events.slice(0, known.length)).toEqual(known);
        await cluster.call("gateway", "DELETE", `/v1/sessions/${id}`);
      });
    }
  });

  const dirOf = (name: string): string => cluster.node(name).data_dir;
});

/** Its parent is alive and is a daemon: nobody is left behind by a dead one. */
function livesUnder(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    return readFileSync(`/proc/${parent}/cmdline`, "utf8").includes("cli/main.js");
  } catch {
    return true;
  }
}
