/**
 * The item ledger: turns what translators say about items into item events that obey the grammar (G3 to G7): stub starts, deltas that add up, results that
 * have a call, everything closed in the end. What an item is now, the projection knows; this knows which key names which item, and forgets finished ones
 * but for a bounded memory of their ids.
 */
import type { ContentPart } from "../schema/content.ts";
import type { DraftOf, DraftPart, ItemDraft, ItemKey } from "../schema/draft.ts";
import type { DeltaPartType, OutputStream } from "../schema/event-data.ts";
import type { Item, ItemRole, ItemStatus } from "../schema/item.ts";
import { GrowingItem } from "../schema/projection/growing-item.ts";
import { emptyPart, extendsContent, partFor, sameJson, streamOf, takes, withoutText } from "../schema/projection/parts.ts";
import { BoundedMap } from "./bounded-memory.ts";
import { BY_DAEMON, type EventWriter, type Origin, type StreamedPart } from "./event-writer.ts";
import { INLINE_LIMIT, type PartStore } from "./part-store.ts";

/** How many finished items stay known by key: enough for late parents and repeats of any real turn. */
const REMEMBERED = 20_000;

type OpenItem = {
  key: ItemKey;
  /** Its place in the projection. */
  growing: GrowingItem;
  outlives: boolean;
  /** The arguments of a call that are too large to stand in the item. */
  whole?: string | undefined;
  /** Where the last delta went. */
  streamed: StreamedPart | null;
};
type Finished = { item_id: string; removed: boolean };

export class ItemLedger {
  readonly #writer: EventWriter;
  readonly #parts: PartStore;
  readonly #open = new Map<ItemKey, OpenItem>();
  readonly #finished = new BoundedMap<ItemKey, Finished>(REMEMBERED);
  /** call_id → key of its tool_call item. */
  readonly #calls = new BoundedMap<string, ItemKey>(REMEMBERED);
  /** Put before every key, so that a new process may count its keys from one again. Empty for the first. */
  #scope = "";
  #scopes = 0;

  /** Items that are open in the writer's projection get keys of their own: no translator knows them any more. */
  constructor(writer: EventWriter, parts: PartStore) {
    this.#writer = writer;
    this.#parts = parts;
    for (const item of writer.projection.items.items()) this.#restore(item);
  }

  /** From now on keys are those of a new process: none of them names an item of the one before. */
  newScope(): void {
    this.#scopes++;
    this.#scope = this.#scopes === 1 ? "" : `${this.#scopes}|`;
  }

  itemId(key: ItemKey | null | undefined): string | null {
    if (key === null || key === undefined) return null;
    return this.#idOf(this.#scope + key) ?? this.#idOf(key);
  }

  /** The arguments of an open tool call, as far as they are known; null when it is no open tool call. */
  argumentsOf(key: ItemKey): string | null {
    const entry = this.#open.get(this.#scope + key);
    if (!entry) return null;
    return entry.whole ?? callArguments(entry.growing.item.content) ?? null;
  }

