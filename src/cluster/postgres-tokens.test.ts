import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Postgres } from "../log/postgres/connection.ts";
import { migrate } from "../log/postgres/migrations.ts";
import { logTables } from "../log/postgres/schema.ts";
import { startPostgres, type TestPostgres, withoutPostgres } from "../log/postgres/test-postgres.ts";
import { FLEET_TABLES } from "./fleet-tables.ts";
import { PostgresTokens } from "./postgres-tokens.ts";

describe.skipIf(withoutPostgres())("the table of tokens", () => {
  let server: TestPostgres;
  let database: Postgres;
  let tokens: PostgresTokens;
  beforeAll(async () => {
    server = await startPostgres();
    database = await Postgres.open({ url: server.url });
    await migrate(database, [logTables, FLEET_TABLES]);
    tokens = new PostgresTokens(database);
  });
  afterAll(async () => {
    await database.close();
    await server.stop();
  });
  const later = Date.now() + 60_000;

  it("tells what changed since a version, in order, also when many write at once", async () => {
    const ids = Array.from({ length: 20 }, (_, n) => `tok_${n}`);
    let [known, version] = [new Map<string, string | null>(), 0];
    const look = async (): Promise<void> => {
      const { rows, ...seen } = await tokens.since(version);
      version = seen.version;
      known = new Map([...known, ...rows.map(({ id, body }) => [id, body] as const)]);
    };
    const writes = ids.map((id) => tokens.put([{ id, body: `{"id":"${id}"}`, expires_at: later }]));
    for (let n = 0; n < 10; n++) await look();
    await Promise.all(writes);
    await look();
    expect([...known.keys()].sort()).toEqual([...ids].sort());
    expect((await tokens.since(version)).rows).toEqual([]);
  });

  it("[O12] one that was ended stays ended, and is ended once", async () => {
    const row = { id: "tok_link", body: "{}", expires_at: later };
    await tokens.put([row]);
    const taken = await Promise.all([1, 2, 3, 4].map(() => tokens.take(row.id)));
    expect(taken.filter(Boolean)).toHaveLength(1);
    await tokens.put([{ ...row, body: '{"renewed":true}' }]);
    const { rows } = await tokens.since(0);
    expect(rows.find(({ id }) => id === row.id)?.body).toBeNull();
    expect(await tokens.take("tok_none")).toBe(false);
    const other = new PostgresTokens(database, "another fleet");
    expect([(await other.since(0)).rows, await other.take("tok_0")]).toEqual([[], false]);
  });

  it("forgets those that expired long ago", async () => {
    await tokens.put([{ id: "tok_old", body: "{}", expires_at: Date.now() - 2 * 24 * 60 * 60_000 }]);
    await tokens.put([{ id: "tok_new", body: "{}", expires_at: later }]);
    expect((await tokens.since(0)).rows.map(({ id }) => id)).not.toContain("tok_old");
  });
});
