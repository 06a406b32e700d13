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
    await log.committed();
    return writers;
  };
  /** The clock stands still, and goes when it is told to. */
  const stopClock = (): { add(ms: number): void } => {
    // Without a fraction: a sum of two times would be rounded.
    let now = Math.round(performance.now());
    vi.spyOn(performance, "now").mockImplementation(() => now);
    return {
      add: (ms) => {
        now += ms;
      },
    };
  };
  /** What it waits for more, in milliseconds; undefined: it begins at once. */
  const lingers = async (writers: readonly StreamWriter[], then: () => void = () => undefined): Promise<number | undefined> => {
    stopClock();
    const timers = vi.spyOn(globalThis, "setTimeout");
    for (const writer of writers) appendMany(writer, 1);
    then();
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    const delays = timers.mock.calls.map(([, ms]) => ms).filter((ms) => ms === 50 || ms === 250);
    timers.mockRestore();
    return delays.at(-1);
  };
  const committedOf = (writers: readonly StreamWriter[]): number[] =>
    writers.flatMap(({ lastCommitted }, index) => (lastCommitted > 0 ? [index] : []));

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

  it("takes those that somebody waits for, and leaves the others for later", async () => {
    const writers = await writersOf(60);
    stopClock();
    for (const writer of writers) appendMany(writer, 1);
    await Promise.all([writers[3]?.committed(), writers[5]?.committed()]);
    expect(committedOf(writers)).toEqual([3, 5]);
    await log.committed();
    expect(committedOf(writers)).toEqual(numbers(0, 59));
  });

  it("takes those that are followed when it is time for them, and all when it is time for the others", async () => {
    const writers = await writersOf(60);
    for (const index of [7, 8]) writers[index]?.subscribe({ onBatch: () => true });
    const clock = stopClock();
    for (const writer of writers) appendMany(writer, 1);
    await writers[0]?.committed();
    expect(committedOf(writers)).toEqual([0]);
    clock.add(50);
    await writers[1]?.committed();
    expect(committedOf(writers)).toEqual([0, 1, 7, 8]);
    clock.add(200);
    await writers[2]?.committed();
    expect(committedOf(writers)).toEqual(numbers(0, 59));
  });

  it("commits a document with the events of its stream, and artifacts before what names them", async () => {
    const writers = await writersOf(60);
    stopClock();
    for (const writer of writers) appendMany(writer, 1);
    writers[9]?.documents.put("note", "x", "1");
    const artifact = writers[11]?.artifacts.put(Buffer.from("bytes"), { kind: "file", mime: "text/plain" });
    await log.documents.committed();
    expect(committedOf(writers)).toEqual([9]);
    expect(await log.artifacts.stat(artifact?.artifact_id ?? "")).toMatchObject({ bytes: 5 });
  });

  it("a new stream does not wait, and neither does a command of one that waits already", async () => {
    const writers = await writersOf(60);
    stopClock();
    for (const writer of writers) appendMany(writer, 1);
    const made = await log.create("session", "new", "{}");
    const text = JSON.stringify({ sequence: 2 });
    writers[4]?.append({ text, sequence: 2, type: "x", native: null, sync: true });
    await made.committed();
    expect(committedOf(writers)).toEqual([4]);
  });
});
