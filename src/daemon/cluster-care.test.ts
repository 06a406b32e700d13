import { expect, it } from "vitest";
import { PostgresRegistry } from "../cluster/postgres-registry.ts";
import { Postgres } from "../log/postgres/connection.ts";
import { startPostgres, withoutPostgres } from "../log/postgres/test-postgres.ts";
import { afterRestore, checkCluster, initCluster } from "./cluster-care.ts";

it.skipIf(withoutPostgres())("a fleet's database is made, examined and put right after a restore", async () => {
  const server = await startPostgres();
  const database = await Postgres.open({ url: server.url });
  try {
    await initCluster(server.url);
    await initCluster(server.url);
    expect((await checkCluster(server.url)).faults).toEqual(["No node takes sessions."]);
    const registry = new PostgresRegistry(database);
    const node = {
      node_id: "n1",
      kind: "node",
      writer: "n1/1",
      url: "http://n1",
      version: "1",
      labels: {},
      capacity: 5,
    } as const;
    const n1 = await registry.join({ ...node, places: [], agents: ["mock"] }, { term_ms: 60_000, birth: await registry.birth() });
    await registry.own(n1, { session_id: "s1", agent: "mock", place: null });
    const well = await checkCluster(server.url);
    expect(well.faults).toEqual([]);
    expect(well.facts.join("\n")).toContain("n1 (node, up, 1 session)");
    expect(await afterRestore(server.url)).toBe(1);
    expect((await checkCluster(server.url)).faults.join("\n")).toContain(
      "s1 waits for node n1: its directory is on no node that takes sessions.",
    );
  } finally {
    await database.close();
    await server.stop();
  }
});
