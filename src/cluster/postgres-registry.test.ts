/** The contract on a real Postgres, and what only a database can do wrong. */
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Postgres } from "../log/postgres/connection.ts";
import { migrate } from "../log/postgres/migrations.ts";
import { logTables } from "../log/postgres/schema.ts";
import { startPostgres, type TestPostgres, withoutPostgres } from "../log/postgres/test-postgres.ts";
import { FLEET_TABLES, PostgresRegistry } from "./postgres-registry.ts";
import { registrySuite } from "./registry.suite.ts";

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
    const a = await registry.join({ ...profile, places: [], agents: ["mock"] }, { term_ms: 60_000 });
    await registry.own(a, { session_id: "s1", agent: "mock", place: null });
    expect(await registry.afterRestore()).toBe(1);
    expect(await registry.renew(a, { term_ms: 60_000, load: 0 })).toBe("fenced");
    expect((await registry.find(["s1"]))[0]?.epoch).toBeGreaterThan(1_000_000);
  });
});
