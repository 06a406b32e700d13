// DRAGOMAN_LOG_CRASH_ROUNDS sets how often the database is killed, DRAGOMAN_SEED the seed.
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { seedOf } from "../../test-seed.ts";
import type { Log, StreamWriter } from "../contract.ts";
import { appendMany, codeOf, codeOfLater, numbers, readAll, sequencesOf } from "../log.suite.ts";
import type { LogError } from "../log-error.ts";
import { crashEvent, random } from "../sqlite/crash-child.ts";
import { type OpenPostgresOptions, openPostgresLog, type PostgresLog } from "./log.ts";
import { startPostgres, type TestPostgres, withoutPostgres } from "./test-postgres.ts";
import { startProxy, type TestProxy } from "./test-proxy.ts";

const SEED = seedOf(20_261_117);
const ROUNDS = Number(process.env.DRAGOMAN_LOG_CRASH_ROUNDS ?? 2);
const NODES = 3;
const STREAMS = 7;

let server: TestPostgres;
const cleanups: (() => Promise<unknown> | unknown)[] = [];

async function open(tenant: string, more: Partial<OpenPostgresOptions> = {}): Promise<PostgresLog> {
  const log = await openPostgresLog({ url: server.url, tenant, as: { holder: "test" }, ...more });
  cleanups.push(() => log.close().catch(() => undefined));
  return log;
}

async function allOf(stream: Pick<StreamWriter, "read">): Promise<string[]> {
  const events: string[] = [];
  for (let after = 0; ; ) {
    const page = await stream.read({ after });
    events.push(...page.events);
    if (!page.has_more) return events;
    after = page.next;
  }
}

