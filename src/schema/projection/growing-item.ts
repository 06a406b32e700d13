/**
 * One item and the deltas that grow it. A delta costs a push to a list: text is added to the part in pieces, when somebody looks or a piece is full.
 * What `item` returns is never changed later; a new object means that something changed.
 */
import type { ContentPart } from "../content.ts";
import type { DeltaPartType } from "../event-data.ts";
import type { Item } from "../item.ts";
import { emptyPart, grownPart } from "./parts.ts";

/** A string that grows by thousands of small ones keeps each of them alive: they are joined into pieces of this size first. */
const PIECE_CHARS = 4096;

export class GrowingItem {
  #item: Item;
  /** Deltas that are not in the item yet: all of one part. */
  #tail: string[] = [];
  #tailChars = 0;
  #tailIndex = 0;
  #tailType: DeltaPartType = "text";

  constructor(item: Item) {
    this.#item = item;
  }

  get item(): Item {
    if (this.#tailChars > 0) this.#addTail();
    return this.#item;
  }

  /** The parts there are, by type. Their text may lack the newest deltas. */
  get parts(): readonly ContentPart[] {
    return this.#item.content;
  }

  replace(item: Item): void {
    this.#tail = [];
    this.#tailChars = 0;
    this.#item = item;
  }

  grow(index: number, type: DeltaPartType, delta: string, visibility?: "private"): void {
    if (index >= this.#item.content.length) this.#addParts(index, type, visibility);
    if (this.#tailIndex !== index || this.#tailType !== type || this.#tailChars > PIECE_CHARS) {
      if (this.#tailChars > 0) this.#addTail();
      this.#tailIndex = index;
      this.#tailType = type;
    }
    this.#tail.push(delta);
    this.#tailChars += delta.length;
  }

  #addParts(index: number, type: DeltaPartType, visibility?: "private"): void {
    const { content, ...rest } = this.item;
    const missing = Array.from({ length: index + 1 - content.length }, () => emptyPart(type, visibility));
    this.#item = { ...rest, content: [...content, ...missing] };
  }

  #addTail(): void {
    const text = this.#tail.length === 1 ? (this.#tail[0] ?? "") : this.#tail.join("");
    const content = this.#item.content.slice();
    const part = content[this.#tailIndex];
    if (part) content[this.#tailIndex] = grownPart(part, this.#tailType, text);
    this.#tail = [];
    this.#tailChars = 0;
    this.#item = { ...this.#item, content };
  }
}
