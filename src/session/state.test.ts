// The state of a session read from its log: from snapshots and a bounded tail, and its transcript in pages.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Log, ReadPage, StreamWriter } from "../log/contract.ts";
import { openSqliteLog } from "../log/sqlite/log.ts";
import type { Draft } from "../schema/draft.ts";
import type { UniversalEvent } from "../schema/event.ts";
import type { Item } from "../schema/item.ts";
import { foldItems } from "../schema/projection/item-projection.ts";
import { SessionProjection } from "../schema/projection/session-projection.ts";
import { EventWriter } from "./event-writer.ts";
import { countingIds } from "./ids.ts";
import { type ItemPageQuery, readItemPage } from "./item-pages.ts";
import { FACT_TYPES, readProjection } from "./projection-reader.ts";
import { Scribe } from "./scribe.ts";
import { documentSnapshots, SNAPSHOT_EVERY, SnapshotTaker, snapshotsOf } from "./snapshots.ts";
import { StateReader } from "./state-reader.ts";

let dataDir: string;
let log: Log;
let stream: StreamWriter;
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "dragoman-state-"));
  log = await openSqliteLog({ dataDir });
  stream = await log.create("session", "s", "{}");
});
afterEach(async () => {
  await log.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Writes as a session does, with or without snapshots. */
function author({ snapshots = true } = {}) {
  const projection = new SessionProjection();
  const taker = new SnapshotTaker(snapshotsOf(stream));
  const writer = new EventWriter({
    ...{ sessionId: "s", sink: stream, ids: countingIds(), clock: () => "2026-01-01T00:00:00.000Z", projection },
    ...(snapshots ? { onMilestone: () => taker.take(projection) } : {}),
  });
  const scribe = new Scribe(writer, { put: () => ({ artifact_id: "", path: "", bytes: 0, digest: "" }) });
  scribe.begin({ agent: "mock", title: "A title" });
  return { scribe, projection, say: (...drafts: Draft[]) => scribe.say(drafts) };
}

const delta = (key: string, text: string): Draft => ({ do: "item.delta", key, part_type: "text", delta: text });
const message = (key: string, text: string): Draft => ({
  do: "item.add",
  item: { key, kind: "message", role: "assistant", content: [{ type: "text", text }] },
});

/** A call that runs beside everything else, messages, one that is taken back later, and a very long one at the end. */
function longStory(write: ReturnType<typeof author>): void {
  const { say } = write;
  say({ do: "turn.start", initiator: "client" });
  say({
    do: "item.start",
    item: {
      ...{ key: "call", kind: "tool_call", role: "assistant", outlives_turn: true },
      content: [{ type: "tool_call", name: "sh", arguments: "{}", call_id: "c" }],
    },
  });
  for (let i = 0; i < 30; i++) say(message(`m${i}`, `text ${i}`));
  for (let i = 0; i < 3 * SNAPSHOT_EVERY; i++) say(delta("long", `${i} `));
  say(
    { do: "item.complete", key: "long" },
    { do: "item.complete", key: "call" },
    { do: "item.remove", key: "m7", reason: "rolled back" },
  );
  say({ do: "event", type: "config.changed", data: { model: "other" } });
  for (let i = 0; i < SNAPSHOT_EVERY; i++) say(delta("open", `${i} `));
  for (let i = 0; i < 5; i++) say(message(`n${i}`, `later ${i}`));
}

async function everyEvent(): Promise<UniversalEvent[]> {
  const events: UniversalEvent[] = [];
  for (let after = 0, more = true; more; ) {
    const page = await stream.read({ after, limit: 1_000 });
    events.push(...page.events.map((json) => JSON.parse(json) as UniversalEvent));
    [after, more] = [page.next, page.has_more];
  }
  return events;
}

const folded = (events: UniversalEvent[]): unknown => {
  const projection = new SessionProjection();
  for (const event of events) projection.apply(event);
  return JSON.parse(JSON.stringify(projection));
};

/** How many events the calls of `read` returned. */
async function eventsRead(results: readonly { value: unknown }[]): Promise<number> {
  const pages = await Promise.all(results.map(({ value }) => value as Promise<ReadPage>));
  return pages.reduce((sum, { events }) => sum + events.length, 0);
}

const states = (): StateReader => new StateReader(documentSnapshots(log.documents));

async function everyItem(query: Partial<ItemPageQuery>): Promise<{ items: Item[]; sequences: number[]; pages: number }> {
  const reader = states();
  const [items, sequences]: [Item[], number[]] = [[], []];
  const order = query.order ?? "asc";
  for (let at: number | undefined, pages = 1; ; pages++) {
    const range = at === undefined ? {} : order === "asc" ? { after: at } : { before: at };
    const page = await readItemPage(stream, reader, { limit: 7, order, ...query, ...range });
    items.push(...page.items);
    sequences.push(...page.sequences);
    if (!page.has_more) return { items, sequences, pages };
    at = page.next;
  }
}

describe.each([{ snapshots: true }, { snapshots: false }])("a long session (snapshots when written: $snapshots)", (how) => {
  beforeEach(async () => {
    longStory(author(how));
    await log.documents.committed();
  });

  it("[P1] has the same state at any event, read from snapshots or from the beginning", async () => {
    const events = await everyEvent();
    const reader = states();
    for (const at of [
      0,
      1,
      2,
      40,
      200,
      SNAPSHOT_EVERY,
      SNAPSHOT_EVERY + 1,
      3 * SNAPSHOT_EVERY - 1,
      events.length - 3,
      events.length,
    ])
      expect(JSON.parse(JSON.stringify(await reader.at(stream, at))), `at ${at}`).toEqual(folded(events.slice(0, at)));
  });

  it("[P2] is read in a bounded number of events, once it was read", async () => {
    await states().at(stream);
    const read = vi.spyOn(stream, "read");
    for (const at of [stream.last, stream.last - 10, 2 * SNAPSHOT_EVERY + 17, 9]) {
      read.mockClear();
      await states().at(stream, at);
      const events = await eventsRead(read.mock.results);
      expect(events, `at ${at}`).toBeLessThanOrEqual(SNAPSHOT_EVERY);
    }
  });

  it("[P3] has a transcript in pages, forwards and backwards, now and then", async () => {
    const events = await everyEvent();
    for (const at of [events.length, events.length - 1, 2 * SNAPSHOT_EVERY, 60]) {
      const expected = foldItems(events.slice(0, at));
      const { items, sequences, pages } = await everyItem({ at });
      expect(items, `at ${at}`).toEqual(expected);
      expect(pages).toBeGreaterThan(1);
      expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
      const backwards = await everyItem({ at, order: "desc" });
      expect(backwards.items.toReversed()).toEqual(expected);
      expect(backwards.sequences.toReversed()).toEqual(sequences);
    }
  });

  it("[P3] gives one page of the newest items without reading the rest", async () => {
    await states().at(stream);
    const read = vi.spyOn(stream, "read");
    const page = await readItemPage(stream, states(), { limit: 3, order: "desc" });
    expect(page.items.map(({ content }) => content[0])).toMatchObject([
      { text: "later 4" },
      { text: "later 3" },
      { text: "later 2" },
    ]);
    const events = await eventsRead(read.mock.results);
    expect(events).toBeLessThan(SNAPSHOT_EVERY + 100);
  });
});

it("[P1] a session in which nothing is open is loaded from facts alone, and they are all", async () => {
  const write = author();
  longStory(write);
  write.say({ do: "turn.end", stop_reason: "end_turn", usage: { input_tokens: 3, output_tokens: 4 } });
  write.scribe.items.closeAll();
  write.say({ do: "event", type: "session.updated", data: { title: "New" } });
  await log.documents.committed();
  expect(write.projection.open).toBe(false);
  const { time: _, ...whole } = folded(await everyEvent()) as { time: string };
  for (const snapshots of [documentSnapshots(log.documents), { floor: async () => undefined, put: () => {} }]) {
    const quick = await readProjection(stream, snapshots, { quietUntil: stream.last });
    expect(JSON.parse(JSON.stringify({ ...quick.toJSON(), time: undefined }))).toEqual(whole);
  }
  expect(FACT_TYPES).not.toContain("item.delta");
});

it("[P2] stores fewer snapshots while much text is open, and never more text than a share of what was written", async () => {
  const write = author();
  const piece = "x".repeat(200);
  write.say({ do: "turn.start", initiator: "client" });
  for (let i = 0; i < 8 * SNAPSHOT_EVERY; i++) write.say(delta("long", piece));
  await log.documents.committed();
  const stored = await log.documents.list("snapshot", { prefix: "s/" });
  expect(stored.length).toBeGreaterThan(0);
  expect(stored.length).toBeLessThan(8);
  const chars = stored.reduce((sum, { body }) => sum + body.length, 0);
  expect(chars).toBeLessThan(2 * 8 * SNAPSHOT_EVERY * piece.length);
  await log.delete("session", "s");
  await log.erased();
  expect(await log.documents.list("snapshot", { prefix: "s/" })).toEqual([]);
});