describe.skipIf(withoutPostgres())("the Postgres log under faults", () => {
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });
  afterAll(() => server.stop());

  it(
    `loses nothing that was told, repeats nothing, leaves no gap when the database is killed under ${NODES} nodes (${ROUNDS} rounds, seed ${SEED})`,
    async () => {
      const tenant = randomUUID();
      const next = random(SEED);
      const told = new Map<string, number>();
      let stopped = false;
      const work = numbers(1, NODES).map(async (node) => {
        const log = await open(tenant, { as: { node: `node-${node}` } });
        const writers: StreamWriter[] = [];
        for (const n of numbers(1, STREAMS)) writers.push(await log.create("session", `${node}-${n}`, "{}"));
        for (const writer of writers)
          writer.subscribe({ onBatch: (batch) => void told.set(writer.id, Math.max(told.get(writer.id) ?? 0, batch.last)) });
        while (!stopped) {
          for (const writer of writers)
            for (let count = Math.floor(next() * 6); count > 0; count--) {
              const sequence = writer.last + 1;
              const text = crashEvent(writer.id, sequence);
              const native = writer.appendNative({ dir: "out", t_ms: 0, type: "line", disposition: "mapped", raw: text });
              writer.append({ text, sequence, type: "x", native });
            }
          writers[0]?.documents.put("queue", String(writers[0].last), "{}");
          await log.documents.committed().catch(() => undefined);
          await delay(1);
        }
        for (const writer of writers) await writer.committed({ bounded: false });
        return writers;
      });
      for (let round = 0; round < ROUNDS; round++) {
        const before = [...told.values()].reduce((sum, last) => sum + last, 0);
        await expect.poll(() => [...told.values()].reduce((sum, last) => sum + last, 0)).toBeGreaterThan(before + 200);
        await delay(next() * 50);
        await server.kill();
        await server.restart();
      }
      stopped = true;
      const writers = (await Promise.all(work)).flat();
      const reader = await open(tenant, { as: { node: "reader" } });
      let events = 0;
      for (const writer of writers) {
        const stored = await allOf(writer);
        const wrong = numbers(1, writer.last).find((sequence) => stored[sequence - 1] !== crashEvent(writer.id, sequence));
        expect([stored.length, wrong]).toEqual([writer.last, undefined]);
        expect(writer.last).toBeGreaterThanOrEqual(told.get(writer.id) ?? 0);
        expect((await writer.coverage()).map(({ count }) => count)).toEqual([writer.last]);
        events += stored.length;
      }
      expect((await readAll(reader)).length).toBe(events);
    },
    120_000 + ROUNDS * 20_000,
  );

  describe("behind a connection that breaks", () => {
    let proxy: TestProxy;
    beforeAll(async () => {
      proxy = await startProxy(server.url);
    });
    afterAll(() => proxy.close());

    for (const fault of ["lose_answer", "lose_request"] as const)
      it(`finds out what became of a commit whose answer was lost (${fault})`, async () => {
        const errors: (string | null)[] = [];
        const log = await open(randomUUID(), { url: proxy.url, onError: (error) => errors.push(error?.code ?? null) });
        const writers = [await log.create("session", "a", "{}"), await log.create("session", "b", "{}")];
        for (const writer of writers) appendMany(writer, 2);
        await writers[0]?.committed();
        const happened = proxy.next(fault, "commit_");
        for (const writer of writers) appendMany(writer, 3);
        writers[0]?.documents.put("note", "x", "1");
        const created = await log.create("session", "c", "{}");
        await created.committed();
        await happened;
        expect(errors).toEqual(["write_failed", null]);
        const { commits, server: figures } = log.stats();
        expect(figures?.ambiguous).toBe(1);
        expect(figures?.commit_seconds.counts.reduce((sum, count) => sum + count, 0)).toBe(commits);
        // Two events chunks with the first commit, two with the second.
        expect(figures?.commit_rows.sum).toBe(4);
        for (const writer of writers) expect(sequencesOf(await allOf(writer))).toEqual(numbers(1, 5));
        expect((await readAll(log)).length).toBe(10);
        expect((await readAll(log)).at(-1)?.cursor).toBe(await log.end());
        expect(await log.row("session", "c")).toMatchObject({ last_sequence: 0 });
        expect(await log.documents.get("note", "a/x")).toBe("1");
      });

    it("[O4] a commit that arrives late, behind newer ones, changes nothing: state, documents and native messages stay", async () => {
      const log = await open(randomUUID(), { url: proxy.url });
      const stream = await log.create("session", "a", "{}");
      await stream.committed();
      const native = (raw: string) => ({ dir: "out", t_ms: 0, type: "line", disposition: "noted", raw }) as const;
      const changes: Record<string, (n: number) => void> = {
        state: (n) => stream.setState(JSON.stringify({ n })),
        "document of the stream": (n) => stream.documents.put("note", "x", String(n)),
        "document of nobody": (n) => log.documents.put("note", "y", String(n)),
        "native message": (n) => void stream.appendNative(native(String(n))),
        place: (n) => stream.setOpenSince(n),
      };
      for (const change of Object.values(changes)) {
        const kept = proxy.late("commit_");
        change(1);
        const late = await kept;
        await stream.committed({ bounded: false });
        change(2);
        await stream.committed({ bounded: false });
        await late.deliver();
      }
      expect(await log.row("session", "a")).toMatchObject({ state: '{"n":2}', open_since: 2, last_native: 2 });
      expect([await log.documents.get("note", "a/x"), await log.documents.get("note", "y")]).toEqual(["2", "2"]);
      expect((await stream.readNative()).messages.map(({ body }) => body.toString())).toEqual(["1", "2"]);
    });

    it("[O4] a commit without events whose answer was lost is not written twice", async () => {
      const log = await open(randomUUID(), { url: proxy.url });
      const stream = await log.create("session", "a", "{}");
      await stream.committed();
      const happened = proxy.next("lose_answer", "commit_");
      stream.appendNative({ dir: "out", t_ms: 0, type: "line", disposition: "noted", raw: "x" });
      await stream.committed({ bounded: false });
      await happened;
      expect((await stream.readNative()).messages.length).toBe(1);
      expect(log.stats().server?.ambiguous).toBe(1);
      // As after a week without a commit.
      await log.database.query("DELETE FROM dragoman.committers");
      appendMany(stream, 1);
      await stream.committed();
      expect(await log.row("session", "a")).toMatchObject({ last_sequence: 1, last_native: 1 });
    });

    it("refuses commands while it cannot write, reports pressure, and goes on with everything that was taken", async () => {
      const log = await open(randomUUID(), { url: proxy.url });
      const stream = await log.create("session", "a", "{}");
      await stream.committed();
      const pressure: boolean[] = [];
      log.onPressure((paused) => pressure.push(paused));
      proxy.shut();
      appendMany(stream, 3);
      expect(await codeOfLater(stream.committed())).toBe("write_failed");
      expect(codeOf(() => log.assertWritable())).toBe("write_failed");
      expect(log.health()).toMatchObject({ state: "failing", code: "write_failed" });
      appendMany(stream, 2);
      expect([stream.last, stream.lastCommitted]).toEqual([5, 0]);
      proxy.open();
      await stream.committed({ bounded: false });
      expect([log.health().state, pressure]).toEqual(["ok", [true, false]]);
      expect(sequencesOf(await allOf(stream))).toEqual(numbers(1, 5));
    });
  });

  it("refuses a writer that another process has replaced, in the append itself, and holds up no other stream", async () => {
    const tenant = randomUUID();
    const [one, two] = [await open(tenant, { as: { node: "one" } }), await open(tenant, { as: { node: "two" } })];
    const [taken, kept] = [await one.create("session", "taken", "{}"), await one.create("session", "kept", "{}")];
    for (const writer of [taken, kept]) appendMany(writer, 2);
    await kept.committed();
    await one.database.query("UPDATE dragoman.streams SET owner = 'two' WHERE tenant = $1 AND id = 'taken'", [tenant]);
    const next = await two.writer("session", "taken");
    if (!next) throw new Error("there is no writer");
    expect([next.last, next.epoch]).toEqual([2, taken.epoch + 1]);
    // The old one does not know it yet.
    for (const writer of [taken, kept]) appendMany(writer, 1);
    taken.documents.put("note", "a", "old");
    expect(await codeOfLater(taken.committed())).toBe("fenced");
    await kept.committed();
    expect(codeOf(() => appendMany(taken, 1))).toBe("fenced");
    expect(await codeOfLater(one.writer("session", "taken"))).toBe("fenced");
    appendMany(next, 3);
    await next.committed();
    expect([sequencesOf(await allOf(next)), sequencesOf(await allOf(kept))]).toEqual([numbers(1, 5), numbers(1, 3)]);
    expect(await two.documents.get("note", "taken/a")).toBeUndefined();
    // What the other writes is seen here, too.
    const seen: number[] = [];
    (await one.stream("session", "taken"))?.subscribe({ onBatch: (batch) => void seen.push(...sequencesOf(batch.events)) });
    appendMany(next, 1);
    await expect.poll(() => seen).toEqual(numbers(1, 6));
    await expect.poll(async () => (await readAll(one)).length).toBe(9);
  });

  it("makes one stream of a name that two create at once", async () => {
    const tenant = randomUUID();
    const logs = [await open(tenant, { as: { node: "one" } }), await open(tenant, { as: { node: "two" } })];
    const writers = await Promise.all(logs.map((log) => log.create("session", "same", "{}")));
    const others = await Promise.all(logs.map((log, index) => log.create("session", `own-${index}`, "{}")));
    for (const writer of [...writers, ...others]) appendMany(writer, 2);
    const codes = await Promise.all(writers.map((writer) => codeOfLater(writer.committed())));
    expect(codes.sort()).toEqual(["nothing was thrown", "stream_exists"]);
    for (const writer of others) await writer.committed();
    expect((await logs[0]?.list("session"))?.streams.map(({ last_sequence }) => last_sequence)).toEqual([2, 2, 2]);
  });

  it("lets one daemon have a log to itself: another is refused, the next start of the same takes over", async () => {
    const tenant = randomUUID();
    const errors: (LogError | null)[] = [];
    const first = await open(tenant, { onError: (error) => errors.push(error) });
    const stream = await first.create("session", "a", "{}");
    await stream.committed();
    expect(await codeOfLater(open(tenant, { as: { holder: "other" } }))).toBe("data_dir_locked");
    expect(await codeOfLater(open(tenant, { as: { node: "one" } }))).toBe("data_dir_locked");
    const second: Log = await open(tenant);
    expect(second.epoch).not.toBe(first.epoch);
    appendMany(stream, 1);
    expect(await codeOfLater(stream.committed())).toBe("fenced");
    expect(codeOf(() => first.documents.put("x", "y", "z"))).toBe("fenced");
    expect(errors.map((error) => error?.code)).toEqual(["fenced"]);
    expect((await second.row("session", "a"))?.last_sequence).toBe(0);
    await second.close();
    await open(tenant, { as: { holder: "other" } });
  });
});
