/**
 * The contract of a log, as a suite: any store that claims to be a `Log` must pass it. A test helper; it knows nothing about how a store keeps things.
 */
import { expect, it } from "vitest";
import type {
  Batch,
  GlobalBatch,
  ListOptions,
  Log,
  SearchEntry,
  SearchStream,
  StreamPage,
  StreamWriter,
  Subscription,
} from "./contract.ts";
import { LogError } from "./log-error.ts";

export type OpenedLog = { log: Log /** Closes and opens the same data again. */; reopen(): Promise<Log> };

const event = (sequence: number) => JSON.stringify({ sequence, type: typeOf(sequence), text: `é\u2028${sequence}` });
const typeOf = (sequence: number) => (sequence % 3 === 0 ? "item.completed" : "item.delta");

export function appendMany(stream: Pick<StreamWriter, "append" | "last">, count: number): void {
  for (let done = 0; done < count; done++) {
    const sequence = stream.last + 1;
    stream.append({ text: event(sequence), sequence, type: typeOf(sequence), native: null });
  }
}

export type GlobalEvent = { cursor: string; kind: string; stream_id: string; json: string };

/** All events of all streams that are committed, behind a cursor. */
export async function readAll(log: Log, after = log.beginning): Promise<GlobalEvent[]> {
  const events: GlobalEvent[] = [];
  await new Promise<void>((resolve, reject) => {
    const subscription = log.subscribeAll({
      after,
      onBatch(batch) {
        for (const [index, json] of batch.events.entries())
          events.push({ cursor: batch.cursorOf(index), kind: batch.kind, stream_id: batch.stream_id, json });
        return undefined;
      },
      onLive() {
        subscription.close();
        resolve();
      },
      onEnd: (reason, error) => reject(error ?? new Error(reason)),
    });
  });
  return events;
}

export const numbers = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, index) => from + index);
export const sequencesOf = (events: readonly string[]): number[] => events.map((json) => Number(JSON.parse(json).sequence));

/** A subscriber that remembers, and lets a test wait until it has as much as it should. */
export function collector(): { onBatch(batch: Batch): undefined; got: number[]; reached(count: number): Promise<void> } {
  const got: number[] = [];
  let wanted = { count: 0, resolve: () => {} };
  const look = () => {
    if (got.length >= wanted.count) wanted.resolve();
  };
  return {
    got,
    onBatch(batch) {
      got.push(...sequencesOf(batch.events));
      look();
      return undefined;
    },
    reached: (count) =>
      new Promise((resolve) => {
        wanted = { count, resolve };
        look();
      }),
  };
}

export function codeOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    return error instanceof LogError ? error.code : String(error);
  }
  return "nothing was thrown";
}

/** The same for what is refused later. */
export async function codeOfLater(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => "nothing was thrown",
    (error: unknown) => (error instanceof LogError ? error.code : String(error)),
  );
}

export function logContract(open: () => Promise<OpenedLog>): void {
  streamsContract(open);
  readsContract(open);
  tailContract(open);
  besideContract(open);
  searchContract(open);
}

