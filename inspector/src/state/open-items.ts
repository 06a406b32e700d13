// What the newest page of a session's events alone cannot tell: items that are still open may have begun long before it, and have their text in deltas only.
import type { EventOf, UniversalEvent } from "../../../src/schema/event.ts";
import type { EventType } from "../../../src/schema/event-data.ts";
import type { EventPage, PageQuery } from "./daemon.ts";

type Read = (query: PageQuery) => Promise<EventPage>;
type ItemState = EventOf<"item.started"> | EventOf<"item.updated">;

const LARGEST_PAGE = 10_000;
/** A turn of more events than this is not searched from its beginning. */
const MOST_PAGES = 5;
const TURN: EventType[] = ["turn.started", "turn.ended"];
const ITEM: EventType[] = ["item.started", "item.updated", "item.completed", "item.removed"];

/** The page's events, oldest first, with the beginnings of items that are open at `upTo` and with their deltas. */
export async function withOpenItems(read: Read, page: EventPage, upTo: number): Promise<UniversalEvent[]> {
  const events = page.events.slice().reverse();
  const known = [...(page.has_more ? await openBefore(read, events) : []), ...events];
  const open = openItems(known);
  if (open.size === 0) return known;
  // A state carries all that was said until then.
  const since = new Map([...open].map(([id, states]) => [id, states.at(-1)?.sequence ?? 0]));
  const deltas: UniversalEvent[] = [];
  let after = Math.min(...since.values());
  for (;;) {
    const next = await read({ after, limit: LARGEST_PAGE, types: ["item.delta"] });
    for (const event of next.events) {
      if (event.type !== "item.delta" || event.sequence > upTo) continue;
      if (event.sequence > (since.get(event.data.item_id) ?? Number.POSITIVE_INFINITY)) deltas.push(event);
    }
    if (!next.has_more || next.next >= upTo) break;
    after = next.next;
  }
  return [...known, ...deltas].sort((a, b) => a.sequence - b.sequence);
}

/** Items belong to a turn: one that began before the page and has not ended is searched from its beginning. */
async function openBefore(read: Read, events: readonly UniversalEvent[]): Promise<UniversalEvent[]> {
  const oldest = events[0]?.sequence;
  if (oldest === undefined || events.some(({ type }) => TURN.includes(type))) return [];
  const [turn] = (await read({ order: "desc", before: oldest, limit: 1, types: TURN })).events;
  if (turn?.type !== "turn.started") return [];
  const before: UniversalEvent[] = [];
  let after = turn.sequence;
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const next = await read({ after, before: oldest, limit: LARGEST_PAGE, types: ITEM });
    before.push(...next.events);
    if (!next.has_more || next.next >= oldest) break;
    after = next.next;
  }
  const open = openItems([...before, ...events]);
  const states = [...open.values()].flat().filter(({ sequence }) => sequence < oldest);
  return [turn, ...states.sort((a, b) => a.sequence - b.sequence)];
}

/** Each open item with the events that told its state. */
function openItems(events: readonly UniversalEvent[]): Map<string, ItemState[]> {
  const open = new Map<string, ItemState[]>();
  for (const event of events) {
    if (event.type === "item.started") open.set(event.data.item.item_id, [event]);
    else if (event.type === "item.updated") open.get(event.data.item.item_id)?.push(event);
    else if (event.type === "item.completed") open.delete(event.data.item.item_id);
    else if (event.type === "item.removed") open.delete(event.data.item_id);
  }
  return open;
}
