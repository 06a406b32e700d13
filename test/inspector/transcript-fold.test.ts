// A transcript is loaded from its end and grows both ways; however it was cut, it must come out the same.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { turnMeasures } from "../../inspector/src/debug/turn-measures.ts";
import { TranscriptFold } from "../../inspector/src/state/transcript-fold.ts";
import { reasoningHead } from "../../inspector/src/transcript/reasoning-head.ts";
import { buildRows } from "../../inspector/src/transcript/rows.ts";
import { spentText } from "../../inspector/src/ui/format.ts";
import { markdownBlocks } from "../../inspector/src/ui/markdown-blocks.ts";
import type { UniversalEvent } from "../../src/schema/event.ts";
import type { EventDataOf, EventType } from "../../src/schema/event-data.ts";
import type { Item } from "../../src/schema/item.ts";
import { foldItems } from "../../src/schema/projection/item-projection.ts";
import { SessionProjection } from "../../src/schema/projection/session-projection.ts";
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

const WORDS = [{ type: "text" as const, text: "words" }];

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

/** Around it a command that a person started before and that ends after it. */
const withTask = (events: UniversalEvent[]): UniversalEvent[] => [
  event(1, "task.spawned", { task_id: "task", tool_name: "shell", title: "npm run dev", args: {}, execution_mode: "pipes" }),
  ...events.map((each) => ({ ...each, sequence: each.sequence + 1 })),
  event(events.length + 2, "task.status", { task_id: "task", status: "exited", exit_code: 1 }),
];

const applied = (events: UniversalEvent[], fold = new TranscriptFold()): TranscriptFold => {
  for (const each of events) fold.apply(each);
  return fold;
};

/** The fold as the page loads it: a snapshot, and the past in two pages, the newer one first. */
function loaded(events: UniversalEvent[], between: number): TranscriptFold {
  const session = new SessionProjection();
  const starts = new Map<string, number>();
  for (const each of events) {
    session.apply(each);
    if ((each.type === "item.started" || each.type === "item.completed") && !starts.has(each.data.item.item_id))
      starts.set(each.data.item.item_id, each.sequence);
  }
  const fold = new TranscriptFold(JSON.parse(JSON.stringify(session)));
  const items = foldItems(events);
  const page = (fits: (sequence: number) => boolean) => {
    const found = items.filter((each) => fits(starts.get(each.item_id) ?? 0));
    return {
      items: found,
      sequences: found.map((each) => starts.get(each.item_id) ?? 0),
      events: events.filter(({ type, sequence }) => fits(sequence) && (type === "item.removed" || !type.startsWith("item."))),
    };
  };
  fold.prepend(page((sequence) => sequence > between));
  fold.prepend(page((sequence) => sequence <= between));
  return fold;
}

/** What was taken back in the past is not loaded. */
const shape = (fold: TranscriptFold) => ({
  entries: fold.entries().flatMap(({ sequence: _, ...entry }) => (entry.kind === "removed" ? [] : [entry])),
  removed: fold.entries().flatMap((entry) => (entry.kind === "removed" ? [[entry.item_id, entry.reason]] : [])),
  items: fold.items().sort((a, b) => (a.item_id < b.item_id ? -1 : 1)),
  turns: [...fold.turns.values()],
  waited: fold.waited("call"),
});

