/**
 * Nodes of an earlier build and of this one side by side, under load: the earlier one made the tables, this one brings them to its version while the other writes. DRAGOMAN_FLEET_OTHER_BUILD names the program of the
 * earlier build (`…/dist/cli/main.js`); without it the test is left out. DRAGOMAN_FLEET_SECONDS sets how long both work.
 */
import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { startPostgres, withoutPostgres } from "../../src/log/postgres/test-postgres.ts";
import { checkStory, Follower, inPortions, TestCluster, textOf } from "./test-cluster.ts";

const OTHER = process.env.DRAGOMAN_FLEET_OTHER_BUILD ?? "";
const SECONDS = Number(process.env.DRAGOMAN_FLEET_SECONDS ?? 20);
const NAMES = ["earlier", "later"];

it.skipIf(withoutPostgres() || !existsSync(OTHER))(
  `an earlier build goes on beside this one for ${SECONDS} s, and its sessions after it here`,
  { timeout: 300_000 + SECONDS * 2_000 },
  async () => {
    const cluster = new TestCluster(await startPostgres());
    try {
      await cluster.start("earlier", { program: OTHER });
      const ids = await inPortions(Array.from({ length: 3 }), () => cluster.create("earlier"));
      let until = Number.POSITIVE_INFINITY;
      /** One turn after the other, through both nodes; each accepted message has its turn. */
      const work = async (id: string, through: readonly string[]): Promise<number> => {
        for (let turn = 1; ; turn++) {
          const key = `${id}-${turn}`;
          const name = through[turn % through.length] ?? "earlier";
          await expect.poll(async () => (await cluster.send(name, id, `say ${key}`, key)).status).toBe(202);
          await cluster.hasEvents(name, id, "turn.ended", turn);
          if (Date.now() > until) return turn;
        }
      };
      const working = ids.map((id) => work(id, ["earlier"]));
      await cluster.start("later");
      await cluster.settled("later", NAMES);
      const more = await inPortions(Array.from({ length: 3 }), () => cluster.create("later", "earlier"));
      const all = [...ids, ...more];
      const followers = all.map((id, n) => new Follower(cluster, id, () => NAMES[n % 2] ?? "later"));
      until = Date.now() + SECONDS * 1_000;
      const turns = await Promise.all([...working, ...more.map((id) => work(id, NAMES))]);
      for (const [n, follower] of followers.entries()) {
        const events = await cluster.events("later", all[n] ?? "");
        await expect.poll(() => follower.last).toBe(events.length);
        await follower.close();
        checkStory(events);
        follower.check(events);
        expect(events.filter(({ type }) => type === "turn.started")).toHaveLength(turns[n] ?? 0);
      }
      await cluster.kill("earlier");
      for (const id of ids) {
        await cluster.hasEvents("later", id, "session.moved");
        await expect.poll(async () => (await cluster.send("later", id, "say after it", `${id}-last`)).status).toBe(202);
        await expect.poll(async () => textOf(await cluster.events("later", id))).toContain("after it");
        checkStory(await cluster.events("later", id));
      }
      console.log(`two builds side by side for ${SECONDS} s: ${turns.reduce((sum, count) => sum + count, 0)} turns, each once`);
    } finally {
      await cluster.stop();
    }
  },
);
