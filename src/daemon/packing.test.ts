import { expect, it } from "vitest";
import { FLEET_TABLES } from "../cluster/fleet-tables.ts";
import { PostgresRegistry } from "../cluster/postgres-registry.ts";
import { openPostgresLog } from "../log/postgres/log.ts";
import { startPostgres, withoutPostgres } from "../log/postgres/test-postgres.ts";
import { checkCluster } from "./cluster-care.ts";
import { packResting } from "./packing.ts";
import { version } from "./version.ts";

it.skipIf(withoutPostgres())("one node packs what has rested for a day, when no living node is of another version", async () => {
  const server = await startPostgres();
  const log = await openPostgresLog({ url: server.url, as: { node: "n1/1" }, rooms: [FLEET_TABLES] });
  try {
    const registry = new PostgresRegistry(log.database);
    const join = async (node_id: string, of: string): Promise<unknown> =>
      registry.join(
        {
          ...{ node_id, kind: "node", writer: `${node_id}/1`, url: `http://${node_id}`, version: of },
          ...{ labels: {}, places: [], agents: ["mock"], capacity: 5 },
        },
        { term_ms: 600_000, birth: await registry.birth() },
      );
    const n1 = (await join("n1", version)) as Parameters<PostgresRegistry["own"]>[0];
    for (const [id, days] of [["old", 2] as const, ["young", 0] as const]) {
      await registry.own(n1, { session_id: id, agent: "mock", place: null });
      const writer = await log.create("session", id, '{"agent":"mock"}');
      for (const sequence of [1, 2, 3]) {
        const written_at = Date.now() - days * 24 * 60 * 60_000;
        writer.append({ text: JSON.stringify({ sequence }), sequence, type: "x", native: null, written_at });
        await writer.committed();
      }
    }
    const pack = (leads: boolean): Promise<number> => packResting({ registry, log, leads: async () => leads });
    await join("n2", "0.0.1-older");
    expect(await pack(true)).toBe(0);
    await registry.mark("n2", "fenced");
    expect(await pack(false)).toBe(0);
    expect(await pack(true)).toBe(1);
    expect((await log.row("session", "old"))?.last_sequence).toBe(3);
    expect((await (await log.stream("session", "old"))?.read())?.events).toEqual(
      [1, 2, 3].map((sequence) => JSON.stringify({ sequence })),
    );
    expect((await checkCluster(server.url)).facts.join("\n")).toContain("1 of 2 sessions rest and are packed");
  } finally {
    await log.close();
    await server.stop();
  }
});
