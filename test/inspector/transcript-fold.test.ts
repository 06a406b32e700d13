// A transcript is loaded from its end and grows both ways; however it was cut, it must come out the same.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { turnMeasures } from "../../inspector/src/debug/turn-measures.ts";
import { TranscriptFold } from "../../inspector/src/state/transcript-fold.ts";
import { buildRows } from "../../inspector/src/transcript/rows.ts";
import { markdownBlocks } from "../../inspector/src/ui/markdown-blocks.ts";
import type { UniversalEvent } from "../../src/schema/event.ts";
import type { EventDataOf, EventType } from "../../src/schema/event-data.ts";
import type { Item } from "../../src/schema/item.ts";
import { seedOf } from "../../src/test-seed.ts";

const SEED = seedOf(20_260_101);

function event<T extends EventType>(sequence: number, type: T, data: EventDataOf[T]): UniversalEvent {
  const time = new Date(1_767_225_600_000 + sequence * 100).toISOString();
  const envelope = { event_id: `evt_${sequence}`, sequence, time, session_id: "s", native_session_id: null };
  return { ...envelope, synthetic: false, source: "agent", type, data, raw: null } as UniversalEvent;
}

const item = (id: string, patch: Partial<Item>): Item => ({
  item_id: id,
  native_item_id: null,
  parent_id: null,
  kind: "message",
  role: "assistant",
  content: [],
  status: "in_progress",
  turn_id: "t",
  started_at: "2026-01-01T00:00:00.000Z",
  completed_at: null,
  ...patch,
});

/** One turn: messages, a call with its result, a sub-agent's message, a permission, a removed message. */
function turn(messages: number): UniversalEvent[] {
  const events: UniversalEvent[] = [];
  const add = <T extends EventType>(type: T, data: EventDataOf[T]): void =>
    void events.push(event(events.length + 1, type, data));
  add("turn.started", { turn_id: "t", initiator: "client" });
  for (let i = 0; i < messages; i++) {
    add("item.started", { item: item(`m${i}`, {}) });
    add("item.delta", { item_id: `m${i}`, native_item_id: null, part_index: 0, part_type: "text", delta: `text ${i}` });
    add("item.completed", { item: item(`m${i}`, { status: "completed", content: [{ type: "text", text: `text ${i}` }] }) });
  }
  const call: Partial<Item> = {
    kind: "tool_call",
    content: [{ type: "tool_call", name: "task", arguments: "{}", call_id: "c" }],
  };
  add("item.started", { item: item("call", call) });
  const asked = {
    permission_id: "p",
    action: "Run",
    metadata: { tool_name: "task", input: {}, call_id: "c", item_id: "call", options: [] },
  };
  add("permission.requested", { ...asked, status: "requested" });
  add("permission.resolved", { ...asked, status: "approved" });
  add("item.completed", {
    item: item("inner", { parent_id: "call", status: "completed", content: [{ type: "text", text: "inside" }] }),
  });
  const result: Partial<Item> = {
    kind: "tool_result",
    role: "tool",
    content: [{ type: "tool_result", call_id: "c", output: "ok" }],
  };
  add("item.completed", { item: item("result", { ...result, status: "completed" }) });
  add("item.completed", { item: item("call", { ...call, status: "completed" }) });
  add("item.removed", { item_id: "m0", native_item_id: null, reason: "rolled back" });
  add("turn.ended", { turn_id: "t", stop_reason: "end_turn", usage: { input_tokens: 7, output_tokens: 3 } });
  return events;
}

const shape = (fold: TranscriptFold) => ({
  entries: fold.entries().map(({ sequence: _, ...entry }) => entry),
  items: fold.items(),
  turns: [...fold.turns.values()],
  waited: fold.waited("call"),
});

describe("transcript fold", () => {
  it("comes out the same wherever it was cut", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), fc.double({ min: 0, max: 1, noNaN: true }), (messages, at) => {
        const events = turn(messages);
        const cut = Math.round(at * events.length);
        const joined = TranscriptFold.join(new TranscriptFold(events.slice(0, cut)), new TranscriptFold(events.slice(cut)));
        expect(shape(joined)).toEqual(shape(new TranscriptFold(events)));
      }),
      { seed: SEED },
    );
  });

  it("nests a sub-agent's items under its call and joins results to calls", () => {
    const fold = new TranscriptFold(turn(2));
    const rows = buildRows(fold, new Map([["nest call", true]]));
    expect(rows.map(({ key, depth }) => [key, depth])).toEqual([
      ["start t", 0],
      ["m0", 0],
      ["m1", 0],
      ["call", 0],
      ["inner", 1],
      ["outcome call", 1],
      ["p", 0],
      ["end t", 0],
    ]);
    expect(rows[3]).toMatchObject({ kind: "tool", results: ["result"], children: 1 });
    expect(buildRows(fold, new Map()).map(({ key }) => key)).not.toContain("inner");
  });

  it("counts the time a call waited for a person apart", () => {
    expect(new TranscriptFold(turn(1)).waited("call")).toBe(100);
    expect(new TranscriptFold(turn(1)).waited("m0")).toBe(0);
  });

  it("measures turns", () => {
    expect(turnMeasures(turn(1))).toEqual([
      { turn_id: "t", duration: 1_100, first: 100, input: 7, output: 3, context: null, cost: null },
    ]);
  });
});

describe("markdown blocks", () => {
  it("adds up to the text, and cuts no fence or list", () => {
    const line = fc.constantFrom("", "word", "- item", "  more", "```ts", "```", "1. one", "| a | b |");
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), (lines) => {
        const text = lines.join("\n");
        expect(markdownBlocks(text).join("\n")).toBe(text);
      }),
      { seed: SEED },
    );
    expect(markdownBlocks("a\n\n```\nb\n\nc\n```\n\nd")).toEqual(["a\n", "```\nb\n\nc\n```\n", "d"]);
    expect(markdownBlocks("- a\n\n- b\n\nc")).toEqual(["- a\n\n- b\n", "c"]);
  });
});
