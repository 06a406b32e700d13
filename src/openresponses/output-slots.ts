/**
 * The output items of one response while they are streamed. An item is found by its `output_index`, else by its id, else it is the newest: llama.cpp sends no
 * index, and vLLM gave streamed and final items different ids.
 */
import { type JsonObject, numberOf, objectOf, textOf } from "./json.ts";

/** One output item. */
export class Slot {
  readonly index: number | undefined;
  readonly id: string | undefined;
  /** As announced. */
  readonly added: JsonObject;
  /** As finished; null while it is streamed. */
  done: JsonObject | null = null;
  /** Content parts that were added and are not done. */
  readonly openParts = new Set<string>();
  readonly #texts = new Map<string, { readonly field: string; readonly pieces: string[] }>();

  constructor(index: number | undefined, added: JsonObject) {
    this.index = index;
    this.id = textOf(added.id);
    this.added = added;
  }

  /** For messages. */
  get name(): string {
    return `item ${this.index ?? this.id ?? "?"} (${textOf(this.added.type) ?? "?"})`;
  }

  addText(key: string, field: string, delta: string): void {
    const known = this.#texts.get(key);
    if (known === undefined) this.#texts.set(key, { field, pieces: [delta] });
    else known.pieces.push(delta);
  }

  /** Null when nothing was streamed under this key. */
  textOf(key: string): string | null {
    const known = this.#texts.get(key);
    return known === undefined ? null : known.pieces.join("");
  }

  /** A call from its streamed arguments, for servers that never finish items. */
  assembledCall(): JsonObject | null {
    const field = this.added.type === "function_call" ? "arguments" : this.added.type === "custom_tool_call" ? "input" : null;
    if (field === null) return null;
    for (const text of this.#texts.values()) {
      if (text.field === field) return { ...this.added, [field]: text.pieces.join(""), status: "completed" };
    }
    return null;
  }
}

export class OutputSlots {
  readonly #slots: Slot[] = [];

  find(event: JsonObject): Slot | undefined {
    const index = numberOf(event.output_index);
    if (index !== undefined) return this.#slots.find((slot) => slot.index === index);
    const id = textOf(event.item_id) ?? textOf(objectOf(event.item).id);
    const byId = id === undefined ? undefined : this.#slots.find((slot) => slot.id === id);
    if (byId !== undefined || id !== undefined) return byId;
    return event.type === "response.output_item.added" ? undefined : this.#slots.at(-1);
  }

  add(event: JsonObject, item: JsonObject): Slot {
    const slot = new Slot(numberOf(event.output_index), item);
    this.#slots.push(slot);
    return slot;
  }

  /** What is wrong with the items at the end of a response. */
  endErrors(completed: boolean): string[] {
    const errors: string[] = [];
    this.#slots.forEach((slot, at) => {
      if (slot.done === null) {
        if (completed) errors.push(`[OR12] ${slot.name} was never done`);
        return;
      }
      if (slot.done.status !== "incomplete") return;
      if (completed) errors.push(`[OR8] ${slot.name} is incomplete and its response is completed`);
      else if (at !== this.#slots.length - 1) errors.push(`[OR8] ${slot.name} is incomplete and not the last item`);
    });
    return errors;
  }

  /** Finished items as they came. What is missing is taken from the final response, then from the deltas. */
  items(final: readonly JsonObject[]): readonly JsonObject[] {
    if (this.#slots.length === 0) return final;
    return this.#slots.flatMap((slot, at) => {
      if (slot.done !== null) return [slot.done];
      const sameId = slot.id === undefined ? undefined : final.find((item) => item.id === slot.id);
      const samePlace = final.length === this.#slots.length && final[at]?.type === slot.added.type ? final[at] : undefined;
      const item = sameId ?? samePlace ?? (final.length > 0 ? slot.assembledCall() : null);
      return item ? [item] : [];
    });
  }
}
