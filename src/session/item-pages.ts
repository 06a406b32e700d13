/**
 * Pages of a session's transcript: items by the sequence of their start, each in the state it has after event `at`. Bounded: a page reads the starts it shows,
 * the events close behind them, and for the few items that end much later the snapshots, which say in which stretch to look. A page may have fewer items than
 * asked for, even none, and still have more.
 */
import { setImmediate } from "node:timers/promises";
import type { Stream } from "../log/contract.ts";
import type { UniversalEvent } from "../schema/event.ts";
import type { Item } from "../schema/item.ts";
import { SNAPSHOT_EVERY } from "./snapshots.ts";
import type { StateReader } from "./state-reader.ts";

export type ItemPageQuery = {
  /** Only items that started after, and before, these events. */
  after?: number;
  before?: number;
  limit: number;
  order: "asc" | "desc";
  /** The transcript as it was after this event. Default: the last committed one. */
  at?: number;
};

export type FoundItems = { items: Item[]; sequences: number[]; next: number; has_more: boolean; last_sequence: number };

/** Items whose texts together are longer end a page. */
const PAGE_CHARS = 4_194_304;
const READ_BYTES = 1_048_576;
const CLOSINGS = ["item.completed", "item.removed"];

/** What became of an item: null when it was removed. */
type Closing = { item: Item | null; chars: number };
type Start = { item_id: string; sequence: number };

export async function readItemPage(stream: Stream, states: StateReader, query: ItemPageQuery): Promise<FoundItems> {
  const { after = 0, limit, order } = query;
  const { sequence: last, items: open, withdrawn } = await states.at(stream, query.at);
  const before = Math.min(query.before ?? Number.POSITIVE_INFINITY, last + 1);
  const reverse = order === "desc";
  const page = await stream.read({ after, before, limit, maxBytes: READ_BYTES, reverse, types: ["item.started"] });
  const starts = page.events.map((json, index): Start => {
    const event = JSON.parse(json) as UniversalEvent;
    const item_id = event.type === "item.started" ? event.data.item.item_id : "";
    return { item_id, sequence: page.sequences[index] ?? 0 };
  });
  const closings = new Closings(stream, states, last);
  for (const { item_id } of starts) {
    const item = open.find((each) => each.item_id === item_id);
    if (item) closings.take(item_id, { item, chars: JSON.stringify(item).length });
    else if (withdrawn.includes(item_id)) closings.take(item_id, { item: null, chars: 0 });
  }
  await closings.find(starts);
  const found: FoundItems = { items: [], sequences: [], next: page.next, has_more: page.has_more, last_sequence: last };
  let chars = 0;
  for (const [index, { item_id, sequence }] of starts.entries()) {
    const closing = closings.of(item_id);
    chars += closing?.chars ?? 0;
    if (chars > PAGE_CHARS && found.items.length > 0) {
      const previous = starts[index - 1]?.sequence ?? sequence;
      return { ...found, next: previous, has_more: true };
    }
    if (!closing?.item) continue;
    found.items.push(closing.item);
    found.sequences.push(sequence);
  }
  return found;
}

class Closings {
  readonly #stream: Stream;
  readonly #states: StateReader;
  readonly #last: number;
  readonly #found = new Map<string, Closing>();
  readonly #wanted = new Set<string>();

  constructor(stream: Stream, states: StateReader, last: number) {
    this.#stream = stream;
    this.#states = states;
    this.#last = last;
  }

  of(itemId: string): Closing | undefined {
    return this.#found.get(itemId);
  }

  take(itemId: string, closing: Closing): void {
    this.#wanted.delete(itemId);
    this.#found.set(itemId, closing);
  }

  /** Finds how those ended that are not known yet. */
  async find(starts: readonly Start[]): Promise<void> {
    const unknown = starts.filter(({ item_id }) => !this.#found.has(item_id));
    if (unknown.length === 0) return;
    for (const { item_id } of unknown) this.#wanted.add(item_id);
    const sequences = unknown.map(({ sequence }) => sequence);
    const near = Math.min(this.#last, Math.max(...sequences) + SNAPSHOT_EVERY);
    await this.#scan(Math.min(...sequences), near);
    for (const id of [...this.#wanted]) if (this.#wanted.has(id)) await this.#search(id, near);
  }

  /** An item that is open in one snapshot and not in a later one ended between them. */
  async #search(id: string, from: number): Promise<void> {
    let [open, closed] = [from, this.#last];
    while (closed - open > 2 * SNAPSHOT_EVERY) {
      const snapshot = await this.#states.snapshots.floor(this.#stream.id, open + Math.floor((closed - open) / 2));
      if (!snapshot || snapshot.sequence <= open) break;
      if (snapshot.items.some((item) => item.item_id === id)) open = snapshot.sequence;
      else closed = snapshot.sequence;
      await setImmediate();
    }
    await this.#scan(open, closed);
  }

  /** Takes every wanted item that ends after `after`, up to `until`. */
  async #scan(after: number, until: number): Promise<void> {
    for (let at = after; at < until && this.#wanted.size > 0; ) {
      const page = await this.#stream.read({ after: at, before: until + 1, maxBytes: READ_BYTES, types: CLOSINGS });
      for (const json of page.events) this.#look(json);
      if (!page.has_more) return;
      at = page.next;
      await setImmediate();
    }
  }

  #look(json: string): void {
    const event = JSON.parse(json) as UniversalEvent;
    if (event.type === "item.completed" && this.#wanted.has(event.data.item.item_id))
      this.take(event.data.item.item_id, { item: event.data.item, chars: json.length });
    else if (event.type === "item.removed" && this.#wanted.has(event.data.item_id))
      this.take(event.data.item_id, { item: null, chars: 0 });
  }
}
