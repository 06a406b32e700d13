/**
 * The items of a session after its events, in the order they started; removed ones are gone. `all`: the whole transcript. `open`: only those in progress,
 * which is what a session needs to go on and what a snapshot holds. Events that do not fit (a delta of an item nobody started) change nothing.
 */
import type { Item } from "../item.ts";
import type { ProjectedEvent } from "./event.ts";
import { GrowingItem } from "./growing-item.ts";

export class ItemProjection {
  readonly #items = new Map<string, GrowingItem>();
  readonly #keep: "all" | "open";

  constructor(keep: "all" | "open" = "all", items: Iterable<Item> = []) {
    this.#keep = keep;
    for (const item of items) this.#items.set(item.item_id, new GrowingItem(item));
  }

  /** The id of the item the event touched, or undefined. */
  apply(event: ProjectedEvent): string | undefined {
    switch (event.type) {
      case "item.started":
      case "item.updated":
        return this.#put(event.data.item);
      case "item.completed":
        if (this.#keep === "all") return this.#put(event.data.item);
        this.#items.delete(event.data.item.item_id);
        return event.data.item.item_id;
      case "item.removed":
        this.#items.delete(event.data.item_id);
        return event.data.item_id;
      case "item.delta": {
        const { item_id, part_index, part_type, delta, visibility } = event.data;
        const item = this.#items.get(item_id);
        item?.grow(part_index, part_type, delta, visibility);
        return item && item_id;
      }
      default:
        return undefined;
    }
  }

  /** Puts in an item that was read as it is, behind the others. */
  add(item: Item): void {
    this.#put(item);
  }

  #put(item: Item): string {
    const known = this.#items.get(item.item_id);
    if (known) known.replace(item);
    else this.#items.set(item.item_id, new GrowingItem(item));
    return item.item_id;
  }

  get size(): number {
    return this.#items.size;
  }

  has(itemId: string): boolean {
    return this.#items.has(itemId);
  }

  get(itemId: string): Item | undefined {
    return this.#items.get(itemId)?.item;
  }

  /** For a writer that says deltas itself: see `SessionProjection.grown`. */
  growing(itemId: string): GrowingItem | undefined {
    return this.#items.get(itemId);
  }

  items(): Item[] {
    return Array.from(this.#items.values(), (growing) => growing.item);
  }

  toJSON(): Item[] {
    return this.items();
  }

  clear(): void {
    this.#items.clear();
  }
}

/** The transcript of some events. */
export function foldItems(events: Iterable<ProjectedEvent>): Item[] {
  const projection = new ItemProjection();
  for (const event of events) projection.apply(event);
  return projection.items();
}
