import { describe, expect, it } from "vitest";
import type { UniversalEvent } from "../event.ts";
import type { Item } from "../item.ts";
import { foldItems } from "./item-projection.ts";

const item = (change: Partial<Item>): Item => ({
  item_id: "a",
  native_item_id: null,
  parent_id: null,
  kind: "message",
  role: "assistant",
  content: [],
  status: "in_progress",
  turn_id: null,
  started_at: "2026-01-01T00:00:00.000Z",
  completed_at: null,
  ...change,
});

const event = (type: string, data: unknown): UniversalEvent => ({ type, data }) as UniversalEvent;
const delta = (part_index: number, part_type: string, text: string): UniversalEvent =>
  event("item.delta", { item_id: "a", native_item_id: null, part_index, part_type, delta: text });

describe("the fold of items", () => {
  it("grows parts from deltas, thinking apart from the answer", () => {
    const [folded] = foldItems([
      event("item.started", { item: item({}) }),
      delta(0, "reasoning", "hm"),
      delta(1, "text", "A"),
      delta(1, "text", "B"),
    ]);
    expect(folded?.content).toEqual([
      { type: "reasoning", text: "hm", visibility: "public" },
      { type: "text", text: "AB" },
    ]);
  });

  it("takes updates and completions as the whole truth, and drops what was removed", () => {
    const done = item({ status: "completed", content: [{ type: "text", text: "done" }] });
    const gone = item({ item_id: "b" });
    const events = [
      event("item.started", { item: item({}) }),
      event("item.started", { item: gone }),
      event("item.completed", { item: done }),
      event("item.removed", { item_id: "b", native_item_id: null, reason: "rolled back" }),
    ];
    expect(foldItems(events)).toEqual([done]);
  });

  it("does not change the items it was given", () => {
    const started = item({});
    foldItems([event("item.started", { item: started }), delta(0, "text", "x")]);
    expect(started.content).toEqual([]);
  });

  it("ignores deltas of items it does not know, as a reader that came late must", () => {
    expect(foldItems([delta(0, "text", "x")])).toEqual([]);
  });
});
