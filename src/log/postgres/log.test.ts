import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe } from "vitest";
import { logContract } from "../log.suite.ts";
import { openPostgresLog, type PostgresLog } from "./log.ts";
import { startPostgres, type TestPostgres, withoutPostgres } from "./test-postgres.ts";

describe.skipIf(withoutPostgres())("the Postgres log", () => {
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
    const log = await openPostgresLog({ url: server.url, tenant, as: { holder: "test" } });
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
