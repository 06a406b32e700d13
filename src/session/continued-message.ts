/**
 * A message that was completed before the agent completed it, because one of its calls was asked about or answered. What the agent says of it later is
 * reported in an item that continues it: this knows which parts that are.
 */
import type { ContentPart } from "../schema/content.ts";
import type { ItemDraft } from "../schema/draft.ts";
import type { Item } from "../schema/item.ts";
import { sameJson, streamOf, withoutText } from "../schema/projection/parts.ts";

export class ContinuedMessage {
  readonly #told: readonly ContentPart[];
  readonly #item: Item;
  /** Index of the agent → index in the item that continues. */
  readonly #places = new Map<number, number>();

  constructor(item: Item) {
    this.#item = item;
    this.#told = item.content;
  }

  /** The item that continues it. */
  draft(key: string): ItemDraft {
    const { native_item_id, kind, role } = this.#item;
    return { key, native_item_id, kind, role };
  }

  get parentId(): string | null {
    return this.#item.parent_id;
  }

  /** Where a delta of this part goes. Without an index it goes to the last part of its type. */
  place(index: number | undefined): number | undefined {
    if (index === undefined) return undefined;
    const known = this.#places.get(index);
    if (known !== undefined) return known;
    const next = this.#places.size;
    this.#places.set(index, next);
    return next;
  }

  /** What the whole content has beyond what was reported. */
  rest(content: readonly ContentPart[]): ContentPart[] {
    const rest: ContentPart[] = [];
    content.forEach((part, index) => {
      const told = this.#told[index];
      const left = told ? beyond(told, part) : part;
      if (!left) return;
      this.#places.set(index, rest.length);
      rest.push(left);
    });
    return rest;
  }
}

/** Null: nothing new. What contradicts the part that was reported is not reported again. */
function beyond(told: ContentPart, part: ContentPart): ContentPart | null {
  const [type, text] = streamOf(part);
  const [before, said] = streamOf(told);
  if (type === undefined || type !== before || !text.startsWith(said) || text.length === said.length) return null;
  const tail = text.slice(said.length);
  if (part.type === "tool_result" || !sameJson(withoutText(told), withoutText(part))) return null;
  return part.type === "text" || part.type === "reasoning" || part.type === "refusal" ? { ...part, text: tail } : null;
}
