// DRAGOMAN_LOG_CRASH_ROUNDS sets how often the database is killed, DRAGOMAN_SEED the seed.
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { AgentHost } from "../../agents/contract.ts";
import { SessionProjection } from "../../schema/projection/session-projection.ts";
import { CommittedValue } from "../../session/committed-value.ts";
import { countingIds } from "../../session/ids.ts";
import { SessionRecord } from "../../session/session-record.ts";
import { documentSnapshots, SNAPSHOT, SNAPSHOT_EVERY } from "../../session/snapshots.ts";
import { seedOf } from "../../test-seed.ts";
import type { Log, StreamWriter } from "../contract.ts";
import { appendMany, codeOf, codeOfLater, numbers, readAll, sequencesOf } from "../log.suite.ts";
import type { LogError } from "../log-error.ts";
import { crashEvent, random } from "../sqlite/crash-child.ts";
import { type Connect, type Database, Postgres } from "./connection.ts";
import { type OpenPostgresOptions, openPostgresLog, type PostgresLog } from "./log.ts";
import { startPostgres, type TestPostgres, withoutPostgres } from "./test-postgres.ts";
import { startProxy, type TestProxy } from "./test-proxy.ts";
import { COMMIT } from "./write-set.ts";

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

  it("a commit of a daemon that was killed, still on its way in the database, is before the next one's start or not at all", async () => {
    const tenant = randomUUID();
    const as = { holder: "the same data directory" };
    const one = await open(tenant, { as });
    const streams = [await one.create("session", "s", "{}"), await one.create("session", "t", "{}")];
    const committed = () => Promise.allSettled(streams.map((stream) => stream.committed({ bounded: false })));
    for (const stream of streams) appendMany(stream, 2);
    await committed();
    // The next start is stopped in its middle; meanwhile the commit asks who the owner is, and goes on.
    const gate = await Postgres.open({ url: server.url });
    const inGate = async (work: () => Promise<void>): Promise<void> =>
      gate.transaction(async (sql) => {
        await sql.query("LOCK TABLE dragoman.epochs IN EXCLUSIVE MODE");
        await work();
      });
    let opening: ReturnType<typeof open> | undefined;
    await inGate(async () => {
      opening = open(tenant, { as });
      await waitsFor("INSERT INTO dragoman.epochs");
      for (const stream of streams) appendMany(stream, 3);
      one.documents.put("note", "x", "1");
      // Done, or it waits for the start.
      await Promise.race([committed(), waitsFor("commit_")]);
    });
    const two = await opening;
    if (!two) throw new Error("nothing was opened");
    await committed();
    const ends = await Promise.all(["s", "t"].map(async (id) => (await two.stream("session", id))?.lastCommitted ?? 0));
    expect((await readAll(two)).length).toBe(ends.reduce((sum, end) => sum + end));
    expect([
      [2, 2],
      [5, 5],
    ]).toContainEqual(ends);
    expect(await two.documents.get("note", "x")).toBe(ends[0] === 2 ? undefined : "1");
    await gate.close();
  });

  /** A statement of this kind is in the database and waits for a lock. */
  async function waitsFor(statement: string): Promise<void> {
    const database = await Postgres.open({ url: server.url });
    await expect
      .poll(async () => {
        const { rows } = await database.query(
          "SELECT count(*) AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%'",
          [statement],
        );
        return Number(rows[0]?.count);
      })
      .toBeGreaterThan(0);
    await database.close();
  }

  /** Another process has taken the writer of session `s`. */
  const takenElsewhere = async (tenant: string): Promise<void> => {
    const database = await Postgres.open({ url: server.url });
    await database.query("UPDATE dragoman.streams SET epoch = epoch + 1 WHERE tenant = $1 AND id = 's'", [tenant]);
    await database.close();
  };

  /** Commits wait from here on. `sent`: one does. */
  type Hold = { sent: Promise<void>; release(): void };

  /** A node whose commits wait while the test wants it. */
  const heldNode = async (
    tenant: string,
    more: Partial<OpenPostgresOptions> = {},
  ): Promise<{ node: PostgresLog; hold(): Hold }> => {
    let [held, onSent] = [Promise.resolve(), (): void => undefined];
    const connect: Connect = async (asked) => {
      const database = await Postgres.open({ url: server.url, ...asked });
      const query: Database["query"] = async (sql, values) => {
        if (sql === COMMIT) {
          onSent();
          await held;
        }
        return database.query(sql, values);
      };
      return { place: database.place, query, transaction: (work) => database.transaction(work), close: () => database.close() };
    };
    const node = await open(tenant, { as: { node: "a" }, connect, ...more });
    const hold = (): Hold => {
      let release = (): void => undefined;
      held = new Promise((resolve) => {
        release = resolve;
      });
      const sent = new Promise<void>((resolve) => {
        onSent = resolve;
      });
      return { sent, release };
    };
    return { node, hold };
  };

  it("[O6] a late refusal of the writer before is not the new writer's: given up and taken back with a commit on its way", async () => {
    const tenant = randomUUID();
    const lost: string[] = [];
    const { node, hold } = await heldNode(tenant, { onLost: (_, id) => lost.push(id) });
    const writer = await node.create("session", "s", "{}");
    appendMany(writer, 1);
    await writer.committed();
    const { sent, release } = hold();
    appendMany(writer, 1);
    await sent;
    node.giveUp("session", "s");
    await takenElsewhere(tenant);
    const taking = node.writer("session", "s");
    await delay(20);
    release();
    const again = await taking;
    await delay(20);
    if (again) appendMany(again, 2);
    await again?.committed();
    expect(sequencesOf(await allOf(again as StreamWriter))).toEqual(numbers(1, 3));
    expect(lost).toEqual([]);
  });

  it("[O3] who waits for what was dropped when its stream was given up is refused, also when the next writer is there by then", async () => {
    const { node, hold } = await heldNode(randomUUID());
    const [writer, other] = [await node.create("session", "s", "{}"), await node.create("session", "other", "{}")];
    await other.committed();
    const { sent, release } = hold();
    appendMany(other, 1);
    await sent;
    appendMany(writer, 1);
    const committed = codeOfLater(writer.committed());
    node.giveUp("session", "s");
    const again = (await node.writer("session", "s")) as StreamWriter;
    release();
    expect(await committed).toBe("fenced");
    appendMany(again, 1);
    await again.committed();
    expect(sequencesOf(await allOf(again))).toEqual([1]);
  });

  it("[D1] what was enqueued while a commit is on its way is not taken for committed when that one is done", async () => {
    const { node, hold } = await heldNode(randomUUID());
    const writer = await node.create("session", "s", "{}");
    await writer.committed();
    const shown = new CommittedValue(writer, "begun");
    const first = hold();
    writer.setState('{"title":"one"}');
    shown.set("one");
    await first.sent;
    const second = hold();
    writer.setState('{"title":"two"}');
    shown.set("two");
    expect(shown.get()).toBe("begun");
    first.release();
    await second.sent;
    expect(shown.get()).toBe("one");
    second.release();
    await writer.committed();
    expect(shown.get()).toBe("two");
  });

  it("[O6] a new stream that is given up and taken back while its first commit is on its way is not created twice", async () => {
    const { node, hold } = await heldNode(randomUUID());
    const { sent, release } = hold();
    const writer = await node.create("session", "s", "{}");
    appendMany(writer, 1);
    await sent;
    node.giveUp("session", "s");
    const taking = node.writer("session", "s");
    release();
    const again = (await taking) as StreamWriter;
    appendMany(again, 2);
    await again.committed();
    expect(sequencesOf(await allOf(again))).toEqual(numbers(1, 3));
  });

  it("[O6] a stream that was removed and made anew elsewhere is written where it is now, also by who followed the one before", async () => {
    const tenant = randomUUID();
    const [a, b] = [await open(tenant, { as: { node: "a" } }), await open(tenant, { as: { node: "b" } })];
    const first = await b.create("session", "s", "{}");
    appendMany(first, 2);
    await first.committed();
    let ended = (_: string): void => undefined;
    const end = new Promise<string>((resolve) => {
      ended = resolve;
    });
    const followed = await a.stream("session", "s");
    followed?.subscribe({ after: 0, onBatch: () => undefined, onEnd: (reason) => ended(reason) });
    await b.delete("session", "s");
    await b.erased();
    await (await b.create("session", "s", "{}")).committed();
    b.giveUp("session", "s");
    await Postgres.open({ url: server.url }).then(async (database) => {
      await database.query("UPDATE dragoman.streams SET owner = 'a' WHERE tenant = $1 AND id = 's'", [tenant]);
      await database.close();
    });
    const second = (await a.writer("session", "s")) as StreamWriter;
    appendMany(second, 1);
    await second.committed();
    expect(sequencesOf(await allOf(second))).toEqual([1]);
    expect(await end).toBe("deleted");
  });

  it("[D10] who catches up with a stream that another process has removed meanwhile hears that, and nothing of damage", async () => {
    const tenant = randomUUID();
    const [a, b] = [await open(tenant, { as: { node: "a" } }), await open(tenant, { as: { node: "b" } })];
    const writer = await b.create("session", "s", "{}");
    appendMany(writer, 2);
    await writer.committed();
    const followed = await a.stream("session", "s");
    await b.delete("session", "s");
    await b.erased();
    const end = new Promise((resolve) => followed?.subscribe({ after: 0, onBatch: () => undefined, onEnd: resolve }));
    expect(await end).toBe("deleted");
    expect(a.health().damage.places).toBe(0);
  });

  it("[O3] of a refused writer nothing is kept: no snapshot of a story that others do not have", async () => {
    const tenant = randomUUID();
    const [a, b] = [await open(tenant, { as: { node: "a" } }), await open(tenant, { as: { node: "b" } })];
    const row = { session_id: "s", agent: "mock", directory: "/" };
    const stream = await a.create("session", "s", JSON.stringify(row));
    const record = new SessionRecord({
      ...{ stream, log: a, ids: countingIds("a."), clock: () => "2026-01-01T00:00:00.000Z", listener: {} },
      ...{ host: { log: () => undefined } as unknown as AgentHost, projection: new SessionProjection() },
      ...{ alive: () => false, onLost: () => undefined },
    });
    const say = (): void => record.append("config.changed", { model: "some" });
    for (const _ of numbers(1, SNAPSHOT_EVERY)) say();
    await record.committed();
    const kept = documentSnapshots(b.documents);
    expect((await kept.floor("s", SNAPSHOT_EVERY))?.sequence).toBe(SNAPSHOT_EVERY);
    for (const _ of numbers(1, SNAPSHOT_EVERY - 1)) say();
    await record.committed();
    await takenElsewhere(tenant);
    say();
    expect(await codeOfLater(record.committed())).toBe("fenced");
    expect((await kept.floor("s", 2 * SNAPSHOT_EVERY))?.sequence).toBe(SNAPSHOT_EVERY);
    // The next writer has them not at hand: they may be large.
    expect((await a.writer("session", "s"))?.documents.list(SNAPSHOT)).toEqual([]);
  });

  it("[D10] who follows a stream hears that another process has removed it", async () => {
    const tenant = randomUUID();
    const [a, b] = [await open(tenant, { as: { node: "a" } }), await open(tenant, { as: { node: "b" } })];
    await (await b.create("session", "s", "{}")).committed();
    const followed = await a.stream("session", "s");
    const end = new Promise<string>((resolve) => {
      followed?.subscribe({ after: 0, onBatch: () => undefined, onEnd: resolve });
    });
    await b.delete("session", "s");
    expect(await end).toBe("deleted");
  });

  it("[O8] says that a stream is another's when a commit of it is refused", async () => {
    const tenant = randomUUID();
    const lost: string[] = [];
    const node = await open(tenant, { as: { node: "a" }, onLost: (kind, id) => lost.push(`${kind} ${id}`) });
    const writer = await node.create("session", "s", "{}");
    await writer.committed();
    await takenElsewhere(tenant);
    appendMany(writer, 1);
    expect(await codeOfLater(writer.committed())).toBe("fenced");
    expect(lost).toEqual(["session s"]);
  });

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
        await created.committed({ bounded: false });
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
