// The item ledger: turns what translators say about items into item events that obey the grammar (G3 to G7): stub starts, deltas that add up,
// results that have a call, everything closed in the end. It forgets finished items, but for a bounded memory of their ids.
import type { ContentPart } from "../schema/content.ts";
import type { DraftOf, DraftPart, ItemDraft, ItemKey } from "../schema/draft.ts";
import type { DeltaPartType } from "../schema/event-data.ts";
import { emptyPart } from "../schema/fold-items.ts";
import type { Item, ItemRole, ItemStatus } from "../schema/item.ts";
import { BoundedMap } from "./bounded-memory.ts";
import { BY_DAEMON, type EventWriter, type Origin } from "./event-writer.ts";
import { extendsContent, grow, partFor, sameJson, streamOf, takes, withoutText } from "./growing-parts.ts";
import { INLINE_LIMIT, type PartStore } from "./part-store.ts";

/** How many finished items stay known by key: enough for late parents and repeats of any real turn. */
const REMEMBERED = 20_000;

type OpenItem = {
  key: ItemKey;
  item: Item;
  outlives: boolean;
  /** Deltas that are not in the content yet, see `#say`. */
  tail: { index: number; type: DeltaPartType; texts: string[]; chars: number } | null;
  /** The arguments of a call that are too large to stand in the item. */
  whole?: string | undefined;
  /** The head of the last delta, for the next of the same part. */
  head?: { index: number; type: DeltaPartType; native: string | null; json: string };
};
type Finished = { item_id: string; removed: boolean };

export class ItemLedger {
  readonly #writer: EventWriter;
  readonly #parts: PartStore;
  readonly #open = new Map<ItemKey, OpenItem>();
  readonly #finished = new BoundedMap<ItemKey, Finished>(REMEMBERED);
  /** call_id → key of its tool_call item. */
  readonly #calls = new BoundedMap<string, ItemKey>(REMEMBERED);
  #turnId: string | null = null;
  /** Put before every key, so that a new process may count its keys from one again. Empty for the first. */
  #scope = "";
  #scopes = 0;

  constructor(writer: EventWriter, parts: PartStore) {
    this.#writer = writer;
    this.#parts = parts;
  }

  /** From now on keys are those of a new process: none of them names an item of the one before. */
  newScope(): void {
    this.#scopes++;
    this.#scope = this.#scopes === 1 ? "" : `${this.#scopes}|`;
  }

  set turnId(id: string | null) {
    this.#turnId = id;
  }

  get openCount(): number {
    return this.#open.size;
  }

  itemId(key: ItemKey | null | undefined): string | null {
    if (key === null || key === undefined) return null;
    return this.#idOf(this.#scope + key) ?? this.#idOf(key);
  }

  /** The arguments of an open tool call, as far as they are known; null when it is no open tool call. */
  argumentsOf(key: ItemKey): string | null {
    const entry = this.#open.get(this.#scope + key);
    if (!entry) return null;
    addTail(entry);
    return entry.whole ?? callArguments(entry.item.content) ?? null;
  }

