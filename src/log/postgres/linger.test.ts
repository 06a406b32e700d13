/** How long a commit waits for more when many streams write: it depends on who waits for what is written. */
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { StreamWriter } from "../contract.ts";
import { appendMany, numbers } from "../log.suite.ts";
import { openPostgresLog, type PostgresLog } from "./log.ts";
import { startPostgres, type TestPostgres, withoutPostgres } from "./test-postgres.ts";

describe.skipIf(withoutPostgres())("a commit of many streams", () => {
  let server: TestPostgres;
  let log: PostgresLog;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await log.close();
  });
  afterAll(() => server.stop());

  const writersOf = async (count: number): Promise<StreamWriter[]> => {
    log = await openPostgresLog({ url: server.url, tenant: randomUUID(), as: { node: "test" } });
    const writers = await Promise.all(numbers(1, count).map((n) => log.create("session", `s${n}`, "{}")));
    await writers[0]?.committed();
    return writers;
  };
  /** What it waits for more, in milliseconds; undefined: it begins at once. */
  const lingers = async (writers: readonly StreamWriter[], then: () => void = () => undefined): Promise<number | undefined> => {
    const timers = vi.spyOn(globalThis, "setTimeout");
    for (const writer of writers) appendMany(writer, 1);
    then();
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    const delays = timers.mock.calls.map(([, ms]) => ms).filter((ms) => ms === 50 || ms === 250);
    timers.mockRestore();
    return delays[0];
  };

  it("does not wait when they are few", async () => {
    expect(await lingers(await writersOf(50))).toBeUndefined();
  });

  it("waits long when nobody follows any of them", async () => {
    expect(await lingers(await writersOf(51))).toBe(250);
  });

  it("waits a little when somebody follows one of them here", async () => {
    const writers = await writersOf(51);
    writers[7]?.subscribe({ onBatch: () => true });
    expect(await lingers(writers)).toBe(50);
  });

  it("waits a little when another node follows one of them", async () => {
    const writers = await writersOf(51);
    const { rows } = await log.database.query("SELECT no FROM dragoman.streams WHERE id = 's7' ORDER BY no DESC LIMIT 1");
    log.live.wanted.add(Number(rows[0]?.no));
    expect(await lingers(writers)).toBe(50);
  });

  it("does not wait when somebody waits for the commit", async () => {
    const writers = await writersOf(51);
    expect(await lingers(writers, () => void writers[0]?.committed())).toBeUndefined();
  });
});