function streamsContract(open: () => Promise<OpenedLog>): void {
  it("keeps events, ledger, state and what is open across a reopening", async () => {
    const { log, reopen } = await open();
    const stream = await log.create("session", "ses_1", '{"a":1}');
    const native = stream.appendNative({
      dir: "out",
      t_ms: 7,
      type: "system/init",
      disposition: "mapped",
      raw: Buffer.from([0xff, 10, 0, 13]),
    });
    stream.append({ text: event(1), sequence: 1, type: "item.delta", native, sync: true });
    appendMany(stream, 2500);
    stream.setState('{"a":2}');
    stream.setOpenSince(2);
    await stream.committed();
    const again = await (await reopen()).writer("session", "ses_1");
    expect(again?.last).toBe(2501);
    expect(again?.lastNative).toBe(1);
    expect(again?.state()).toBe('{"a":2}');
    expect(again?.openSince()).toBe(2);
    expect((await again?.read({ limit: 3000 }))?.events).toEqual(numbers(1, 2501).map(event));
    expect((await again?.readRaw([1]))?.get(1)).toEqual({
      native_seq: 1,
      dir: "out",
      t_ms: 7,
      type: "system/init",
      disposition: "mapped",
      body: Buffer.from([0xff, 10, 0, 13]),
    });
  });

  it("refuses a gap, a repetition, and an event that is not one line, and appends nothing of it", async () => {
    const { log } = await open();
    const stream = await log.create("session", "ses_1", "{}");
    appendMany(stream, 2);
    for (const sequence of [1, 2, 4]) {
      expect(codeOf(() => stream.append({ text: "{}", sequence, type: "x", native: null }))).toBe("sequence_gap");
    }
    expect(codeOf(() => stream.append({ text: "{\n}", sequence: 3, type: "x", native: null }))).toBe("invalid_entry");
    appendMany(stream, 1);
    await stream.committed();
    expect((await stream.read()).sequences).toEqual([1, 2, 3]);
  });

  it("has one stream per kind and id", async () => {
    const { log } = await open();
    const stream = await log.create("session", "same", "{}");
    expect(await codeOfLater(log.create("session", "same", "{}"))).toBe("stream_exists");
    appendMany(await log.create("task", "same", "{}"), 2);
    appendMany(stream, 1);
    await stream.committed();
    expect((await log.stream("session", "same"))?.lastCommitted).toBe(1);
    expect((await log.stream("task", "same"))?.lastCommitted).toBe(2);
    expect(await log.stream("session", "other")).toBeUndefined();
    expect(await log.writer("thread", "same")).toBeUndefined();
  });

  it("[D12] has one writer a stream: one that was replaced changes nothing any more", async () => {
    const { log, reopen } = await open();
    const first = await log.create("session", "ses_1", '{"by":1}');
    appendMany(first, 1);
    first.documents.put("note", "a", "first");
    await first.committed();
    const second = await log.writer("session", "ses_1");
    if (!second) throw new Error("there is no writer");
    expect(second.epoch).toBeGreaterThan(first.epoch);
    for (const change of [
      () => appendMany(first, 1),
      () => first.appendNative({ dir: "out", t_ms: 0, type: "x", disposition: "mapped", raw: "x" }),
      () => first.setState('{"by":"old"}'),
      () => first.setOpenSince(1),
      () => first.documents.put("note", "a", "old"),
      () => first.documents.delete("note", "a"),
      () => first.artifacts.put(Buffer.from("old"), { kind: "text", mime: "text/plain" }),
    ])
      expect(codeOf(change)).toBe("fenced");
    appendMany(second, 1);
    second.setState('{"by":2}');
    await second.committed();
    const again = await (await reopen()).writer("session", "ses_1");
    expect(again?.epoch).toBeGreaterThan(second.epoch);
    expect([again?.last, again?.lastNative, again?.state(), again?.openSince()]).toEqual([2, 0, '{"by":2}', null]);
    expect(again?.documents.list("note")).toEqual([{ id: "a", body: "first" }]);
  });

  it("lists streams in pages, newest first, and those with something open", async () => {
    const { log } = await open();
    for (const n of numbers(1, 7)) (await log.create("session", `ses_${n}`, `{"n":${n}}`)).setOpenSince(n % 2 === 0 ? n : null);
    await (await log.create("task", "task_1", "{}")).committed();
    const seen: string[] = [];
    let before: string | null = null;
    do {
      const page: StreamPage = await log.list("session", before === null ? { limit: 3 } : { limit: 3, before });
      seen.push(...page.streams.map((row) => row.id));
      before = page.next;
    } while (before !== null);
    expect(seen).toEqual(
      numbers(1, 7)
        .reverse()
        .map((n) => `ses_${n}`),
    );
    expect((await log.list("session", { onlyOpen: true })).streams.map((row) => row.open_since)).toEqual([6, 4, 2]);
    expect((await log.list("session", { order: "updated", limit: 1 })).streams[0]?.state).toBe('{"n":7}');
  });

  it("lists by fields of the state, tags, archive and pin, in both orders and in pages", async () => {
    const { log, reopen } = await open();
    for (const n of numbers(1, 12)) {
      const marks = { ...(n % 4 === 0 ? { tags: ["four", `n${n}`] } : {}), archived: n === 12, pinned: n === 3 };
      const state = { agent: n % 2 === 0 ? "even" : "odd", directory: `/d/${n % 3}`, status: "idle", ...marks };
      appendMany(await log.create("session", `s${n}`, JSON.stringify(state)), 1);
    }
    await log.create("session", "broken", "{");
    await (await log.create("task", "s1", '{"agent":"even"}')).committed();
    const again = await reopen();
    const ids = async (options: ListOptions) => (await again.list("session", options)).streams.map(({ id }) => id);
    expect(await ids({ where: { agent: "even" } })).toEqual(["s12", "s10", "s8", "s6", "s4", "s2"]);
    expect(await ids({ where: { agent: "even", directory: "/d/0" }, order: "updated" })).toEqual(["s12", "s6"]);
    expect(await ids({ where: { agent: "even" }, archived: false, limit: 2 })).toEqual(["s10", "s8"]);
    expect(await ids({ tag: "four", order: "created" })).toEqual(["s12", "s8", "s4"]);
    expect(await ids({ ids: ["s3", "s11", "none"] })).toEqual(["s11", "s3"]);
    expect(await ids({ ids: ["s3", "s11"], pinned: true })).toEqual(["s3"]);
    expect(await ids({ ids: [] })).toEqual([]);
    expect([await ids({ tag: "n8" }), await ids({ tag: "none" }), await ids({ pinned: true })]).toEqual([["s8"], [], ["s3"]]);
    expect(await ids({ where: { status: "running" } })).toEqual([]);
    const page = await again.list("session", { where: { agent: "odd" }, limit: 4, order: "updated" });
    const rest = await again.list("session", { where: { agent: "odd" }, before: page.next ?? "", order: "updated" });
    expect([...page.streams, ...rest.streams].map(({ id }) => id)).toEqual(["s11", "s9", "s7", "s5", "s3", "s1"]);
    (await again.writer("session", "s2"))?.setState('{"agent":"odd"}');
    await again.committed();
    expect(await ids({ where: { agent: "odd" } })).toContain("s2");
    expect((await ids({})).length).toBe(13);
  });

  it("forgets a deleted stream at once and for good, and frees its id", async () => {
    const { log, reopen } = await open();
    const stream = await log.create("session", "ses_1", "{}");
    appendMany(stream, 3000);
    await stream.committed();
    const ended = new Promise((resolve) => stream.subscribe({ onBatch: () => undefined, onEnd: resolve }));
    expect(await log.delete("session", "ses_1")).toBe(true);
    expect(await log.delete("session", "ses_1")).toBe(false);
    expect(await ended).toBe("deleted");
    expect(codeOf(() => appendMany(stream, 1))).toBe("stream_deleted");
    expect(await codeOfLater(stream.row())).toBe("stream_deleted");
    expect(await log.stream("session", "ses_1")).toBeUndefined();
    const before = await log.end();
    const next = await log.create("session", "ses_1", "{}");
    appendMany(next, 2);
    await next.committed();
    const again = await reopen();
    expect((await (await again.stream("session", "ses_1"))?.read())?.sequences).toEqual([1, 2]);
    expect((await readAll(again)).length).toBe(2);
    expect((await readAll(again, before)).length).toBe(2);
  });
}

