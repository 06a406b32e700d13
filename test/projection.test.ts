// A projection from a snapshot is the projection from the beginning: at any point of any recorded session, and of sessions with a queue.

import { Compile } from "typebox/compile";
import { expect, it } from "vitest";
import type { UniversalEvent } from "../src/schema/event.ts";
import { foldItems, ItemProjection } from "../src/schema/projection/item-projection.ts";
import { SessionProjection } from "../src/schema/projection/session-projection.ts";
import type { SessionSnapshot } from "../src/schema/snapshot.ts";
import { SessionSnapshot as Snapshot } from "../src/schema/snapshot.ts";
import { FACT_TYPES } from "../src/session/projection-reader.ts";
import { seedOf } from "../src/test-seed.ts";
import { random } from "./random.ts";
import { recordedSessions } from "./recorded-events.ts";

const SEED = seedOf(20_261_116);
const POINTS = 8;
const sessions = recordedSessions();
const snapshots = Compile(Snapshot);

const project = (events: readonly UniversalEvent[], from?: SessionSnapshot): SessionProjection => {
  const projection = new SessionProjection(from);
  for (const event of events) projection.apply(event);
  return projection;
};

/** As it is stored and read again. */
const stored = (projection: SessionProjection): SessionSnapshot => JSON.parse(JSON.stringify(projection)) as SessionSnapshot;

it(`a snapshot and the events after it make what all events make (seed ${SEED})`, () => {
  const dice = random(SEED);
  let openItems = 0;
  for (const { name, events } of sessions) {
    const whole = stored(project(events));
    for (let point = 0; point < POINTS; point++) {
      const k = Math.floor(dice() * (events.length + 1));
      const at = project(events.slice(0, k));
      const snapshot = stored(at);
      expect(snapshots.Errors(snapshot), `${name} at ${k}`).toEqual([]);
      expect(snapshot.sequence).toBe(k);
      expect(stored(project(events.slice(k), snapshot)), `${name} at ${k}`).toEqual(whole);
      openItems += snapshot.items.length;
    }
  }
  expect(sessions.length).toBeGreaterThan(100);
  // The points fall into the middle of things, or this test shows nothing.
  expect(openItems).toBeGreaterThan(sessions.length);
});

it(`open items of a snapshot and finished ones make the transcript at that point (seed ${SEED})`, () => {
  const dice = random(SEED + 1);
  for (const { name, events } of sessions) {
    const k = Math.floor(dice() * (events.length + 1));
    const before = events.slice(0, k);
    const open = new Map(
      project(before)
        .items.items()
        .map((item) => [item.item_id, item]),
    );
    const all = foldItems(before);
    for (const item of all) expect(open.get(item.item_id) ?? item, name).toEqual(item);
    expect([...open.keys()]).toEqual(all.filter((item) => item.status === "in_progress").map((item) => item.item_id));
    const resumed = new ItemProjection("all", JSON.parse(JSON.stringify(all)));
    for (const event of events.slice(k)) resumed.apply(event);
    expect(resumed.items(), name).toEqual(foldItems(events));
  }
});

it("what was read of an item is not changed by what comes later", () => {
  for (const { events } of sessions.slice(0, 40)) {
    const items = new ItemProjection();
    const seen: { json: string; item: unknown }[] = [];
    for (const event of events) {
      const id = items.apply(event);
      const item = id === undefined ? undefined : items.get(id);
      if (item && event.sequence % 3 === 0) seen.push({ item, json: JSON.stringify(item) });
    }
    for (const { item, json } of seen) expect(JSON.stringify(item)).toBe(json);
  }
});

it("what stays when nothing is open is known from the events that loading a session reads", () => {
  let quiet = 0;
  for (const { name, events } of sessions) {
    const whole = project(events);
    if (whole.open) continue;
    quiet++;
    const facts = project(events.filter(({ type }) => FACT_TYPES.includes(type)));
    facts.forgetOpen(events.length);
    const { time: _, ...quick } = stored(facts);
    expect({ ...quick, time: undefined }, name).toEqual({ ...stored(whole), time: undefined });
  }
  expect(quiet).toBeGreaterThan(50);
});
