import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe } from "vitest";
import { logContract } from "../log.suite.ts";
import { type OpenPostgresOptions, openPostgresLog, type PostgresLog } from "./log.ts";
import { startPostgres, type TestPostgres, withoutPostgres } from "./test-postgres.ts";

const openings: Record<string, OpenPostgresOptions["as"]> = {
  "of one daemon": { holder: "test" },
  "that nodes share": { node: "test" },
};

describe.skipIf(withoutPostgres()).each(Object.entries(openings))("the Postgres log %s", (_, as) => {
  let server: TestPostgres;
  const cleanups: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    server = await startPostgres();
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
        await log.close();
        return open(tenant);
      },
    };
  });
});