function readsContract(open: () => Promise<OpenedLog>): void {
  it("[D1] shows nothing before it is committed, and all of it after", async () => {
    const { log } = await open();
    const stream = await log.create("session", "ses_1", "{}");
    const seen = collector();
    stream.subscribe(seen);
    appendMany(stream, 5);
    expect([stream.last, stream.lastCommitted]).toEqual([5, 0]);
    const [page, row] = [stream.read(), log.row("session", "ses_1")];
    expect(seen.got).toEqual([]);
    await stream.committed();
    expect((await page).events).toEqual([]);
    // A question that is on its way while the commit is answers with none of it or all of it.
    expect([undefined, 5]).toContain((await row)?.last_sequence);
    expect((await stream.read()).sequences).toEqual([1, 2, 3, 4, 5]);
    expect(await log.row("session", "ses_1")).toMatchObject({ last_sequence: 5, state: "{}" });
    await seen.reached(5);
  });

  it("reads any range in both directions, across ticks and chunks", async () => {
    const { log } = await open();
    const stream = await log.create("session", "ses_1", "{}");
    for (const count of [1, 1, 1500, 1, 997]) {
      appendMany(stream, count);
      await stream.committed();
    }
    expect(await stream.read({ after: 998, limit: 5 })).toMatchObject({
      sequences: numbers(999, 1003),
      next: 1003,
      last: 2500,
      has_more: true,
    });
    expect(await stream.read({ after: 998, before: 1001 })).toMatchObject({ sequences: [999, 1000], has_more: false });
    expect(await stream.read({ reverse: true, limit: 2 })).toMatchObject({ sequences: [2500, 2499], next: 2499, has_more: true });
    expect(await stream.read({ reverse: true, before: 3 })).toMatchObject({ sequences: [2, 1], has_more: false });
    expect((await stream.read({ types: ["item.completed"], after: 1500, limit: 2 })).sequences).toEqual([1503, 1506]);
    expect((await stream.read({ types: ["item.completed"], reverse: true, limit: 2 })).sequences).toEqual([2499, 2496]);
    expect(await stream.read({ types: ["nothing"] })).toMatchObject({ events: [], has_more: false });
    expect(await stream.read({ after: 2500 })).toMatchObject({ events: [], next: 2500, has_more: false });
  });

  it("bounds a page in bytes, but always moves on", async () => {
    const { log } = await open();
    const stream = await log.create("session", "ses_1", "{}");
    for (const sequence of [1, 2, 3])
      stream.append({ text: JSON.stringify("x".repeat(600_000)), sequence, type: "x", native: null });
    await stream.committed();
    expect(await stream.read({ maxBytes: 1 })).toMatchObject({ sequences: [1], has_more: true });
    expect((await stream.read({ maxBytes: 1_300_000, after: 0 })).sequences).toEqual([1, 2]);
  });

  it("keeps the native ledger verbatim and counts it by type and disposition", async () => {
    const { log, reopen } = await open();
    const stream = await log.create("session", "ses_1", "{}");
    const bodies = numbers(1, 2300).map((n) => Buffer.from(`line ${n}\r\n\u0000`));
    for (const [index, raw] of bodies.entries()) {
      const type = index % 2 === 0 ? "even" : "odd";
      expect(
        stream.appendNative({
          dir: index % 2 === 0 ? "in" : "out",
          t_ms: index,
          type,
          disposition: index === 0 ? "unparsed" : "mapped",
          raw,
        }),
      ).toBe(index + 1);
      if (index === 1000) await stream.committed();
    }
    await stream.committed();
    const again = await (await reopen()).stream("session", "ses_1");
    expect(await again?.coverage()).toEqual([
      { type: "even", disposition: "mapped", count: 1149 },
      { type: "even", disposition: "unparsed", count: 1 },
      { type: "odd", disposition: "mapped", count: 1150 },
    ]);
    const rows = [...((await again?.readRaw([2300, 1, 1001, 1002, 1, 99_999])) ?? [])]
      .sort(([a], [b]) => a - b)
      .map(([seq, row]) => [seq, row.body.toString()]);
    expect(rows).toEqual([1, 1001, 1002, 2300].map((n) => [n, `line ${n}\r\n\u0000`]));
    const first = await again?.readNative({ limit: 1500 });
    const second = await again?.readNative({ after: first?.next ?? 0, limit: 1500 });
    expect([first?.has_more, second?.has_more]).toEqual([true, false]);
    expect([...(first?.messages ?? []), ...(second?.messages ?? [])].map((row) => row.body)).toEqual(bodies);
  });

  it("counts types without number as one", async () => {
    const { log } = await open();
    const stream = await log.create("session", "ses_1", "{}");
    for (const n of numbers(1, 5000))
      stream.appendNative({ dir: "out", t_ms: 0, type: `type_${n}`, disposition: "unparsed", raw: "" });
    await stream.committed();
    const rows = await stream.coverage();
    expect(rows.length).toBeLessThan(2500);
    expect(rows.reduce((sum, row) => sum + row.count, 0)).toBe(5000);
  });

  it("reads all streams of any kind in the order of their commits, from any cursor", async () => {
    const { log } = await open();
    const streams = [
      await log.create("session", "a", "{}"),
      await log.create("session", "b", "{}"),
      await log.create("task", "t", "{}"),
    ];
    for (const count of [3, 1200, 1]) {
      for (const stream of streams) appendMany(stream, count);
      await streams[0]?.committed();
    }
    const all = await readAll(log);
    expect(all.length).toBe(3 * 1204);
    for (const { kind, id } of streams) {
      const own = all.filter((entry) => entry.kind === kind && entry.stream_id === id);
      expect(sequencesOf(own.map((entry) => entry.json))).toEqual(numbers(1, 1204));
    }
    expect(all.at(-1)?.cursor).toBe(await log.end());
    for (const index of [0, 2, 3, 1205, 2407]) {
      const rest = await readAll(log, all[index]?.cursor);
      expect(rest.map(({ json }) => json)).toEqual(all.slice(index + 1).map(({ json }) => json));
    }
  });

  it("compares cursors itself: what is none, or lies beyond the end, is refused", async () => {
    const { log } = await open();
    const stream = await log.create("session", "a", "{}");
    appendMany(stream, 3);
    await stream.committed();
    await log.assertCursor(log.beginning);
    await log.assertCursor(await log.end());
    expect(await codeOfLater(log.assertCursor("what?"))).toBe("invalid_cursor");
    const beyond = (await log.end()).replace(/^[0-9]+/, "99999999");
    expect(["cursor_too_large", "log_changed"]).toContain(await codeOfLater(log.assertCursor(beyond)));
    expect(["cursor_too_large", "log_changed"]).toContain(
      codeOf(() => log.subscribeAll({ after: beyond, onBatch: () => undefined })),
    );
    await stream.assertCursor({ sequence: 3, epoch: log.epoch });
    expect(await codeOfLater(stream.assertCursor({ sequence: 4, epoch: log.epoch }))).toBe("log_changed");
    expect(await codeOfLater(stream.assertCursor({ sequence: 1, epoch: "abc" }))).toBe("log_changed");
  });
}

