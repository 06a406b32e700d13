import { expect, it } from "vitest";
import type { EventPage, PageQuery } from "../../inspector/src/state/daemon.ts";
import { withOpenItems } from "../../inspector/src/state/open-items.ts";
import { TranscriptFold } from "../../inspector/src/state/transcript-fold.ts";
import type { UniversalEvent } from "../../src/schema/event.ts";
import type { EventDataOf, EventType } from "../../src/schema/event-data.ts";
import type { Item } from "../../src/schema/item.ts";

const PAGE = 400;

/** A log in memory that answers as the daemon's route does. */
class Log {
  readonly events: UniversalEvent[] = [];

  add<T extends EventType>(type: T, data: EventDataOf[T]): this {
    const sequence = this.events.length + 1;
    const envelope = { event_id: `e${sequence}`, sequence, time: "", session_id: "s", native_session_id: null, raw: null };
    this.events.push({ ...envelope, synthetic: false, source: "agent", type, data } as UniversalEvent);
    return this;
  }

  readonly page = async (query: PageQuery): Promise<EventPage> => {
    const { after = 0, before = Number.POSITIVE_INFINITY, limit = PAGE, order = "asc", types } = query;
    const fitting = this.events.filter(
      (each) => each.sequence > after && each.sequence < before && types?.includes(each.type) !== false,
    );
    if (order === "desc") fitting.reverse();
    const events = fitting.slice(0, limit);
    const next = events.at(-1)?.sequence ?? after;
    return { events, has_more: fitting.length > limit, next, last_sequence: this.events.length, epoch: "1" };
  };

  newest(): Promise<EventPage> {
    const types = [...new Set(this.events.map((each) => each.type))].filter((type) => type !== "item.delta");
    return this.page({ order: "desc", limit: PAGE, types });
  }
}

const item = (item_id: string, status: Item["status"], parent_id: string | null = null, text = ""): { item: Item } => ({
  item: {
    item_id,
    native_item_id: null,
    parent_id,
    kind: "message",
    role: "assistant",
    content: text ? [{ type: "text", text }] : [],
    status,
    turn_id: "t",
    started_at: "",
    completed_at: null,
  },
});
const delta = (item_id: string, text: string): EventDataOf["item.delta"] => ({
  item_id,
  native_item_id: null,
  part_index: 0,
  part_type: "text",
  delta: text,
});

function longTurn(): Log {
  const log = new Log().add("turn.started", { turn_id: "t", initiator: "client" });
  log.add("item.started", item("slow", "in_progress")).add("item.delta", delta("slow", "It goes "));
  log.add("item.started", item("done", "in_progress")).add("item.completed", item("done", "completed", null, "done"));
  for (let index = 0; index < PAGE; index++)
    log.add("item.started", item(`m${index}`, "in_progress")).add("item.completed", item(`m${index}`, "completed", null, "x"));
  return log.add("item.delta", delta("slow", "on."));
}

it("shows an item that is still open although it began long before the newest page", async () => {
  const log = longTurn();
  const fold = new TranscriptFold(await withOpenItems(log.page, await log.newest(), log.events.length));
  expect(fold.item("slow")?.content).toEqual([{ type: "text", text: "It goes on." }]);
  expect(fold.item("done")).toBeUndefined();
  expect(fold.turns.get("t")?.ended).toBeNull();
  expect(fold.entries()[1]?.key).toBe("slow");
});

it("counts only the deltas after the latest state", async () => {
  const log = longTurn();
  log.add("item.updated", item("slow", "in_progress", null, "It goes on and")).add("item.delta", delta("slow", " on."));
  const fold = new TranscriptFold(await withOpenItems(log.page, await log.newest(), log.events.length));
  expect(fold.item("slow")?.content).toEqual([{ type: "text", text: "It goes on and on." }]);
});

it("looks no further when the turn has ended", async () => {
  const log = longTurn();
  log
    .add("item.completed", item("slow", "completed", null, "It goes on."))
    .add("turn.ended", { turn_id: "t", stop_reason: "end_turn" });
  const asked: PageQuery[] = [];
  const read = (query: PageQuery) => {
    asked.push(query);
    return log.page(query);
  };
  const events = await withOpenItems(read, await log.newest(), log.events.length);
  expect(asked).toEqual([]);
  expect(events).toHaveLength(PAGE);
});
