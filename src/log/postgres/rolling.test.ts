/** A process of the version before writes beside one of this version: its commits have no numbers. They are read and fenced as all others. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packedFrom } from "../packing/event-chunk.ts";
import { type Database, Postgres } from "./connection.ts";
import { openPostgresLog, type PostgresLog } from "./log.ts";
import { startPostgres, type TestPostgres, withoutPostgres } from "./test-postgres.ts";
import { encode, WriteSet } from "./write-set.ts";

describe.skipIf(withoutPostgres())("the version before", () => {
  let server: TestPostgres;
  let log: PostgresLog;
  let database: Database;
  beforeAll(async () => {
    server = await startPostgres();
    log = await openPostgresLog({ url: server.url, as: { node: "new" } });
    database = await Postgres.open({ url: server.url });
  });
  afterAll(async () => {
    await log?.close();
    await database?.close();
    await server?.stop();
  });

  /** One commit as that version sends it. */
  const commit = async (sequence: number, epoch: number): Promise<void> => {
    const set = new WriteSet();
    const [no, text] = [1_000, JSON.stringify({ sequence })];
    set.streams.push({
      ...{
        no,
        kind: "session",
        id: "old",
        epoch,
        expected: sequence - 1,
        last: sequence,
        lastNative: 0,
        openSince: null,
        at: sequence,
      },
      ...{ created: sequence === 1 ? 1 : null, state: sequence === 1 ? "{}" : null, natives: [], refuse: () => undefined },
      chunks: [packedFrom(sequence, { events: [text], types: ["x"], natives: [null] })],
    });
    const values = encode(set, { tenant: "default", owner: null, node: "old" }, { committer: 0, number: 0 });
    values.splice(2, 2);
    await database.query(`SELECT dragoman.commit_2(${values.map((_, index) => `$${index + 1}`).join(", ")}) AS xid`, values);
  };

  it("writes on after the tables were brought to this version, until its stream is taken", async () => {
    for (const sequence of [1, 2, 3]) await commit(sequence, 1);
    const texts = async (): Promise<readonly string[] | undefined> =>
      (await (await log.stream("session", "old"))?.read())?.events;
    expect(await texts()).toEqual([1, 2, 3].map((sequence) => JSON.stringify({ sequence })));
    await database.query("UPDATE dragoman.streams SET owner = 'new' WHERE id = 'old'");
    const writer = await log.writer("session", "old");
    await expect(commit(4, 1)).rejects.toMatchObject({ reason: "fenced" });
    writer?.append({ text: '{"sequence":4}', sequence: 4, type: "x", native: null });
    await writer?.committed();
    await expect(commit(5, 1)).rejects.toMatchObject({ reason: "fenced" });
    expect((await texts())?.length).toBe(4);
  });
});