  /** Nothing is its own parent. */
  #parentOf(key: ItemKey, item: Item): string | null {
    const parent = this.itemId(key);
    return parent === item.item_id ? null : parent;
  }

  #idOf(scoped: string): string | null {
    return this.#open.get(scoped)?.growing.item.item_id ?? this.#finished.get(scoped)?.item_id ?? null;
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
      turn_id: this.#writer.projection.turn?.turn_id ?? null,
      started_at: this.#writer.now(),
      completed_at: null,
    };
    const outlives = (draft.outlives_turn ?? false) && mayOutlive(item);
    for (const part of content) if (part.type === "tool_call") this.#calls.set(part.call_id, key);
    this.#writer.emit("item.started", { item }, origin);
    const entry = this.#opened(key, item, outlives);
    entry.whole = largeArguments(draft.content ?? []);
    if (draft.kind === "message") this.#catchUp(entry, content, origin);
  }

  delta(draft: DraftOf<"item.delta">, origin: Origin): void {
    if (draft.delta === "") return;
    const entry = this.#open.get(this.#scope + draft.key) ?? this.#stub(draft.key, draft.part_type, origin);
    if (!entry) return;
    const { parts } = entry.growing;
    const named = draft.part_index === undefined ? undefined : parts[draft.part_index];
    const fits = draft.part_index !== undefined && (named === undefined || takes(named, draft.part_type));
    const index = fits ? (draft.part_index ?? 0) : partFor(parts, draft.part_type);
    this.#say(entry, index, draft.part_type, draft.delta, origin, draft.stream);
  }

  update(draft: DraftOf<"item.update">, origin: Origin): void {
    const entry = this.#open.get(this.#scope + draft.key);
    if (!entry) return;
    const before = entry.growing.item;
    if (draft.outlives_turn !== undefined) entry.outlives = draft.outlives_turn && mayOutlive(before);
    const parent_id = draft.parent === undefined ? before.parent_id : (this.#parentOf(draft.parent, before) ?? before.parent_id);
    const native_item_id = draft.native_item_id ?? before.native_item_id;
    const renamed = parent_id !== before.parent_id || native_item_id !== before.native_item_id;
    if (!draft.content && !renamed) return;
    const content = draft.content && this.#stored(draft.content, before.role);
    if (content) {
      this.#needCall(content, null, origin);
      if (!renamed && (sameJson(before.content, content) || this.#catchUp(entry, content, origin))) return;
      if (draft.content) entry.whole = largeArguments(draft.content);
      for (const part of content) if (part.type === "tool_call") this.#calls.set(part.call_id, entry.key);
    }
    entry.streamed = null;
    this.#writer.emit(
      "item.updated",
      { item: { ...before, parent_id, native_item_id, ...(content ? { content } : {}) } },
      origin,
    );
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
    const content = draft.content && this.#stored(draft.content, entry.growing.item.role);
    if (content) {
      this.#needCall(content, null, origin);
      const { item } = entry.growing;
      if (item.kind === "message" && !this.#catchUp(entry, content, origin, { completing: true }))
        this.#writer.emit("item.updated", { item: { ...item, content } }, BY_DAEMON_AS(origin));
    }
    this.#finish(entry, draft.status ?? "completed", origin, content);
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
    const item = open?.growing.item;
    const item_id = item?.item_id ?? finished?.item_id ?? "";
    this.#open.delete(key);
    this.#finished.set(key, { item_id, removed: true });
    this.#writer.emit("item.removed", { item_id, native_item_id: item?.native_item_id ?? null, reason }, origin);
  }

  /** Closes what the turn left open; what outlives it stays. `cut`: the turn did not come to its own end. */
  closeTurn(turnId: string, cut: boolean): void {
    this.#closeAllThat((entry) => entry.growing.item.turn_id === turnId && !entry.outlives, cut ? "failed" : "completed");
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

  #restore(item: Item): void {
    const key = `restored:${item.item_id}`;
    // Not as one that outlives its turn: if that is still open it is about to be cut, and its items close before it ends (G7).
    this.#opened(key, item, false);
    // A result that was announced has a call, finished or not.
    for (const part of item.content)
      if (part.type === "tool_call" || (part.type === "tool_result" && !this.#calls.has(part.call_id)))
        this.#calls.set(part.call_id, key);
  }

  #opened(key: ItemKey, item: Item, outlives: boolean): OpenItem {
    const growing = this.#writer.projection.items.growing(item.item_id) ?? new GrowingItem(item);
    const entry: OpenItem = { key, growing, outlives, streamed: null };
    this.#open.set(key, entry);
    return entry;
  }

  #finish(entry: OpenItem, status: Exclude<ItemStatus, "in_progress">, origin: Origin, final?: ContentPart[]): void {
    const before = entry.growing.item;
    const content = final ?? before.content;
    this.#needCall(content, null, origin);
    this.#open.delete(entry.key);
    this.#finished.set(entry.key, { item_id: before.item_id, removed: false });
    const item: Item = {
      ...before,
      content: content.map((part) => this.#parts.stored(part)),
      status,
      completed_at: this.#writer.now(),
    };
    this.#writer.emit("item.completed", { item }, origin);
    if (item.kind === "tool_result") this.#closeCall(item, status, origin);
  }

  /** A call whose result is final is final itself, whether the agent says so or not. */
  #closeCall(result: Item, status: "completed" | "failed", origin: Origin): void {
    for (const part of result.content) {
      if (part.type !== "tool_result") continue;
      const key = this.#calls.get(part.call_id);
      const call = key === undefined ? undefined : this.#open.get(key);
      if (call && call.growing.item.kind === "tool_call" && !call.outlives)
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

  #say(entry: OpenItem, index: number, type: DeltaPartType, delta: string, origin: Origin, stream?: OutputStream): void {
    const known = entry.streamed;
    const same = known?.index === index && known.type === type && known.stream === stream;
    const part = same ? known : streamedPart(entry.growing, index, type, stream);
    entry.streamed = part;
    this.#writer.emitDelta(part, delta, origin);
  }

  /**
   * Says as deltas what `content` has beyond what was said. True when that made the item equal to it, as far as deltas can say it when it is `completing`;
   * false when the two contradict each other, or differ in more than text: then the caller replaces the item.
   */
  #catchUp(entry: OpenItem, content: ContentPart[], origin: Origin, { completing = false } = {}): boolean {
    const { item } = entry.growing;
    const streams = item.kind === "message" || item.kind === "tool_result";
    if (!streams || !extendsContent(item.content, content)) return false;
    if (!completing && !content.slice(item.content.length).every(startsEmpty)) return false;
    const synthetic: Origin = { source: "daemon", native: origin.native };
    content.forEach((part, index) => {
      const [type, text] = streamOf(part);
      const said = item.content[index];
      const before = said ? streamOf(said)[1] : "";
      if (type !== undefined && text.length > before.length) this.#say(entry, index, type, text.slice(before.length), synthetic);
    });
    return true;
  }

  #stored(parts: DraftPart[], role: ItemRole): ContentPart[] {
    // Copied: a translator may keep the one it gave us, and let it grow.
    return parts.map((part) => ({ ...this.#parts.stored(part, role) }));
  }
}

const callArguments = (parts: readonly DraftPart[]): string | undefined =>
  parts.flatMap((part) => (part.type === "tool_call" ? [part.arguments] : []))[0];

function largeArguments(parts: readonly DraftPart[]): string | undefined {
  const text = callArguments(parts);
  return text !== undefined && text.length > INLINE_LIMIT ? text : undefined;
}

/** True when deltas alone make this part: without text it is what a reader begins with. */
function startsEmpty(part: ContentPart): boolean {
  const [type] = streamOf(part);
  return type !== undefined && sameJson(withoutText(part), emptyPart(type));
}

const BY_DAEMON_AS = (origin: Origin): Origin => ({ source: "daemon", native: origin.native });

function streamedPart(item: GrowingItem, index: number, type: DeltaPartType, stream?: OutputStream): StreamedPart {
  const { item_id, native_item_id } = item.item;
  const data = { item_id, native_item_id, part_index: index, part_type: type, ...(stream === undefined ? {} : { stream }) };
  return { item, index, type, stream, head: `${JSON.stringify(data).slice(0, -1)},"delta":` };
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