function tailContract(open: () => Promise<OpenedLog>): void {
  it("catches up from anywhere and follows live, each event once and in order", async () => {
    const { log } = await open();
    const stream = await log.create("session", "ses_1", "{}");
    appendMany(stream, 2345);
    await stream.committed();
    const starts = [0, 1, 999, 1000, 1001, 2344, 2345];
    const seen = starts.map(() => collector());
    for (const [index, after] of starts.entries()) stream.subscribe({ after, onBatch: seen[index]!.onBatch });
    appendMany(stream, 10);
    await seen[0]!.reached(2355);
    appendMany(stream, 1500);
    await Promise.all(seen.map((one, index) => one.reached(3855 - starts[index]!)));
    for (const [index, after] of starts.entries()) expect(seen[index]!.got).toEqual(numbers(after + 1, 3855));
  });

  it("gives a subscriber that asks from beyond the end only what comes after", async () => {
    const { log } = await open();
    const stream = await log.create("session", "ses_1", "{}");
    appendMany(stream, 5);
    await stream.committed();
    const seen = collector();
    await new Promise<void>((resolve) => stream.subscribe({ after: 10, onBatch: seen.onBatch, onLive: resolve }));
    for (const count of [2, 5, 1]) {
      appendMany(stream, count);
      await stream.committed();
      await new Promise(setImmediate);
    }
    await seen.reached(3);
    expect(seen.got).toEqual([11, 12, 13]);
  });

  it("gives all who follow the same batch, and puts any frame around its events, live and from the log alike", async () => {
    const { log } = await open();
    const stream = await log.create("session", "ses_1", "{}");
    const live: Batch[] = [];
    const other: Batch[] = [];
    await Promise.all(
      [live, other].map(
        (into) =>
          new Promise<void>((resolve) => stream.subscribe({ onBatch: (batch) => void into.push(batch), onLive: resolve })),
      ),
    );
    appendMany(stream, 3);
    const done = collector();
    stream.subscribe(done);
    await done.reached(3);
    const framed = (batch: Batch | undefined): string =>
      batch?.framed((index) => `<${batch.first + index} `, ">\n").toString() ?? "";
    const expected = (sequences: number[]) => sequences.map((n) => `<${n} ${event(n)}>\n`).join("");
    expect([live.length, framed(live[0])]).toEqual([1, expected([1, 2, 3])]);
    expect(other[0]).toBe(live[0]);
    const fromLog = await new Promise<Batch>((resolve) =>
      stream.subscribe({ after: 1, onBatch: (batch) => void resolve(batch) }),
    );
    expect(framed(fromLog)).toBe(expected([2, 3]));
    expect([fromLog.first, fromLog.last, fromLog.events, fromLog.types, fromLog.natives]).toEqual([
      2,
      3,
      [event(2), event(3)],
      ["item.delta", "item.completed"],
      [null, null],
    ]);
  });

  it("keeps nothing for a subscriber that stopped, and gives it all 20 000 when it wakes", async () => {
    const { log } = await open();
    const stream = await log.create("session", "ses_1", "{}");
    const got: number[] = [];
    let subscription: Subscription | undefined;
    let calls = 0;
    const stopped = new Promise<void>((resolve) => {
      subscription = stream.subscribe({
        onBatch(batch) {
          got.push(...sequencesOf(batch.events));
          calls++;
          resolve();
          return false;
        },
      });
    });
    appendMany(stream, 1);
    await stopped;
    for (let round = 0; round < 200; round++) {
      appendMany(stream, 100);
      await stream.committed();
    }
    expect([calls, subscription?.state]).toEqual([1, "stopped"]);
    while (got.length < 20_001) {
      const before = calls;
      subscription?.resume();
      while (calls === before) await new Promise(setImmediate);
    }
    expect(got).toEqual(numbers(1, 20_001));
  });

  it("gives each event of a batch by itself, live and read back, from its middle on too", async () => {
    const { log } = await open();
    const stream = await log.create("session", "ses_1", "{}");
    const told = (after: number, count: number) =>
      new Promise<string[]>((resolve) => {
        const one: string[] = [];
        const subscription = stream.subscribe({
          after,
          onBatch(batch) {
            // Before `events` is asked for, which makes all of them.
            one.push(...numbers(0, batch.last - batch.first).map((index) => batch.event(index)));
            expect(one.slice(-batch.events.length)).toEqual(batch.events);
            if (one.length < count) return undefined;
            subscription.close();
            resolve(one);
            return undefined;
          },
        });
      });
    const live = told(0, 40);
    const shape = { before: '","text":', after: "}" };
    for (const sequence of numbers(1, 40)) {
      const parts = {
        head: "evt_",
        counter: `${sequence}`,
        time: "12:00",
        shape,
        value: JSON.stringify(`größe 日本 ${sequence}`),
      };
      stream.append({ sequence, type: "a", native: null, text: sequence % 4 === 0 ? event(sequence) : parts });
    }
    const all = await live;
    expect(sequencesOf(all)).toEqual(numbers(1, 40));
    expect(await told(17, 23)).toEqual(all.slice(17));
    expect(await told(0, 40)).toEqual(all);
  });

  it("[D2] commits what one tick enqueued at once, over all streams, and tells it in order", async () => {
    const { log } = await open();
    const streams: StreamWriter[] = [];
    for (const n of numbers(1, 50)) streams.push(await log.create("session", `ses_${n}`, "{}"));
    await Promise.all(streams.map((stream) => stream.committed()));
    const seen: GlobalBatch[] = [];
    await new Promise<void>((resolve) => log.subscribeAll({ onBatch: (batch) => void seen.push(batch), onLive: resolve }));
    const { commits } = log.stats();
    for (const stream of streams) appendMany(stream, 2);
    const committed = streams[0]?.committed();
    for (const stream of streams) appendMany(stream, 1);
    await committed;
    expect(log.stats()).toMatchObject({ commits: commits + 1, events: 150, subscribers: 1, pending_bytes: 0 });
    expect(streams.map((stream) => stream.lastCommitted)).toEqual(streams.map(() => 3));
    await expect.poll(() => seen.length).toBe(50);
    expect(seen.map((batch) => [batch.stream_id, batch.first, batch.last])).toEqual(streams.map((stream) => [stream.id, 1, 3]));
    expect((await readAll(log, seen[0]?.cursorOf(0)))[0]?.json).toBe(event(2));
    expect((await readAll(log, seen[0]?.cursor))[0]).toMatchObject({ stream_id: "ses_2", json: event(1) });
  });

  it("survives subscribers that throw, close themselves, append while they are told", async () => {
    const { log } = await open();
    const stream = await log.create("session", "ses_1", "{}");
    stream.subscribe({
      onBatch() {
        throw new Error("a subscriber that fails");
      },
    });
    const leaving = stream.subscribe({
      onBatch() {
        leaving.close();
        return undefined;
      },
    });
    stream.subscribe({
      onBatch(batch) {
        if (batch.last >= 40) return undefined;
        appendMany(stream, 10);
        return undefined;
      },
    });
    const seen = collector();
    stream.subscribe(seen);
    appendMany(stream, 1);
    await seen.reached(41);
    expect(seen.got).toEqual(numbers(1, seen.got.length));
    expect(leaving.state).toBe("closed");
  });
}

