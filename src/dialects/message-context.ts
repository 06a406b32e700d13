/** What messages need to know of the events before them: whose text a delta is, and what went wrong in the turn that ends. */
import type { EventOf, UniversalEvent } from "../schema/event.ts";
import type { Item } from "../schema/item.ts";
import type { UnifiedMessage } from "./unified-message.ts";

/** Items in progress that are remembered; the oldest is given up for a new one. */
const MAX_ITEMS = 2_000;

export type TurnError = EventOf<"error">["data"];

export class MessageContext {
  readonly #items = new Map<string, Pick<Item, "role" | "content">>();
  #error: TurnError | null = null;

  /** After the event was said. */
  take(event: UniversalEvent): void {
    switch (event.type) {
      case "item.started":
      case "item.updated": {
        const { item_id, role, content } = event.data.item;
        this.#items.set(item_id, { role, content });
        if (this.#items.size > MAX_ITEMS) for (const oldest of this.#items.keys()) return void this.#items.delete(oldest);
        return;
      }
      case "item.completed":
        return void this.#items.delete(event.data.item.item_id);
      case "item.removed":
        return void this.#items.delete(event.data.item_id);
      case "error":
        this.#error = event.data;
        return;
      case "turn.started":
      case "turn.ended":
        this.#error = null;
        return;
      default:
    }
  }

  /** The last error of the running turn. */
  get error(): TurnError | null {
    return this.#error;
  }

  roleOf(itemId: string): UnifiedMessage["role"] {
    const item = this.#items.get(itemId);
    return item ? (item.role ?? "system") : "assistant";
  }

  visibilityOf(itemId: string, index: number): "public" | "private" {
    const part = this.#items.get(itemId)?.content[index];
    return part?.type === "reasoning" ? part.visibility : "public";
  }
}
