import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe } from "vitest";
import { logContract } from "../log.suite.ts";
import { type OpenPostgresOptions, openPostgresLog, type PostgresLog } from "./log.ts";
import { startPooledPostgres, withoutPooler } from "./test-pooler.ts";
import { startPostgres, type TestPostgres, withoutPostgres } from "./test-postgres.ts";

type Opening = { as: OpenPostgresOptions["as"]; start: () => Promise<TestPostgres>; without: () => boolean; packed?: true };
const openings: Record<string, Opening> = {
  "of one daemon": { as: { holder: "test" }, start: startPostgres, without: withoutPostgres },
  "that nodes share": { as: { node: "test" }, start: startPostgres, without: withoutPostgres },
  "whose history is packed": { as: { node: "test" }, start: startPostgres, without: withoutPostgres, packed: true },
  "behind a pooler in transaction mode": { as: { node: "test" }, start: startPooledPostgres, without: withoutPooler },
};

for (const [name, opening] of Object.entries(openings))
  describe.skipIf(opening.without())(`the Postgres log ${name}`, () => {
    const { as, start } = opening;
    let server: TestPostgres;
    const cleanups: (() => Promise<void>)[] = [];
    beforeAll(async () => {
      server = await start();
    });
    afterEach(async () => {
      for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
    });
    afterAll(() => server.stop());

    async function open(tenant: string): Promise<PostgresLog> {
      const log = await openPostgresLog({ url: server.url, tenant, as });
      cleanups.push(() => log.close());
      return log;
    }

    logContract(async () => {
      const tenant = randomUUID();
      const log = await open(tenant);
      return {
        log,
        reopen: async () => {
          if (opening.packed) await log.seal({ before: Number.MAX_SAFE_INTEGER, limit: 1_000 });
          await log.close();
          return open(tenant);
        },
      };
    });
  });