function besideContract(open: () => Promise<OpenedLog>): void {
  it("removes the documents of a deleted stream, and of the kinds it is told those that name it; others stay", async () => {
    const { log } = await open();
    const stream = await log.create("session", "ses_1", "{}");
    const reply = JSON.stringify({ body: JSON.stringify({ session_id: "ses_1" }) });
    stream.documents.put("queued_message", "a", "{}");
    (await log.create("task", "ses_1", "{}")).documents.put("queued_message", "b", "{}");
    log.documents.put("queued_message", "ses_10/a", "{}");
    log.documents.put("idempotency", "k1", reply);
    log.documents.put("idempotency", "k2", reply.replace("ses_1", "ses_10"));
    await log.documents.committed();
    log.documents.put("idempotency", "k3", reply);
    log.documents.put("audit", "1", '{"session_id":"ses_1"}');
    await log.delete("session", "ses_1", { documents: ["idempotency"] });
    await log.erased();
    const left = async (kind: string) => (await log.documents.list(kind)).map(({ id }) => id);
    expect([await left("queued_message"), await left("idempotency"), await left("audit")]).toEqual([
      ["ses_10/a", "task:ses_1/b"],
      ["k2"],
      ["1"],
    ]);
  });

  it("keeps documents until they expire, with what is pending on top", async () => {
    const { log, reopen } = await open();
    log.documents.put("queue", "ses_1/1", "one");
    log.documents.put("queue", "ses_1/2", "two", { sync: true });
    log.documents.put("queue", "ses_2/1", "other");
    log.documents.put("idempotency", "old", "gone", { expiresAt: Date.now() - 1 });
    await log.documents.committed();
    log.documents.delete("queue", "ses_1/1");
    expect(await log.documents.get("queue", "ses_1/1")).toBeUndefined();
    log.documents.put("queue", "ses_1/0", "zero");
    expect((await log.documents.list("queue", { prefix: "ses_1/" })).map(({ body }) => body)).toEqual(["zero", "two"]);
    const again = await reopen();
    expect((await again.documents.list("queue")).map(({ id }) => id)).toEqual(["ses_1/0", "ses_1/2", "ses_2/1"]);
    expect(await again.documents.get("idempotency", "old")).toBeUndefined();
  });

  it("has nothing under a name with a NUL in it, whatever is asked, and goes on", async () => {
    const { log } = await open();
    const name = "ses_1\0";
    const stream = await log.create("session", "ses_1", '{"agent":"mock","tags":["t"]}');
    stream.append({ text: '{"n":1}', sequence: 1, type: "x", native: null });
    log.documents.put("note", "ses_1/1", "one");
    await stream.committed();
    expect(await log.row("session", name)).toBeUndefined();
    expect(await log.stream("session", name)).toBeUndefined();
    expect(await log.writer("session", name)).toBeUndefined();
    expect(await log.delete("session", name)).toBe(false);
    expect((await log.list("session", { where: { agent: name } })).streams).toEqual([]);
    expect((await log.list("session", { tag: name, ids: [name] })).streams).toEqual([]);
    expect((await stream.read({ types: [name] })).events).toEqual([]);
    expect(await log.documents.get("note", name)).toBeUndefined();
    expect(await log.documents.list("note", { prefix: name })).toEqual([]);
    expect((await stream.read({ types: ["x"] })).sequences).toEqual([1]);
  });

  it("refuses everything once closed", async () => {
    const { log } = await open();
    const stream = await log.create("session", "ses_1", "{}");
    const ended = new Promise((resolve) => stream.subscribe({ onBatch: () => undefined, onEnd: resolve }));
    appendMany(stream, 1);
    await log.close();
    expect(await ended).toBe("closed");
    expect(codeOf(() => appendMany(stream, 1))).toBe("log_closed");
    expect(codeOf(() => log.documents.put("x", "y", "z"))).toBe("log_closed");
    expect(await codeOfLater(log.create("session", "ses_2", "{}"))).toBe("log_closed");
  });

  it("keeps artifacts by their bytes, for as long as a stream has them", async () => {
    const { log, reopen } = await open();
    const [one, two] = [await log.create("session", "one", "{}"), await log.create("session", "two", "{}")];
    const bytes = Buffer.from("0123456789");
    const info = one.artifacts.put(bytes, { kind: "text", mime: "text/plain", name: "digits" });
    expect(two.artifacts.put(Buffer.from("0123456789"), { kind: "json", mime: "text/x" })).toEqual(info);
    const own = one.artifacts.put(Buffer.from("only one"), { kind: "text", mime: "text/plain" });
    await one.committed();
    await two.committed();
    const again = await reopen();
    const owner = (id: string) => ({ kind: "session" as const, id });
    const listed = async (options: Parameters<typeof again.artifacts.list>[0]) =>
      (await again.artifacts.list(options)).artifacts.map(({ artifact_id }) => artifact_id);
    expect(await listed({ order: "largest" })).toEqual([info.artifact_id, own.artifact_id]);
    expect(await listed({ of: [owner("two"), owner("nobody")] })).toEqual([info.artifact_id]);
    expect(await listed({ of: [] })).toEqual([]);
    expect(await listed({ min_bytes: 9 })).toEqual([info.artifact_id]);
    expect(await listed({ kind: "json" })).toEqual([]);
    const page = await again.artifacts.list({ limit: 1 });
    expect(page.artifacts).toHaveLength(1);
    const rest = await again.artifacts.list({ limit: 1, before: page.next ?? "" });
    expect([...page.artifacts, ...rest.artifacts].map(({ artifact_id }) => artifact_id).sort()).toEqual(
      [info.artifact_id, own.artifact_id].sort(),
    );
    expect(rest.next).toBeNull();
    expect(await again.artifacts.owners(info.artifact_id)).toEqual([owner("one"), owner("two")]);
    expect(await again.artifacts.usage()).toEqual({ count: 2, bytes: 18 });
    expect(await again.artifacts.stat(info.artifact_id)).toMatchObject({ bytes: 10, mime: "text/plain", name: "digits" });
    const read = async (id: string, range?: { start?: number; end?: number }) => {
      const chunks: Buffer[] = [];
      for await (const chunk of (await again.artifacts.openRead(id, range)) ?? []) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks).toString();
    };
    expect([await read(info.artifact_id), await read(info.artifact_id, { start: 2, end: 4 })]).toEqual(["0123456789", "234"]);
    await again.delete("session", "one");
    await again.erased();
    expect(await again.artifacts.stat(own.artifact_id)).toBeUndefined();
    expect(await read(info.artifact_id)).toBe("0123456789");
    expect(await codeOfLater(again.artifacts.stat("art_x"))).toBe("invalid_artifact_id");
  });
}

