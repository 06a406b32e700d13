/** Versions side by side: a node that runs goes on when a newer one has changed the tables, and one that starts on tables newer than it knows is refused before it writes anything. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Postgres } from "../../src/log/postgres/connection.ts";
import { withoutPostgres } from "../../src/log/postgres/test-postgres.ts";
import { cli } from "../daemon-process.ts";
import { checkStory, TestCluster } from "./test-cluster.ts";

describe.skipIf(withoutPostgres())("a fleet of two versions", () => {
  let cluster: TestCluster;
  let database: Postgres;
  beforeAll(async () => {
    cluster = await TestCluster.start(["a"]);
    database = await Postgres.open({ url: cluster.postgres.url });
  });
  afterAll(async () => {
    await database?.close();
    await cluster?.stop();
  });

  it.each(["log", "cluster"])(
    "tables of the %s that a newer version made: who runs goes on, who starts is refused and writes nothing",
    async (room) => {
      const id = await cluster.create("a");
      await database.query("INSERT INTO dragoman.migrations (room, version) VALUES ($1, 99)", [room]);
      const all = async (): Promise<unknown> =>
        (
          await database.query(
            "SELECT node_id FROM dragoman.nodes UNION ALL SELECT epoch FROM dragoman.epochs UNION ALL SELECT no::text FROM dragoman.committers ORDER BY 1",
          )
        ).rows;
      const before = await all();
      const newer = new RegExp(
        `was written by a newer dragoman \\(${room} version 99, this one knows \\d+\\)\\. Update dragoman`,
      );
      for (const name of ["b", "gateway"]) await expect(cluster.start(name)).rejects.toThrow(newer);
      const init = await cli(cluster.home, ["cluster", "init", "--cluster", cluster.postgres.url]);
      expect([init.code, init.err]).toEqual([expect.any(Number), expect.stringMatching(newer)]);
      expect(init.code).not.toBe(0);
      expect(await all()).toEqual(before);
      expect((await cluster.send("a", id, "say it goes on")).status).toBe(202);
      await cluster.hasEvents("a", id, "turn.ended");
      checkStory(await cluster.events("a", id));
      await database.query("DELETE FROM dragoman.migrations WHERE version = 99");
      await cluster.start("b");
      expect((await cluster.nodeRows("a")).map(({ node_id }) => node_id)).toContain("b");
      await cluster.node("b").kill("SIGTERM");
    },
  );
});