describe("transcript fold", () => {
  it("comes out the same whatever of it was loaded in pages and whatever came live", () => {
    // Not `double`, which is nearly always almost 0.
    const share = fc.integer({ min: 0, max: 1_000 }).map((part) => part / 1_000);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), share, share, (messages, at, between) => {
        const events = withTask(turn(messages));
        const cut = Math.round(at * events.length);
        const fold = applied(events.slice(cut), loaded(events.slice(0, cut), Math.round(between * cut)));
        expect(shape(fold)).toEqual(shape(applied(events)));
      }),
      { seed: SEED },
    );
  });

  it("shows an item in progress before its start is loaded, and at its place after", () => {
    const events = turn(3).slice(0, 12);
    const session = new SessionProjection();
    for (const each of events) session.apply(each);
    const fold = new TranscriptFold(session.toJSON());
    expect(fold.entries()).toMatchObject([{ key: "call", sequence: 0 }]);
    fold.prepend({ items: foldItems(events), sequences: [2, 5, 8, 11], events: events.slice(0, 1) });
    expect(fold.entries().map(({ key }) => key)).toEqual(["start t", "m0", "m1", "m2", "call"]);
  });

  it("nests a sub-agent's items under its call and joins results to calls", () => {
    const fold = applied(turn(2));
    const rows = buildRows(fold, new Map([["nest call", true]]));
    expect(rows.map(({ key, depth }) => [key, depth])).toEqual([
      ["start t", 0],
      ["m0", 0],
      ["m1", 0],
      ["call", 0],
      ["inner", 1],
      ["outcome call", 1],
      ["end t", 0],
    ]);
    expect(rows[3]).toMatchObject({ kind: "tool", results: ["result"], children: 1 });
    expect(buildRows(fold, new Map()).map(({ key }) => key)).not.toContain("inner");
  });

  it("shows a sub-agent's prompt, then its work, then how it ended, in whatever order the agent told of them", () => {
    const [status, prompt, work] = (["status", "message", "message"] as const).map((kind, at) =>
      item(["status", "prompt", "work"][at] ?? "", { kind, parent_id: "call", status: "completed", content: WORDS }),
    );
    const events = turn(1).filter((each) => !JSON.stringify(each).includes('"inner"'));
    const call = events.findIndex((each) => each.type === "item.started" && each.data.item.item_id === "call");
    const told = [status, prompt, work].flatMap((each) => (each ? [event(0, "item.completed", { item: each })] : []));
    events.splice(call + 1, 0, ...told);
    const numbered = events.map((each, at) => ({ ...each, sequence: at + 1 }));
    const rows = buildRows(applied(numbered), new Map([["nest call", true]]));
    expect(rows.filter(({ depth }) => depth === 1).map(({ key }) => key)).toEqual(["prompt", "work", "status", "outcome call"]);
  });

  it("leaves out a question that waits where its call stands, and shows the answer", () => {
    const asks = { type: "tool_call" as const, name: "ask", arguments: "{}", call_id: "q", tool_kind: "question" as const };
    const question = {
      ...{ question_id: "q1", prompt: "Which?", options: [], response: null, questions: [], call_id: "q", item_id: "call" },
      status: "requested" as const,
    };
    const events = [
      event(1, "turn.started", { turn_id: "t", initiator: "client" }),
      event(2, "item.started", { item: item("call", { kind: "tool_call", content: [asks] }) }),
      event(3, "question.requested", question),
    ];
    const keys = (list: UniversalEvent[]): string[] => buildRows(applied(list), new Map()).map(({ key }) => key);
    expect(keys(events)).not.toContain("q1");
    expect(keys(events.with(2, event(3, "question.requested", { ...question, item_id: null })))).toContain("q1");
    expect(keys([...events, event(4, "question.resolved", { ...question, status: "answered", answers: [["A"]] })])).toContain(
      "q1",
    );
  });

  it("makes no row of a message that was nothing but its calls", () => {
    const rows = (status: Item["status"]): string[] => {
      const events = [event(1, "item.started", { item: item("empty", {}) })];
      if (status === "completed") events.push(event(2, "item.completed", { item: item("empty", { status }) }));
      return buildRows(applied(events), new Map()).map(({ key }) => key);
    };
    expect(rows("in_progress")).toEqual(["empty"]);
    expect(rows("completed")).toEqual([]);
  });

  it("knows which turn has a plan of its own", () => {
    const plan = { type: "plan" as const, entries: [{ text: "Look", status: "pending" as const }] };
    const events = [
      event(1, "turn.started", { turn_id: "t", initiator: "client" }),
      event(2, "item.started", { item: item("todo", { kind: "status", content: [plan] }) }),
      event(3, "turn.ended", { turn_id: "t", stop_reason: "end_turn" }),
      event(4, "turn.started", { turn_id: "next", initiator: "client" }),
    ];
    expect(applied(events).showsPlan("t")).toBe(true);
    expect(applied(events).showsPlan("next")).toBe(false);
  });

  it("counts the time a call waited for a person apart", () => {
    expect(applied(turn(1)).waited("call")).toBe(100);
    expect(applied(turn(1)).waited("m0")).toBe(0);
  });

  it("measures turns", () => {
    expect(turnMeasures(turn(1))).toEqual([
      { turn_id: "t", duration: 1_100, first: 100, input: 7, output: 3, context: null, cost: null },
    ]);
  });
});

describe("a folded thought", () => {
  it("shows its first words without the marks of Markdown", () => {
    expect(reasoningHead("**Deciding** the `plot`", false, false)).toEqual({ summary: "Thought", preview: "Deciding the plot" });
  });

  it("shows nothing of its words when it is private", () => {
    expect(reasoningHead("**Deciding** the plot", true, true)).toEqual({ summary: "Private reasoning", preview: null });
  });
});

describe("what a turn or a step cost", () => {
  it("has separators, also before the cost", () => {
    expect(spentText({ input_tokens: 1_200, output_tokens: 7, cache_read_tokens: 64 }, 0)).toBe(
      "1.2k in · 7 out · 64 cached · $0.00",
    );
  });

  it("is not shown as zeros when nothing is known", () => {
    expect(spentText({ input_tokens: 0, output_tokens: 0 }, 0)).toBe("");
    expect(spentText(undefined, undefined)).toBe("");
    expect(spentText(undefined, 0.5)).toBe("$0.50");
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