function searchContract(open: () => Promise<OpenedLog>): void {
  const stream = (id: string, more: Partial<SearchStream> = {}): SearchStream => ({
    kind: "session",
    stream_id: id,
    agent: "mock",
    directory: "/work/app",
    title: null,
    ...more,
  });
  const entry = (id: string, sequence: number, text: string, more: Partial<SearchEntry> = {}): SearchEntry => ({
    kind: "session",
    stream_id: id,
    sequence,
    item_id: `item_${sequence}`,
    sort: "assistant",
    at: 1_000 + sequence,
    text,
    ...more,
  });

  it("finds texts by words, phrases and beginnings, the newest first, in pages", async () => {
    const { log, reopen } = await open();
    expect(await log.search.cursor()).toBeNull();
    const streams = [stream("a", { title: "First" }), stream("b", { agent: "codex", directory: "/work/other" })];
    const entries = [
      entry("a", 1, "The Müller function fails"),
      entry("a", 2, "fix the function of mueller_helper", { sort: "user" }),
      entry("b", 1, "function b() { return 'fails the function' }"),
      entry("b", 2, '日本語のテキスト and "quotes" * - OR AND'),
    ];
    await log.search.put({ streams, entries, removed: [] }, "7");
    const again = await reopen();
    expect(await again.search.cursor()).toBe("7");
    const found = async (query: string, more: object = {}) =>
      (await again.search.find({ query, ...more })).hits.map(({ stream_id, sequence }) => `${stream_id}${sequence}`);
    expect(await found("function")).toEqual(["b1", "a2", "a1"]);
    expect(await found("muller")).toEqual(["a1"]);
    expect(await found("FUNC")).toEqual(["b1", "a2", "a1"]);
    expect(await found("func ")).toEqual([]);
    expect(await found("function fails")).toEqual(["b1", "a1"]);
    expect(await found('"function fails"')).toEqual(["a1"]);
    expect(await found("mueller_hel")).toEqual(["a2"]);
    expect(await found("function", { agent: "codex" })).toEqual(["b1"]);
    expect(await found("function", { directory: "/work/app", sorts: ["user"] })).toEqual(["a2"]);
    expect(await found("function", { stream_id: "a" })).toEqual(["a2", "a1"]);
    expect(await found("日本語のテキスト")).toEqual(["b2"]);
    for (const query of ["", "  ", "*", '"', "- (", "NOT"]) expect(await found(query)).toEqual([]);
    expect(await found('OR AND "quotes')).toEqual(["b2"]);
    expect(await found('"AND OR"')).toEqual([]);
    expect(await found("or and quotes")).toEqual(["b2"]);
    const page = await again.search.find({ query: "function", limit: 2 });
    expect((await again.search.find({ query: "function", limit: 2, before: page.next ?? "" })).hits).toMatchObject([
      { stream_id: "a", sequence: 1, title: "First", agent: "mock", directory: "/work/app", item_id: "item_1", at: 1_001 },
    ]);
  });

  it("finds streams by any part of their names, forgets what was removed, and can begin again", async () => {
    const { log } = await open();
    await log.create("session", "sess_one", "{}");
    const streams = [stream("sess_one", { title: "Größe ändern" }), stream("sess_two"), stream("sess_three", { agent: "codex" })];
    const entries = [entry("sess_one", 1, "to be removed"), entry("sess_one", 2, "stays"), entry("sess_two", 1, "stays")];
    await log.search.put({ streams, entries, removed: [] }, "1");
    const named = async (text: string) => (await log.search.findStreams(text)).ids;
    expect([await named("GRÖSSE"), await named("grosse"), await named("öße"), await named("ne")]).toEqual([
      [],
      [],
      ["sess_one"],
      ["sess_one"],
    ]);
    expect(await named("sess_")).toEqual(["sess_three", "sess_two", "sess_one"]);
    expect(await named("dex")).toEqual(["sess_three"]);
    const first = await log.search.findStreams("sess_", { limit: 2 });
    expect((await log.search.findStreams("sess_", { before: first.next ?? "" })).ids).toEqual(["sess_one"]);
    await log.search.put(
      {
        streams: [stream("sess_one", { title: "Renamed" })],
        entries: [],
        removed: [{ kind: "session", stream_id: "sess_one", item_id: "item_1" }],
      },
      "2",
    );
    expect([await named("größe"), await named("renamed")]).toEqual([[], ["sess_one"]]);
    expect((await log.search.find({ query: "removed" })).hits).toEqual([]);
    expect((await log.search.find({ query: "stays" })).hits.length).toBe(2);
    await log.delete("session", "sess_one");
    await log.erased();
    expect([await named("renamed"), (await log.search.find({ query: "stays" })).hits.length]).toEqual([[], 1]);
    await log.search.reset();
    expect([await log.search.cursor(), await named("sess_"), (await log.search.find({ query: "stays" })).hits]).toEqual([
      null,
      [],
      [],
    ]);
  });
}