  /** Nothing is its own parent. */
  #parentOf(key: ItemKey, item: Item): string | null {
    const parent = this.itemId(key);
    return parent === item.item_id ? null : parent;
  }

  #idOf(scoped: string): string | null {
    return this.#open.get(scoped)?.item.item_id ?? this.#finished.get(scoped)?.item_id ?? null;
  }

  start(draft: ItemDraft, origin: Origin): void {
    const key = this.#scope + draft.key;
    const open = this.#open.get(key);
    if (open) return this.update({ do: "item.update", key: draft.key, ...updateOf(draft) }, origin);
    if (this.#finished.has(key)) return;
    const content = this.#stored(draft.content ?? [], draft.role);
    this.#needCall(content, draft.parent ?? null, origin);
    const item: Item = {
      item_id: this.#writer.ids.next("itm"),
      native_item_id: draft.native_item_id ?? null,
      parent_id: this.itemId(draft.parent),
      kind: draft.kind,
      role: draft.role,
      content: draft.kind === "message" ? content.map(withoutText) : content,
      status: "in_progress",
      turn_id: this.#turnId,
      started_at: this.#writer.now(),
      completed_at: null,
    };
    const outlives = (draft.outlives_turn ?? false) && mayOutlive(item);
    const entry: OpenItem = { key, item, outlives, tail: null, whole: largeArguments(draft.content ?? []) };
    this.#open.set(key, entry);
    for (const part of content) if (part.type === "tool_call") this.#calls.set(part.call_id, key);
    this.#writer.emit("item.started", { item }, origin);
    if (draft.kind === "message") this.#catchUp(entry, content, origin);
  }

  delta(draft: DraftOf<"item.delta">, origin: Origin): void {
    if (draft.delta === "") return;
    const entry = this.#open.get(this.#scope + draft.key) ?? this.#stub(draft.key, draft.part_type, origin);
    if (!entry) return;
    const named = draft.part_index === undefined ? undefined : entry.item.content[draft.part_index];
    const fits = draft.part_index !== undefined && (named === undefined || takes(named, draft.part_type));
    const index = fits ? (draft.part_index ?? 0) : partFor(entry.item.content, draft.part_type);
    this.#say(entry, index, draft.part_type, draft.delta, origin);
  }

  update(draft: DraftOf<"item.update">, origin: Origin): void {
    const entry = this.#open.get(this.#scope + draft.key);
    if (!entry) return;
    addTail(entry);
    if (draft.outlives_turn !== undefined) entry.outlives = draft.outlives_turn && mayOutlive(entry.item);
    const before = entry.item;
    const parent_id = draft.parent === undefined ? before.parent_id : (this.#parentOf(draft.parent, before) ?? before.parent_id);
    const native_item_id = draft.native_item_id ?? before.native_item_id;
    const renamed = parent_id !== before.parent_id || native_item_id !== before.native_item_id;
    if (renamed) entry.item = { ...before, parent_id, native_item_id };
    if (draft.content) {
      const content = this.#stored(draft.content, entry.item.role);
      this.#needCall(content, null, origin);
      if (this.#catchUp(entry, content, origin) && !renamed) return;
      if (!renamed && sameJson(entry.item.content, content)) return;
      entry.item = { ...entry.item, content };
      entry.whole = largeArguments(draft.content);
      for (const part of content) if (part.type === "tool_call") this.#calls.set(part.call_id, entry.key);
    } else if (!renamed) return;
    this.#writer.emit("item.updated", { item: entry.item }, origin);
  }

  complete(draft: DraftOf<"item.complete">, origin: Origin): void {
    const key = this.#scope + draft.key;
    const entry = this.#open.get(key);
    if (!entry) {
      if (this.#finished.has(key) || !draft.content) return;
      this.start(itemOfParts(draft.key, draft.content), { ...origin, source: "daemon" });
      if (this.#open.has(key)) this.complete(draft, origin);
      return;
    }
    addTail(entry);
    if (draft.content) {
      const content = this.#stored(draft.content, entry.item.role);
      this.#needCall(content, null, origin);
      if (entry.item.kind === "message" && !this.#catchUp(entry, content, origin)) {
        entry.item = { ...entry.item, content };
        this.#writer.emit("item.updated", { item: entry.item }, BY_DAEMON_AS(origin));
      }
      entry.item = { ...entry.item, content };
    }
    this.#finish(entry, draft.status ?? "completed", origin);
  }

  add(draft: DraftOf<"item.add">, origin: Origin): void {
    this.start(draft.item, origin);
    this.complete({ do: "item.complete", key: draft.item.key, ...(draft.status ? { status: draft.status } : {}) }, origin);
  }

  remove(name: ItemKey, reason: string, origin: Origin): void {
    const key = this.#idOf(this.#scope + name) === null ? name : this.#scope + name;
    const open = this.#open.get(key);
    const finished = this.#finished.get(key);
    if ((!open && !finished) || finished?.removed) return;
    const item_id = open?.item.item_id ?? finished?.item_id ?? "";
    this.#open.delete(key);
    this.#finished.set(key, { item_id, removed: true });
    this.#writer.emit("item.removed", { item_id, native_item_id: open?.item.native_item_id ?? null, reason }, origin);
  }

  /** Closes what the turn left open; what outlives it stays. `cut`: the turn did not come to its own end. */
  closeTurn(turnId: string, cut: boolean): void {
    this.#closeAllThat((entry) => entry.item.turn_id === turnId && !entry.outlives, cut ? "failed" : "completed");
  }

  closeAll(): void {
    this.#closeAllThat(() => true, "failed");
  }

  /** The newest first, so that children close before their parents. Looks again each time: closing a result can open the call it answers. */
  #closeAllThat(fits: (entry: OpenItem) => boolean, status: "completed" | "failed"): void {
    for (;;) {
      const entry = [...this.#open.values()].findLast(fits);
      if (!entry) return;
      this.#finish(entry, status, BY_DAEMON);
    }
  }

  /** Takes up an item that was open when the daemon died, under a key of its own. */
  restore(item: Item): void {
    const key = `restored:${item.item_id}`;
    // Not as one that outlives its turn: if that is still open it is about to be cut, and its items close before it ends (G7).
    this.#open.set(key, { key, item, outlives: false, tail: null });
    for (const part of item.content) if (part.type === "tool_call") this.#calls.set(part.call_id, key);
  }

  #finish(entry: OpenItem, status: Exclude<ItemStatus, "in_progress">, origin: Origin): void {
    addTail(entry);
    this.#needCall(entry.item.content, null, origin);
    this.#open.delete(entry.key);
    this.#finished.set(entry.key, { item_id: entry.item.item_id, removed: false });
    const item: Item = {
      ...entry.item,
      content: entry.item.content.map((part) => this.#parts.stored(part)),
      status,
      completed_at: this.#writer.now(),
    };
    this.#writer.emit("item.completed", { item }, origin);
    if (entry.item.kind === "tool_result") this.#closeCall(item, status, origin);
  }

  /** A call whose result is final is final itself, whether the agent says so or not. */
  #closeCall(result: Item, status: "completed" | "failed", origin: Origin): void {
    for (const part of result.content) {
      if (part.type !== "tool_result") continue;
      const key = this.#calls.get(part.call_id);
      const call = key === undefined ? undefined : this.#open.get(key);
      if (call && call.item.kind === "tool_call" && !call.outlives)
        this.#finish(call, part.is_error ? "failed" : status, { source: "daemon", native: origin.native });
    }
  }

  /** G6: a result must answer a call. One that was never announced is announced now. */
  #needCall(content: ContentPart[], parent: ItemKey | null, origin: Origin): void {
    for (const part of content) {
      if (part.type !== "tool_result" || this.#calls.has(part.call_id)) continue;
      this.start(
        {
          key: `call:${part.call_id}`,
          parent,
          kind: "tool_call",
          role: "assistant",
          content: [{ type: "tool_call", name: "unknown", arguments: "{}", call_id: part.call_id }],
        },
        { source: "daemon", native: origin.native },
      );
    }
  }

  #stub(key: ItemKey, type: DeltaPartType, origin: Origin): OpenItem | undefined {
    if (this.#finished.has(this.#scope + key)) return undefined;
    this.start(
      { key, kind: kindOf(type), role: type === "tool_output" ? "tool" : "assistant" },
      { source: "daemon", native: origin.native },
    );
    return this.#open.get(this.#scope + key);
  }

  #say(entry: OpenItem, index: number, type: DeltaPartType, delta: string, origin: Origin): void {
    const content = entry.item.content;
    while (content.length <= index) content.push(emptyPart(type));
    // A string that grows by thousands of small ones keeps each of them alive as long as the item: they are joined into pieces first.
    if (entry.tail?.index !== index || entry.tail.type !== type || entry.tail.chars > PIECE_CHARS) {
      addTail(entry);
      entry.tail = { index, type, texts: [], chars: 0 };
    }
    entry.tail.texts.push(delta);
    entry.tail.chars += delta.length;
    this.#writer.emitDelta(deltaHead(entry, index, type), delta, origin);
  }

  /**
   * Says as deltas what `content` has beyond what was said. True when that made the item equal to it; false when the two contradict each other, or
   * differ in more than text: then the caller replaces the item.
   */
  #catchUp(entry: OpenItem, content: ContentPart[], origin: Origin): boolean {
    addTail(entry);
    const streams = entry.item.kind === "message" || entry.item.kind === "tool_result";
    if (!streams || !extendsContent(entry.item.content, content)) return false;
    const synthetic: Origin = { source: "daemon", native: origin.native };
    content.forEach((part, index) => {
      const [type, text] = streamOf(part);
      const said = entry.item.content[index];
      if (type === undefined) {
        if (said === undefined) entry.item.content[index] = part;
        return;
      }
      const before = said ? streamOf(said)[1] : "";
      if (said === undefined) entry.item.content[index] = withoutText(part);
      else if (before.length === text.length) entry.item.content[index] = part;
      if (text.length > before.length) this.#say(entry, index, type, text.slice(before.length), synthetic);
    });
    addTail(entry);
    return true;
  }

  #stored(parts: DraftPart[], role: ItemRole): ContentPart[] {
    // Copied: parts grow in place here, and a translator may keep the one it gave us.
    return parts.map((part) => ({ ...this.#parts.stored(part, role) }));
  }
}

const callArguments = (parts: readonly DraftPart[]): string | undefined =>
  parts.flatMap((part) => (part.type === "tool_call" ? [part.arguments] : []))[0];

function largeArguments(parts: readonly DraftPart[]): string | undefined {
  const text = callArguments(parts);
  return text !== undefined && text.length > INLINE_LIMIT ? text : undefined;
}

const PIECE_CHARS = 4096;

/** Puts into the content what was said. Before anybody looks at its text. */
function addTail(entry: OpenItem): void {
  if (!entry.tail) return;
  const { index, type, texts } = entry.tail;
  entry.tail = null;
  grow(entry.item.content, index, type, texts.join(""));
}

const BY_DAEMON_AS = (origin: Origin): Origin => ({ source: "daemon", native: origin.native });

/** The JSON of a delta's data up to the text itself. */
function deltaHead(entry: OpenItem, index: number, type: DeltaPartType): string {
  const { item_id, native_item_id } = entry.item;
  const known = entry.head;
  if (known?.index === index && known.type === type && known.native === native_item_id) return known.json;
  const data = { item_id, native_item_id, part_index: index, part_type: type };
  const json = `${JSON.stringify(data).slice(0, -1)},"delta":`;
  entry.head = { index, type, native: native_item_id, json };
  return json;
}

const updateOf = (draft: ItemDraft) => ({
  ...(draft.content ? { content: draft.content } : {}),
  ...(draft.native_item_id ? { native_item_id: draft.native_item_id } : {}),
  ...(draft.parent ? { parent: draft.parent } : {}),
  ...(draft.outlives_turn === undefined ? {} : { outlives_turn: draft.outlives_turn }),
});

const kindOf = (type: DeltaPartType): Item["kind"] =>
  type === "tool_arguments" ? "tool_call" : type === "tool_output" ? "tool_result" : "message";

/** What an item that was never announced must have been, by its content. */
function itemOfParts(key: ItemKey, parts: DraftPart[]): ItemDraft {
  const type = parts[0]?.type;
  if (type === "tool_result") return { key, kind: "tool_result", role: "tool", content: parts };
  if (type === "tool_call") return { key, kind: "tool_call", role: "assistant", content: parts };
  if (type === "plan" || type === "status") return { key, kind: "status", role: null, content: parts };
  return { key, kind: "message", role: "assistant", content: [] };
}

/** The answer to a turn ends with it; what a background command or sub-agent says may come later. */
const mayOutlive = (item: Item): boolean => item.kind !== "message" || item.parent_id !== null;
