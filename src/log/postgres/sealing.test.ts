/** That packing changes no byte that anybody reads, makes history smaller, stands behind writers, and can be cut at any moment. */
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { Log, StreamWriter } from "../contract.ts";
import { appendMany, numbers, readAll, sequencesOf } from "../log.suite.ts";
import { type OpenPostgresOptions, openPostgresLog, type PostgresLog } from "./log.ts";
import { startPostgres, type TestPostgres, withoutPostgres } from "./test-postgres.ts";
import { startProxy } from "./test-proxy.ts";

const ALL = { before: Number.MAX_SAFE_INTEGER, limit: 100 };

describe.skipIf(withoutPostgres())("packing what rests", () => {
  let server: TestPostgres;
  const cleanups: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });
  afterAll(() => server.stop());

  const open = async (tenant: string, more: Partial<OpenPostgresOptions> = {}): Promise<PostgresLog> => {
    const log = await openPostgresLog({ url: server.url, tenant, as: { node: "test" }, ...more });
    cleanups.push(() => log.close().catch(() => undefined));
    return log;
  };
  /** Small commits, as of an agent that talks slowly; bytes that are no text among the native messages. */
  const talk = async (writer: StreamWriter, commits: number): Promise<void> => {
    for (const n of numbers(1, commits)) {
      const raw = n % 7 === 0 ? Buffer.from([0xff, 10, n % 256]) : `{"type":"delta","n":${n},"text":"word ${n}\\n"}`;
      const native = writer.appendNative({ dir: "out", t_ms: n, type: n % 5 === 0 ? "end" : "line", disposition: "mapped", raw });
      const sequence = writer.last + 1;
      writer.append({
        text: JSON.stringify({ sequence, native, text: "é".repeat(n % 40) }),
        sequence,
        type: "item.delta",
        native,
      });
      appendMany(writer, 2);
      await writer.committed();
    }
  };
  /** Everything there is to read, in every way. */
  const story = async (log: Log, ids: readonly string[]): Promise<unknown> => {
    const streams = await Promise.all(
      ids.map(async (id) => {
        const stream = await log.stream("session", id);
        const followed: number[] = [];
        await new Promise<void>((resolve) => {
          const following = stream?.subscribe({
            onBatch: (batch) => void followed.push(...sequencesOf(batch.events)),
            onLive: () => {
              following?.close();
              resolve();
            },
          });
        });
        const picked = await stream?.readRaw([1, 3, 70]);
        return {
          events: await stream?.read({ limit: 10_000 }),
          middle: await stream?.read({ after: 17, limit: 40 }),
          reverse: await stream?.read({ before: 100, limit: 50, reverse: true }),
          types: await stream?.read({ types: ["item.completed"], limit: 10_000 }),
          natives: await stream?.readNative({ limit: 10_000 }),
          some: await stream?.readNative({ after: 11, limit: 5 }),
          ...{ coverage: await stream?.coverage(), picked: [...(picked ?? [])], row: await log.row("session", id), followed },
        };
      }),
    );
    return { streams, all: await readAll(log) };
  };
  const rowsOf = async (log: PostgresLog, table: string): Promise<number> => {
    const where = "WHERE stream IN (SELECT no FROM dragoman.streams WHERE tenant = $1) AND body <> ''";
    const { rows } = await log.database.query(`SELECT count(*) AS n FROM dragoman.${table} ${where}`, [tenantOf.get(log) ?? ""]);
    return Number(rows[0]?.n);
  };
  const tenantOf = new Map<PostgresLog, string>();
  const filled = async (): Promise<{ log: PostgresLog; tenant: string; writers: StreamWriter[] }> => {
    const tenant = randomUUID();
    const log = await open(tenant);
    tenantOf.set(log, tenant);
    const writers = [await log.create("session", "a", "{}"), await log.create("session", "b", "{}")];
    // One after the other and both in one commit: the order of all commits goes back and forth between them.
    for (const writer of writers) await talk(writer, 40);
    await Promise.all(writers.map((writer) => talk(writer, 40)));
    return { log, tenant, writers };
  };

  it("reads the same to the byte from every side, with old cursors, in far fewer rows", async () => {
    const { log, tenant } = await filled();
    const before = await story(log, ["a", "b"]);
    const all = await readAll(log);
    expect([await rowsOf(log, "event_chunks"), await rowsOf(log, "native_chunks")]).toEqual([160, 160]);
    expect(await log.seal(ALL)).toBe(2);
    expect([await rowsOf(log, "event_chunks"), await rowsOf(log, "sealed_chunks"), await rowsOf(log, "native_chunks")]).toEqual([
      0, 2, 2,
    ]);
    expect(await log.seal(ALL)).toBe(0);
    const other = await open(tenant, { as: { node: "other" } });
    for (const reader of [log, other]) expect(await story(reader, ["a", "b"])).toEqual(before);
    for (const at of [0, 1, 77, 250, all.length - 2]) {
      const left = await readAll(other, all[at]?.cursor);
      expect(left).toEqual(all.slice(at + 1));
    }
  });

  it("stands behind writers: what is written, open or newer stays as it is, and is packed later", async () => {
    const { log, writers } = await filled();
    const [a, b] = writers as [StreamWriter, StreamWriter];
    b.setOpenSince(5);
    await b.committed();
    expect(await log.seal({ ...ALL, before: Date.now() - 60_000 })).toBe(0);
    expect(await log.seal(ALL)).toBe(1);
    await talk(a, 10);
    b.setOpenSince(null);
    await b.committed();
    const before = await story(log, ["a", "b"]);
    expect(await log.seal(ALL)).toBe(2);
    expect(await story(log, ["a", "b"])).toEqual(before);
    // The writer goes on behind it, and so does the next one.
    await talk(a, 1);
    const next = await log.writer("session", "b");
    appendMany(next as StreamWriter, 3);
    await next?.committed();
    expect(sequencesOf((await (await log.stream("session", "b"))?.read({ limit: 10_000 }))?.events ?? [])).toEqual(
      numbers(1, 243),
    );
    const numbered = await log.database.query("SELECT no FROM dragoman.streams WHERE tenant = $1 AND id = 'a'", [
      tenantOf.get(log) ?? "",
    ]);
    await log.delete("session", "a");
    await log.erased();
    for (const table of ["event_chunks", "sealed_chunks", "native_chunks", "sealed_streams"]) {
      const left = await log.database.query(`SELECT 1 FROM dragoman.${table} WHERE stream = $1`, [Number(numbered.rows[0]?.no)]);
      expect(left.rows, table).toEqual([]);
    }
    expect((await readAll(log)).every(({ stream_id }) => stream_id === "b")).toBe(true);
  });

  it("goes on where it was cut, also when the answer of a commit was lost", async () => {
    const { log, tenant } = await filled();
    const before = await story(log, ["a", "b"]);
    const proxy = await startProxy(server.url);
    cleanups.push(() => proxy.close());
    const cut = await open(tenant, { url: proxy.url, as: { node: "cut" } });
    /** The server lets go of what a connection had when it sees that it is gone, which takes its time on a busy machine; until then packing passes by. */
    const free = async (): Promise<number> => {
      const { rows } = await log.database.query("SELECT no FROM dragoman.streams WHERE tenant = $1 FOR UPDATE SKIP LOCKED", [
        tenant,
      ]);
      return rows.length;
    };
    for (const when of [
      "INSERT INTO dragoman.sealed_chunks",
      "UPDATE dragoman.event_chunks",
      "INSERT INTO dragoman.native_chunks",
      "COMMIT",
    ]) {
      const lost = proxy.next(when === "COMMIT" ? "lose_answer" : "lose_request", when);
      await expect(cut.seal(ALL)).rejects.toThrow();
      await lost;
      expect(await story(log, ["a", "b"])).toEqual(before);
      await expect.poll(free).toBe(2);
    }
    await Promise.all([cut.seal(ALL), log.seal(ALL), log.seal(ALL)]);
    await log.seal(ALL);
    expect([await rowsOf(log, "event_chunks"), await rowsOf(log, "native_chunks")]).toEqual([0, 2]);
    expect(await story(log, ["a", "b"])).toEqual(before);
  });

  it("packs whole the next time what somebody held for a part of this one", async () => {
    const { log, tenant } = await filled();
    const other = await open(tenant, { as: { node: "other" } });
    const transaction = log.database.transaction.bind(log.database);
    vi.spyOn(log.database, "transaction").mockImplementationOnce((work) =>
      other.database.transaction(async (sql) => {
        await sql.query("SELECT no FROM dragoman.streams WHERE tenant = $1 FOR UPDATE", [tenant]);
        return transaction(work);
      }),
    );
    expect(await log.seal(ALL)).toBe(1);
    expect(await log.seal(ALL)).toBe(1);
    expect([await rowsOf(log, "event_chunks"), await rowsOf(log, "native_chunks")]).toEqual([0, 2]);
  });

  it("leaves alone what is damaged, and packs the others", async () => {
    const { log } = await filled();
    await log.database.query(
      "UPDATE dragoman.event_chunks SET body = '\\x00' WHERE first = 4 AND stream = (SELECT no FROM dragoman.streams WHERE tenant = $1 AND id = 'a')",
      [tenantOf.get(log) ?? ""],
    );
    expect(await log.seal(ALL)).toBe(1);
    expect(await log.seal(ALL)).toBe(0);
    expect((await (await log.stream("session", "b"))?.read({ limit: 10_000 }))?.events.length).toBe(240);
    await expect((await log.stream("session", "a"))?.read({ limit: 10_000 })).rejects.toMatchObject({ code: "corrupt_chunk" });
  });
});
