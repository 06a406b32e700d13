/**
 * Which key names which item: the open ones, what is asked about them, and a bounded memory of the finished ones, enough for late parents and repeats. What an
 * item is now, the projection knows; what may happen to it, the item ledger decides.
 */
import type { ContentPart } from "../schema/content.ts";
import type { ItemKey } from "../schema/draft.ts";
import type { ItemStatus } from "../schema/item.ts";
import type { GrowingItem } from "../schema/projection/growing-item.ts";
import { BoundedMap } from "./bounded-map.ts";
import type { ContinuedMessage } from "./continued-message.ts";
import type { Origin, StreamedPart } from "./event-writer.ts";
import { callArguments } from "./item-questions.ts";

/** How many finished items stay known by key: enough for late parents and repeats of any real turn. */
const REMEMBERED = 20_000;

/** An item that is being written. */
export type OpenItem = {
  key: ItemKey;
  /** Its place in the projection. */
  growing: GrowingItem;
  outlives: boolean;
  /** The arguments of a call that are too large to stand in the item. */
  whole?: string | undefined;
  /** Where the last delta went. */
  streamed: StreamedPart | null;
  /** Whole content of a message that was not reported as deltas yet: it is, when the message is completed or goes on. */
  held: ContentPart[] | null;
  /** A call that the agent ended: it waits for its result, which may come with the same native message. */
  ended: { status: EndStatus; origin: Origin; content: ContentPart[] | undefined } | null;
  /** Of a message that continues one which was completed early. */
  continues: ContinuedMessage | null;
};

/** How an item can end. */
export type EndStatus = Exclude<ItemStatus, "in_progress">;

/** What stays known of an item that is not open any more. */
export type Finished = {
  item_id: string;
  native_item_id: string | null;
  parent_id: string | null;
  removed: boolean;
  sealed?: ContinuedMessage;
  /** The item that this one continues: both are one message of the agent. */
  earlier?: Finished | undefined;
};

export class OpenItems {
  readonly #open = new Map<ItemKey, OpenItem>();
  readonly #finished = new BoundedMap<ItemKey, Finished>(REMEMBERED);
  /** Put before every name, so that a new process may count its keys from one again. Empty for the first. */
  #scope = "";
  #scopes = 0;

  /** From now on names are those of a new process: none of them names an item of the one before. */
  newScope(): void {
    this.#scopes++;
    this.#scope = this.#scopes === 1 ? "" : `${this.#scopes}|`;
  }

  /** The key of what the running process calls so. */
  key(name: ItemKey): ItemKey {
    return this.#scope + name;
  }

  named(name: ItemKey): OpenItem | undefined {
    return this.#open.get(this.#scope + name);
  }

  get(key: ItemKey): OpenItem | undefined {
    return this.#open.get(key);
  }

  finished(key: ItemKey): Finished | undefined {
    return this.#finished.get(key);
  }

  itemId(name: ItemKey | null | undefined): string | null {
    return name === null || name === undefined ? null : this.idOf(this.#scope + name);
  }

  idOf(key: ItemKey): string | null {
    return this.#open.get(key)?.growing.item.item_id ?? this.#finished.get(key)?.item_id ?? null;
  }

  withId(itemId: string): OpenItem | undefined {
    for (const entry of this.#open.values()) if (entry.growing.item.item_id === itemId) return entry;
    return undefined;
  }

  /** In the order in which they were opened. */
  open(): IterableIterator<OpenItem> {
    return this.#open.values();
  }

  add(entry: OpenItem): void {
    this.#open.set(entry.key, entry);
  }

  finish(entry: OpenItem): void {
    this.#open.delete(entry.key);
    this.#finished.set(entry.key, this.#known(entry));
  }

  #known({ key, growing: { item } }: OpenItem): Finished {
    const { item_id, native_item_id, parent_id } = item;
    return { item_id, native_item_id, parent_id, removed: false, earlier: this.#finished.get(key) };
  }

  /** The items of this key, the newest first: several when a message was continued. None when there is nothing to remove. */
  remove(key: ItemKey): Finished[] {
    const open = this.#open.get(key);
    const last = open ? this.#known(open) : this.#finished.get(key);
    if (!last || last.removed) return [];
    this.#open.delete(key);
    this.#finished.set(key, { ...last, removed: true, earlier: undefined });
    const all: Finished[] = [];
    for (let one: Finished | undefined = last; one && !one.removed; one = one.earlier) all.push(one);
    return all;
  }

  /** Keys of what hangs directly under this item, the newest first. */
  below(itemId: string): ItemKey[] {
    const keys: ItemKey[] = [];
    for (const [key, { parent_id, removed }] of this.#finished.entries()) if (parent_id === itemId && !removed) keys.push(key);
    for (const { key, growing } of this.#open.values()) if (growing.item.parent_id === itemId) keys.push(key);
    return keys.reverse();
  }

  /** The arguments of an open tool call, as far as they are known; null when it is no open tool call. */
  argumentsOf(name: ItemKey): string | null {
    const entry = this.named(name);
    if (!entry) return null;
    return entry.whole ?? callArguments(entry.growing.item.content) ?? null;
  }

  /** An answer of the model that is being written. */
  isAnswer(name: ItemKey): boolean {
    const item = this.named(name)?.growing.item;
    return item?.kind === "message" && item.role === "assistant" && item.parent_id === null;
  }

  /** The parts of an open tool call. */
  callOf(name: ItemKey): readonly ContentPart[] {
    return this.named(name)?.growing.item.content ?? [];
  }

  /** A result of this call is open. */
  hasResultOf(call: OpenItem): boolean {
    const ids = callIds(call);
    for (const { growing } of this.#open.values())
      if (growing.parts.some((part) => part.type === "tool_result" && ids.includes(part.call_id))) return true;
    return false;
  }

  /** The calls that end with this turn. */
  callsEndingWith(turnId: string): ReadonlySet<string> {
    return new Set([...this.#open.values()].filter((entry) => endsWith(turnId, entry)).flatMap(callIds));
  }

  /** Ids of the open items that go on after this turn. */
  outliving(turnId: string): ReadonlySet<string> {
    const staying = [...this.#open.values()].filter((entry) => !endsWith(turnId, entry));
    return new Set(staying.map(({ growing }) => growing.item.item_id));
  }
}

export const endsWith = (turnId: string, { growing, outlives }: OpenItem): boolean =>
  growing.item.turn_id === turnId && !outlives;

const callIds = ({ growing }: OpenItem): string[] =>
  growing.item.content.flatMap((part) => (part.type === "tool_call" ? [part.call_id] : []));
