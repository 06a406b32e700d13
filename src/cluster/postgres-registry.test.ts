/** The contract on a real Postgres, and what only a database can do wrong. */
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Postgres } from "../log/postgres/connection.ts";
import { openPostgresLog } from "../log/postgres/log.ts";
import { migrate } from "../log/postgres/migrations.ts";
import { logTables } from "../log/postgres/schema.ts";
import { startPostgres, type TestPostgres, withoutPostgres } from "../log/postgres/test-postgres.ts";
import { FLEET_TABLES } from "./fleet-tables.ts";
import { PostgresRegistry } from "./postgres-registry.ts";
import { registrySuite } from "./registry.suite.ts";
import type { NodeProfile } from "./registry.ts";

describe.skipIf(withoutPostgres())("on Postgres", () => {
  let server: TestPostgres;
  let database: Postgres;

  beforeAll(async () => {
    server = await startPostgres();
    database = await Postgres.open({ url: server.url });
    await migrate(database, [logTables, FLEET_TABLES]);
  });

  afterAll(async () => {
    await database?.close();
    await server?.stop();
  });

  const empty = async (): Promise<PostgresRegistry> => {
    await database.query("TRUNCATE dragoman.nodes, dragoman.owners");
    return new PostgresRegistry(database);
  };

  registrySuite("postgres", async () => ({ registry: await empty(), term_ms: 400, pass: (ms) => delay(ms) }));

  it("fleets of two tenants share a database, nodes and sessions of one name included, and know nothing of each other", async () => {
    await empty();
    const [one, two] = [new PostgresRegistry(database, "one"), new PostgresRegistry(database, "two")];
    const profile = (writer: string): NodeProfile => ({
      ...{
        node_id: "a",
        kind: "node",
        writer,
        url: "http://a",
        version: "1",
        labels: {},
        capacity: 1,
        places: [],
        agents: ["mock"],
      },
    });
    const join = async (registry: PostgresRegistry, writer: string) =>
      registry.join(profile(writer), { term_ms: 60_000, birth: await registry.birth() });
    const session = { session_id: "same", agent: "mock", place: null };
    const logs = [];
    for (const [tenant, registry] of [["one", one] as const, ["two", two] as const]) {
      const a = await join(registry, `${tenant}/1`);
      expect(await registry.own(a, session)).toBe(1);
      const log = await openPostgresLog({ url: server.url, tenant, as: { node: `${tenant}/1` } });
      await (await log.create("session", "same", '{"agent":"mock"}')).committed();
      logs.push(log);
    }
    const again = await join(one, "one/2");
    expect(await one.claim(again, { limit: 10 })).toEqual([{ session_id: "same", epoch: 2, from: "a", reason: "restart" }]);
    const { rows } = await database.query("SELECT tenant, epoch, owner FROM dragoman.streams WHERE id = 'same' ORDER BY tenant");
    expect(rows).toEqual([
      { tenant: "one", epoch: 2, owner: "one/2" },
      { tenant: "two", epoch: 1, owner: "two/1" },
    ]);
    expect((await two.find(["same"]))[0]).toMatchObject({ owned: true, epoch: 1 });
    await one.mark("a", "fenced");
    expect((await Promise.all([one, two].map((each) => each.nodes()))).flat().map(({ state }) => state)).toEqual([
      "fenced",
      "up",
    ]);
    await one.afterRestore();
    expect((await two.find(["same"]))[0]).toMatchObject({ owned: true, epoch: 1 });
    await one.forget("same");
    expect([await one.unknown(), await two.unknown()].map((all) => all.length)).toEqual([1, 0]);
    for (const log of logs) await log.close();
  });

  it("after a restore every node that lived on is refused, and every epoch is higher than it ever was", async () => {
    const registry = await empty();
    const profile = {
      node_id: "a",
      kind: "node",
      writer: "a/1",
      url: "http://a",
      version: "1",
      labels: {},
      capacity: 1,
    } as const;
    const a = await registry.join(
      { ...profile, places: [], agents: ["mock"] },
      { term_ms: 60_000, birth: await registry.birth() },
    );
    await registry.own(a, { session_id: "s1", agent: "mock", place: null });
    expect(await registry.afterRestore()).toBe(1);
    expect(await registry.renew(a, { term_ms: 60_000, load: 0 })).toBe("fenced");
    expect((await registry.find(["s1"]))[0]?.epoch).toBeGreaterThan(1_000_000);
  });
});
