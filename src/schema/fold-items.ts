// The transcript as items: folds events into the state each item has after them. Used by the items route, the SDK and the inspector alike.
import type { ContentPart } from "./content.ts";
import type { UniversalEvent } from "./event.ts";
import type { DeltaPartType } from "./event-data.ts";
import type { Item } from "./item.ts";

/** A new, empty part that deltas of this type can grow. */
export function emptyPart(type: DeltaPartType): ContentPart {
  switch (type) {
    case "text":
      return { type: "text", text: "" };
    case "reasoning":
      return { type: "reasoning", text: "", visibility: "public" };
    case "refusal":
      return { type: "refusal", text: "" };
    case "tool_arguments":
      return { type: "tool_call", name: "", arguments: "", call_id: "" };
    case "tool_output":
      return { type: "tool_result", call_id: "", output: "" };
  }
}

/** The part with the fragment added; a part of another type is returned as it is. */
export function grownPart(part: ContentPart, type: DeltaPartType, delta: string): ContentPart {
  switch (part.type) {
    case "text":
    case "reasoning":
    case "refusal":
      return part.type === type ? { ...part, text: part.text + delta } : part;
    case "tool_call":
      return type === "tool_arguments" ? { ...part, arguments: part.arguments + delta } : part;
    case "tool_result":
      return type === "tool_output" ? { ...part, output: part.output + delta } : part;
    default:
      return part;
  }
}

/** Folds events one by one. Items stand in the order they started; removed ones are gone. */
export class ItemFold {
  readonly #items = new Map<string, Item>();

  /** The id of the item the event touched, or undefined. */
  apply(event: UniversalEvent): string | undefined {
    switch (event.type) {
      case "item.started":
      case "item.updated":
      case "item.completed":
        this.#items.set(event.data.item.item_id, event.data.item);
        return event.data.item.item_id;
      case "item.removed":
        this.#items.delete(event.data.item_id);
        return event.data.item_id;
      case "item.delta":
        return this.#grow(event.data);
      default:
        return undefined;
    }
  }

  #grow(data: { item_id: string; part_index: number; part_type: DeltaPartType; delta: string }): string | undefined {
    const item = this.#items.get(data.item_id);
    if (!item) return undefined;
    const content = item.content.slice();
    while (content.length <= data.part_index) content.push(emptyPart(data.part_type));
    const part = content[data.part_index];
    if (part) content[data.part_index] = grownPart(part, data.part_type, data.delta);
    this.#items.set(item.item_id, { ...item, content });
    return item.item_id;
  }

  get(itemId: string): Item | undefined {
    return this.#items.get(itemId);
  }

  items(): Item[] {
    return [...this.#items.values()];
  }
}

export function foldItems(events: Iterable<UniversalEvent>): Item[] {
  const fold = new ItemFold();
  for (const event of events) fold.apply(event);
  return fold.items();
}
