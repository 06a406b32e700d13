/**
 * The contract of a log, as a suite: any store that claims to be a `Log` must pass it. A test helper; it knows nothing about how a store keeps things.
 */
import { expect, it } from "vitest";
import type { Batch, GlobalBatch, Log, Stream, Subscription } from "./contract.ts";
import { LogError } from "./log-error.ts";

export type OpenedLog = { log: Log /** Closes and opens the same data again. */; reopen(): Promise<Log> };

const event = (sequence: number) => JSON.stringify({ sequence, type: typeOf(sequence), text: `é\u2028${sequence}` });
const typeOf = (sequence: number) => (sequence % 3 === 0 ? "item.completed" : "item.delta");

export function appendMany(stream: Stream, count: number): void {
  for (let done = 0; done < count; done++) {
    const sequence = stream.last + 1;
    stream.append({ text: event(sequence), sequence, type: typeOf(sequence), native: null });
  }
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

export function logContract(open: () => Promise<OpenedLog>): void {
  streamsContract(open);
  readsContract(open);
  tailContract(open);
  besideContract(open);
}

function streamsContract(open: () => Promise<OpenedLog>): void {
  it("keeps events, ledger, state and what is open across a reopening", async () => {
    const { log, reopen } = await open();
    const stream = log.createStream("session", "ses_1", '{"a":1}');
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
    await log.committed();
    const again = (await reopen()).stream("session", "ses_1");
    expect(again?.last).toBe(2501);
    expect(again?.lastNative).toBe(1);
    expect(again?.state()).toBe('{"a":2}');
    expect(again?.openSince()).toBe(2);
    expect(again?.read({ limit: 3000 }).events).toEqual(numbers(1, 2501).map(event));
    expect(again?.readRaw([1]).get(1)).toEqual({
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
    const stream = log.createStream("session", "ses_1", "{}");
    appendMany(stream, 2);
    for (const sequence of [1, 2, 4]) {
      expect(codeOf(() => stream.append({ text: "{}", sequence, type: "x", native: null }))).toBe("sequence_gap");
    }
    expect(codeOf(() => stream.append({ text: "{\n}", sequence: 3, type: "x", native: null }))).toBe("invalid_entry");
    appendMany(stream, 1);
    log.flush();
    expect(stream.read().sequences).toEqual([1, 2, 3]);
  });

  it("has one stream per kind and id", async () => {
    const { log } = await open();
    const stream = log.createStream("session", "same", "{}");
    expect(codeOf(() => log.createStream("session", "same", "{}"))).toBe("stream_exists");
    log.createStream("task", "same", "{}");
    expect(log.stream("session", "same")).toBe(stream);
    expect(log.stream("session", "other")).toBeUndefined();
  });

  it("lists streams in pages, newest first, and those with something open", async () => {
    const { log } = await open();
    for (const n of numbers(1, 7)) log.createStream("session", `ses_${n}`, `{"n":${n}}`).setOpenSince(n % 2 === 0 ? n : null);
    log.createStream("task", "task_1", "{}");
    log.flush();
    const seen: string[] = [];
    let before: string | null = null;
    do {
      const page = log.listStreams("session", before === null ? { limit: 3 } : { limit: 3, before });
      seen.push(...page.streams.map((row) => row.id));
      before = page.next;
    } while (before !== null);
    expect(seen).toEqual(
      numbers(1, 7)
        .reverse()
        .map((n) => `ses_${n}`),
    );
    expect(log.listStreams("session", { onlyOpen: true }).streams.map((row) => row.open_since)).toEqual([6, 4, 2]);
    expect(log.listStreams("session", { order: "updated", limit: 1 }).streams[0]?.state).toBe('{"n":7}');
  });

  it("forgets a deleted stream at once and for good, and frees its id", async () => {
    const { log, reopen } = await open();
    const stream = log.createStream("session", "ses_1", "{}");
    appendMany(stream, 3000);
    await log.committed();
    const ended = new Promise((resolve) => stream.subscribe({ onBatch: () => undefined, onEnd: resolve }));
    expect(log.deleteStream("session", "ses_1")).toBe(true);
    expect(log.deleteStream("session", "ses_1")).toBe(false);
    expect(await ended).toBe("deleted");
    expect(codeOf(() => appendMany(stream, 1))).toBe("stream_deleted");
    expect(log.stream("session", "ses_1")).toBeUndefined();
    const before = log.globalCursor();
    const next = log.createStream("session", "ses_1", "{}");
    appendMany(next, 2);
    await log.committed();
    const again = await reopen();
    expect(again.stream("session", "ses_1")?.read().sequences).toEqual([1, 2]);
    expect(again.readGlobal().events.length).toBe(2);
    expect(again.readGlobal({ after: before }).events.length).toBe(2);
  });
}

function readsContract(open: () => Promise<OpenedLog>): void {
  it("[D1] shows nothing before it is committed, and all of it after", async () => {
    const { log } = await open();
    const stream = log.createStream("session", "ses_1", "{}");
    const seen = collector();
    stream.subscribe(seen);
    appendMany(stream, 5);
    expect([stream.last, stream.lastCommitted]).toEqual([5, 0]);
    expect(stream.read().events).toEqual([]);
    expect(log.readGlobal().events).toEqual([]);
    expect(seen.got).toEqual([]);
    log.flush();
    expect(stream.read().sequences).toEqual([1, 2, 3, 4, 5]);
    await seen.reached(5);
  });

  it("reads any range in both directions, across ticks and chunks", async () => {
    const { log } = await open();
    const stream = log.createStream("session", "ses_1", "{}");
    for (const count of [1, 1, 1500, 1, 997]) {
      appendMany(stream, count);
      log.flush();
    }
    expect(stream.read({ after: 998, limit: 5 })).toMatchObject({
      sequences: numbers(999, 1003),
      next: 1003,
      last: 2500,
      has_more: true,
    });
    expect(stream.read({ after: 998, before: 1001 })).toMatchObject({ sequences: [999, 1000], has_more: false });
    expect(stream.read({ reverse: true, limit: 2 })).toMatchObject({ sequences: [2500, 2499], next: 2499, has_more: true });
    expect(stream.read({ reverse: true, before: 3 })).toMatchObject({ sequences: [2, 1], has_more: false });
    expect(stream.read({ types: ["item.completed"], after: 1500, limit: 2 }).sequences).toEqual([1503, 1506]);
    expect(stream.read({ types: ["item.completed"], reverse: true, limit: 2 }).sequences).toEqual([2499, 2496]);
    expect(stream.read({ types: ["nothing"] })).toMatchObject({ events: [], has_more: false });
    expect(stream.read({ after: 2500 })).toMatchObject({ events: [], next: 2500, has_more: false });
  });

  it("bounds a page in bytes, but always moves on", async () => {
    const { log } = await open();
    const stream = log.createStream("session", "ses_1", "{}");
    for (const sequence of [1, 2, 3])
      stream.append({ text: JSON.stringify("x".repeat(600_000)), sequence, type: "x", native: null });
    log.flush();
    expect(stream.read({ maxBytes: 1 })).toMatchObject({ sequences: [1], has_more: true });
    expect(stream.read({ maxBytes: 1_300_000, after: 0 }).sequences).toEqual([1, 2]);
  });

  it("keeps the native ledger verbatim and counts it by type and disposition", async () => {
    const { log, reopen } = await open();
    const stream = log.createStream("session", "ses_1", "{}");
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
      if (index === 1000) log.flush();
    }
    await log.committed();
    const again = (await reopen()).stream("session", "ses_1");
    expect(again?.coverage()).toEqual([
      { type: "even", disposition: "mapped", count: 1149 },
      { type: "even", disposition: "unparsed", count: 1 },
      { type: "odd", disposition: "mapped", count: 1150 },
    ]);
    const rows = [...(again?.readRaw([2300, 1, 1001, 1002, 1, 99_999]) ?? [])].map(([seq, row]) => [seq, row.body.toString()]);
    expect(rows).toEqual([1, 1001, 1002, 2300].map((n) => [n, `line ${n}\r\n\u0000`]));
    const first = again?.readNative({ limit: 1500 });
    const second = again?.readNative({ after: first?.next ?? 0, limit: 1500 });
    expect([first?.has_more, second?.has_more]).toEqual([true, false]);
    expect([...(first?.messages ?? []), ...(second?.messages ?? [])].map((row) => row.body)).toEqual(bodies);
  });

  it("counts types without number as one", async () => {
    const { log } = await open();
    const stream = log.createStream("session", "ses_1", "{}");
    for (const n of numbers(1, 5000))
      stream.appendNative({ dir: "out", t_ms: 0, type: `type_${n}`, disposition: "unparsed", raw: "" });
    log.flush();
    const rows = stream.coverage();
    expect(rows.length).toBeLessThan(2500);
    expect(rows.reduce((sum, row) => sum + row.count, 0)).toBe(5000);
  });

  it("reads all sessions in the order of their commits, from any cursor", async () => {
    const { log } = await open();
    const [a, b, task] = [
      log.createStream("session", "a", "{}"),
      log.createStream("session", "b", "{}"),
      log.createStream("task", "t", "{}"),
    ];
    for (const count of [3, 1200, 1]) {
      for (const stream of [a, b, task]) appendMany(stream, count);
      log.flush();
    }
    const all = log.readGlobal({ limit: 10_000 });
    expect(all.has_more).toBe(false);
    expect(all.events.length).toBe(2 * 1204);
    for (const id of ["a", "b"]) {
      expect(sequencesOf(all.events.filter((entry) => entry.stream_id === id).map((entry) => entry.json))).toEqual(
        numbers(1, 1204),
      );
    }
    expect(all.next).toBe(log.globalCursor());
    for (const index of [0, 2, 3, 1205, 2407]) {
      const rest = log.readGlobal({ after: all.events[index]?.cursor ?? "", limit: 4 });
      expect(rest.events).toEqual(all.events.slice(index + 1, index + 5));
    }
  });
}

function tailContract(open: () => Promise<OpenedLog>): void {
  it("catches up from anywhere and follows live, each event once and in order", async () => {
    const { log } = await open();
    const stream = log.createStream("session", "ses_1", "{}");
    appendMany(stream, 2345);
    log.flush();
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
    const stream = log.createStream("session", "ses_1", "{}");
    appendMany(stream, 5);
    log.flush();
    const seen = collector();
    await new Promise<void>((resolve) => stream.subscribe({ after: 10, onBatch: seen.onBatch, onLive: resolve }));
    for (const count of [2, 5, 1]) {
      appendMany(stream, count);
      await log.committed();
      await new Promise(setImmediate);
    }
    await seen.reached(3);
    expect(seen.got).toEqual([11, 12, 13]);
  });

  it("frames a batch once, the same bytes for all, live and from the log alike", async () => {
    const { log } = await open();
    const stream = log.createStream("session", "ses_1", "{}");
    const live: Buffer[] = [];
    const other: Buffer[] = [];
    const isLive = Promise.all(
      [live, other].map(
        (into) =>
          new Promise<void>((resolve) => stream.subscribe({ onBatch: (batch) => void into.push(batch.sse()), onLive: resolve })),
      ),
    );
    await isLive;
    appendMany(stream, 3);
    const done = collector();
    stream.subscribe(done);
    await done.reached(3);
    const expected = [1, 2, 3].map((n) => `id: ${n}\ndata: ${event(n)}\n\n`).join("");
    expect(live.map(String)).toEqual([expected]);
    expect(other[0]).toBe(live[0]);
    const fromLog = await new Promise<Batch>((resolve) =>
      stream.subscribe({ after: 1, onBatch: (batch) => void resolve(batch) }),
    );
    expect(fromLog.sse().toString()).toBe([2, 3].map((n) => `id: ${n}\ndata: ${event(n)}\n\n`).join(""));
    expect([fromLog.first, fromLog.last, fromLog.types, fromLog.natives]).toEqual([
      2,
      3,
      ["item.delta", "item.completed"],
      [null, null],
    ]);
  });

  it("keeps nothing for a subscriber that stopped, and gives it all 20 000 when it wakes", async () => {
    const { log } = await open();
    const stream = log.createStream("session", "ses_1", "{}");
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
      await log.committed();
    }
    expect([calls, subscription?.state]).toEqual([1, "stopped"]);
    while (got.length < 20_001) {
      const before = calls;
      subscription?.resume();
      while (calls === before) await new Promise(setImmediate);
    }
    expect(got).toEqual(numbers(1, 20_001));
  });

  it("[D2] commits once for all streams of a tick", async () => {
    const { log } = await open();
    const streams = numbers(1, 50).map((n) => log.createStream("session", `ses_${n}`, "{}"));
    const seen: GlobalBatch[] = [];
    const live = new Promise<void>((resolve) => log.subscribeAll({ onBatch: (batch) => void seen.push(batch), onLive: resolve }));
    await live;
    const { commits } = log.stats();
    for (const stream of streams) appendMany(stream, 2);
    const committed = log.committed();
    for (const stream of streams) appendMany(stream, 1);
    expect(log.committed()).toBe(committed);
    await committed;
    expect(log.stats()).toMatchObject({ commits: commits + 1, events: 150, subscribers: 1, pending_bytes: 0 });
    expect(streams.map((stream) => stream.lastCommitted)).toEqual(streams.map(() => 3));
    await new Promise(setImmediate);
    expect(seen.map((batch) => [batch.stream_id, batch.first, batch.last])).toEqual(streams.map((stream) => [stream.id, 1, 3]));
    const text = seen[0]?.sse().toString() ?? "";
    expect(log.readGlobal({ after: /^id: (.*)$/m.exec(text)?.[1] ?? "", limit: 1 }).events[0]?.json).toBe(event(2));
  });

  it("survives subscribers that throw, close themselves, append or commit while they are told", async () => {
    const { log } = await open();
    const stream = log.createStream("session", "ses_1", "{}");
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
        log.flush();
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
    log.createStream("session", "ses_1", "{}");
    const reply = JSON.stringify({ body: JSON.stringify({ session_id: "ses_1" }) });
    log.documents.put("queued_message", "ses_1/a", "{}");
    log.documents.put("queued_message", "ses_10/a", "{}");
    log.documents.put("idempotency", "k1", reply);
    log.documents.put("idempotency", "k2", reply.replace("ses_1", "ses_10"));
    await log.committed();
    log.documents.put("idempotency", "k3", reply);
    log.documents.put("audit", "1", '{"session_id":"ses_1"}');
    log.deleteStream("session", "ses_1", { documents: ["idempotency"] });
    await log.erased();
    expect(["queued_message", "idempotency", "audit"].map((kind) => log.documents.list(kind).map(({ id }) => id))).toEqual([
      ["ses_10/a"],
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
    await log.committed();
    log.documents.delete("queue", "ses_1/1");
    expect(log.documents.get("queue", "ses_1/1")).toBeUndefined();
    log.documents.put("queue", "ses_1/0", "zero");
    expect(log.documents.list("queue", { prefix: "ses_1/" }).map(({ body }) => body)).toEqual(["zero", "two"]);
    const again = await reopen();
    expect(again.documents.list("queue").map(({ id }) => id)).toEqual(["ses_1/0", "ses_1/2", "ses_2/1"]);
    expect(again.documents.get("idempotency", "old")).toBeUndefined();
  });

  it("refuses everything once closed", async () => {
    const { log } = await open();
    const stream = log.createStream("session", "ses_1", "{}");
    const ended = new Promise((resolve) => stream.subscribe({ onBatch: () => undefined, onEnd: resolve }));
    appendMany(stream, 1);
    await log.close();
    expect(await ended).toBe("closed");
    expect(codeOf(() => appendMany(stream, 1))).toBe("log_closed");
    expect(codeOf(() => log.flush())).toBe("log_closed");
  });
}
