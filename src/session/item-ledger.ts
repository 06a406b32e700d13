/**
 * The item ledger: turns what translators say about items into item events that obey the grammar (G3 to G7) and look the same from every agent (U1 to
 * U10): stub starts, parents, deltas that add up, calls and results in one order, everything closed in the end. What an item is now, the projection
 * knows; which key names which item, and what others ask about open ones, open-items.ts; how text becomes deltas, item-text.ts.
 */
import type { ContentPart } from "../schema/content.ts";
import type { DraftOf, DraftPart, ItemDraft, ItemKey } from "../schema/draft.ts";
import type { DeltaPartType } from "../schema/event-data.ts";
import type { Item, ItemRole } from "../schema/item.ts";
import { GrowingItem } from "../schema/projection/growing-item.ts";
import { extendsContent, partFor, sameJson, streamOf, takes, withoutText } from "../schema/projection/parts.ts";
import { CallLedger } from "./call-ledger.ts";
import { ContinuedMessage } from "./continued-message.ts";
import { BY_DAEMON, type EventWriter, type Origin } from "./event-writer.ts";
import { BY_DAEMON_AS, itemOfParts, kindOf, largeArguments, mayOutlive, roleOf, unanswered, updateOf } from "./item-questions.ts";
import { ItemText } from "./item-text.ts";
import { type EndStatus, endsWith, type Finished, type OpenItem, OpenItems } from "./open-items.ts";
import type { PartStore } from "./part-store.ts";

/** The result of a call that has none. The daemon says it. */
const NO_RESULT = "The call was cut short: the agent gave no result.";

export class ItemLedger {
  readonly #writer: EventWriter;
  readonly #parts: PartStore;
  readonly #items = new OpenItems();
  readonly #text: ItemText;
  readonly #calls = new CallLedger();
  /** The empty message made for calls that came without one; null when the next call belongs to another answer of the model. */
  #madeParent: string | null = null;
  /** The agent ended a call with the native message that is being written. */
  #callEnded = false;

  /** Items that are open in the writer's projection get keys of their own: no translator knows them any more. */
  constructor(writer: EventWriter, parts: PartStore) {
    this.#writer = writer;
    this.#parts = parts;
    this.#text = new ItemText(writer);
    for (const item of writer.projection.items.items()) this.#restore(item);
  }

  /** What others ask about the items. */
  get open(): Pick<OpenItems, "itemId" | "argumentsOf" | "isAnswer" | "callOf" | "callsEndingWith" | "outliving"> {
    return this.#items;
  }

  newScope(): void {
    this.#items.newScope();
  }

  /** Nothing is its own parent. */
  #parentOf(key: ItemKey, item: Item): string | null {
    const parent = this.#items.itemId(key);
    return parent === item.item_id ? null : parent;
  }

  /** A person was asked about this item for so long. */
  waited(itemId: string, ms: number): void {
    this.#calls.waited(itemId, ms);
  }

  start(draft: ItemDraft, origin: Origin): void {
    const key = this.#items.key(draft.key);
    if (this.#items.get(key)) return this.update({ do: "item.update", key: draft.key, ...updateOf(draft) }, origin);
    const finished = this.#items.finished(key);
    if (finished) return draft.content && finished.sealed ? this.#goOn(draft.key, finished, draft.content, origin) : undefined;
    const content = this.#stored(draft.content ?? [], draft.role);
    this.#needCall(content, draft.parent ?? null, origin);
    const entry = this.#begin(
      key,
      {
        ...draft,
        ...roleOf(draft, content),
        parent_id: this.#parentFor(draft, content, origin),
        content: draft.kind === "message" ? content.map(withoutText) : content,
      },
      origin,
    );
    entry.whole = largeArguments(draft.content ?? []);
    if (draft.kind === "message" && content.length > 0) entry.held = content;
  }

  #begin(key: ItemKey, draft: Omit<ItemDraft, "content"> & { parent_id: string | null; content: ContentPart[] }, origin: Origin) {
    const item: Item = {
      item_id: this.#writer.ids.next("itm"),
      native_item_id: draft.native_item_id ?? null,
      parent_id: draft.parent_id,
      kind: draft.kind,
      role: draft.role,
      content: draft.content,
      status: "in_progress",
      turn_id: this.#writer.projection.turn?.turn_id ?? null,
      started_at: this.#writer.now(),
      completed_at: null,
    };
    if (item.kind === "message") this.#madeParent = null;
    this.#calls.told(item.content, key, item, item.started_at);
    for (const part of item.content) if (part.type === "tool_result") this.#calls.answer(part.call_id);
    if (item.kind === "tool_result") this.#seal(item.parent_id);
    this.#writer.emit("item.started", { item }, origin);
    return this.#opened(key, item, (draft.outlives_turn ?? false) && mayOutlive(item));
  }

  /** U1: a call has a message it came from, and a result stands beside its call. */
  #parentFor(draft: ItemDraft, content: readonly ContentPart[], origin: Origin): string | null {
    const named = this.#items.itemId(draft.parent);
    if (draft.kind === "tool_result" && named === null) {
      const [part] = content.filter((each) => each.type === "tool_result");
      const beside = part ? this.#calls.parentOf(part.call_id) : null;
      if (beside !== null) return beside;
    }
    if (named !== null) this.#tellHeld(named, draft);
    return named ?? (draft.kind === "tool_call" || draft.kind === "tool_result" ? this.#makeParent(draft.parent, origin) : null);
  }

  /** An agent without deltas has said all of a message when it calls a tool: the message is reported now, not when the tool has run. */
  #tellHeld(parent: string, draft: ItemDraft): void {
    if (draft.kind === "tool_call" && this.#items.withId(parent)?.held) this.#seal(parent);
  }

  /** `name`: what the translator calls the message that nobody announced; without one, calls share a message until one of them has a result. */
  #makeParent(name: ItemKey | null | undefined, origin: Origin): string {
    if (this.#madeParent !== null && !name) return this.#madeParent;
    const by = BY_DAEMON_AS(origin);
    const made = { key: "", kind: "message", role: "assistant", parent_id: null, content: [] } as const;
    const entry = this.#begin(name ? this.#items.key(name) : `made:${this.#writer.sequence}`, { ...made, content: [] }, by);
    this.#finish(entry, "completed", by);
    this.#madeParent = entry.growing.item.item_id;
    return this.#madeParent;
  }

  /** U6: the message is done before one of its calls is asked about or answered. What the agent says of it later continues it. */
  #seal(itemId: string | null): void {
    const entry = itemId === null ? undefined : this.#items.withId(itemId);
    if (entry?.growing.item.kind !== "message" || entry.growing.item.role !== "assistant") return;
    const item = this.#finish(entry, "completed", BY_DAEMON);
    const finished = this.#items.finished(entry.key);
    if (finished) finished.sealed = new ContinuedMessage(item);
  }

  /** A call is about to be asked about. */
  sealFor(key: ItemKey | null | undefined): void {
    const id = this.#items.itemId(key);
    this.#seal((id === null ? undefined : this.#items.withId(id)?.growing.item.parent_id) ?? null);
  }

  /** The agent says more of a message that was completed early. */
  #goOn(name: ItemKey, finished: Finished, content: DraftPart[] | null, origin: Origin): void {
    const { sealed } = finished;
    if (!sealed || finished.removed) return;
    const draft = sealed.draft(name);
    const rest = content ? sealed.rest(this.#stored(content, draft.role)) : [];
    if (content && rest.length === 0) return;
    const made = { ...draft, parent_id: sealed.parentId, content: rest.map(withoutText) };
    const entry = this.#begin(this.#items.key(name), made, BY_DAEMON_AS(origin));
    entry.continues = sealed;
    if (rest.length > 0) entry.held = rest;
  }

  delta(draft: DraftOf<"item.delta">, origin: Origin): void {
    if (draft.delta === "") return;
    const entry = this.#items.named(draft.key) ?? this.#openAgain(draft, origin);
    if (!entry) return;
    if (entry.held) this.#text.release(entry, origin);
    const { parts } = entry.growing;
    const at = entry.continues ? entry.continues.place(draft.part_index) : draft.part_index;
    const named = at === undefined ? undefined : parts[at];
    const fits = at !== undefined && (named === undefined || takes(named, draft.part_type));
    const index = fits ? (at ?? 0) : partFor(parts, draft.part_type);
    this.#text.say(entry, index, draft.part_type, draft.delta, origin, draft);
  }

  /** A delta of an item that is not open: of a message that was completed early, or of one that nobody announced. */
  #openAgain(draft: DraftOf<"item.delta">, origin: Origin): OpenItem | undefined {
    const key = this.#items.key(draft.key);
    const finished = this.#items.finished(key);
    if (finished?.sealed) this.#goOn(draft.key, finished, null, origin);
    return this.#items.get(key) ?? this.#stub(draft.key, draft.part_type, origin);
  }

  update(draft: DraftOf<"item.update">, origin: Origin): void {
    const entry = this.#items.named(draft.key);
    const finished = this.#items.finished(this.#items.key(draft.key));
    if (!entry && finished?.sealed && draft.content) return this.#goOn(draft.key, finished, draft.content, origin);
    if (!entry) return;
    const before = entry.growing.item;
    if (draft.outlives_turn !== undefined) entry.outlives = draft.outlives_turn && mayOutlive(before);
    const parent_id = draft.parent === undefined ? before.parent_id : (this.#parentOf(draft.parent, before) ?? before.parent_id);
    const native_item_id = draft.native_item_id ?? before.native_item_id;
    const renamed = parent_id !== before.parent_id || native_item_id !== before.native_item_id;
    if (!draft.content && !renamed) return;
    const content = draft.content && this.#contentFor(entry, this.#stored(draft.content, before.role));
    if (content) {
      this.#needCall(content, null, origin);
      if (this.#hold(entry, content) && !renamed) return;
      if (!renamed && (sameJson(before.content, content) || this.#text.catchUp(entry, content, origin))) return;
      if (draft.content) entry.whole = largeArguments(draft.content);
      this.#calls.told(content, entry.key, { ...before, parent_id }, this.#writer.now());
    }
    entry.streamed = null;
    const told = content && !entry.held ? { content } : {};
    this.#writer.emit("item.updated", { item: { ...before, parent_id, native_item_id, ...told } }, origin);
  }

  /** U8: text that came whole is reported when its message is completed, or when more of it comes as deltas. False: it contradicts what was reported. */
  #hold(entry: OpenItem, content: ContentPart[]): boolean {
    const { item } = entry.growing;
    if (item.kind !== "message") return false;
    if (!extendsContent(item.content, content)) return false;
    // Parts without a word more than was reported announce what they will be.
    const told = (index: number): string => (item.content[index] ? streamOf(item.content[index])[1] : "");
    if (content.every((part, index) => streamOf(part)[1] === told(index))) return false;
    entry.held = content;
    return true;
  }

  /** Of a message that continues another: only what that one did not say. */
  #contentFor(entry: OpenItem, content: ContentPart[]): ContentPart[] {
    return entry.continues ? entry.continues.rest(content) : content;
  }

  complete(draft: DraftOf<"item.complete">, origin: Origin): void {
    const key = this.#items.key(draft.key);
    const finished = this.#items.finished(key);
    if (!this.#items.get(key) && finished?.sealed && draft.content) this.#goOn(draft.key, finished, draft.content, origin);
    const entry = this.#items.get(key);
    if (!entry) {
      if (finished || !draft.content) return;
      this.start(itemOfParts(draft.key, draft.content), BY_DAEMON_AS(origin));
      if (this.#items.get(key)) this.complete(draft, origin);
      return;
    }
    const content = draft.content && this.#contentFor(entry, this.#stored(draft.content, entry.growing.item.role));
    const { item } = entry.growing;
    if (content) {
      this.#needCall(content, null, origin);
      entry.held = null;
      if (item.kind === "message" && !this.#text.catchUp(entry, content, origin, { completing: true }))
        this.#writer.emit("item.updated", { item: { ...item, content } }, BY_DAEMON_AS(origin));
    }
    const status = draft.status ?? "completed";
    if (item.kind === "tool_call") {
      entry.ended = { status, origin, content };
      this.#callEnded = true;
    } else this.#finish(entry, status, origin, content);
  }

  /** After each native message: a call that the agent ended, and that has no result, has none. */
  settle(): void {
    if (!this.#callEnded) return;
    this.#callEnded = false;
    for (const entry of [...this.#items.open()])
      if (entry.ended && this.#items.get(entry.key) === entry && !this.#items.hasResultOf(entry))
        this.#finish(entry, entry.ended.status, entry.ended.origin, entry.ended.content);
  }

  add(draft: DraftOf<"item.add">, origin: Origin): void {
    this.start(draft.item, BY_DAEMON_AS(origin));
    this.complete({ do: "item.complete", key: draft.item.key, ...(draft.status ? { status: draft.status } : {}) }, origin);
  }

  remove({ key, reason, below }: DraftOf<"item.remove">, origin: Origin): void {
    this.#remove(this.#items.key(key), reason, below ?? false, origin);
  }

  #remove(key: ItemKey, reason: string, below: boolean, origin: Origin): void {
    for (const { item_id, native_item_id } of this.#items.remove(key)) {
      if (below) for (const child of this.#items.below(item_id)) this.#remove(child, reason, true, origin);
      this.#writer.emit("item.removed", { item_id, native_item_id, reason }, origin);
    }
  }

  /** Closes what the turn left open; what outlives it stays. `cut`: the turn did not come to its own end. */
  closeTurn(turnId: string, cut: boolean): void {
    this.#closeAllThat((entry) => endsWith(turnId, entry), cut ? "failed" : "completed");
  }

  closeAll(): void {
    this.#closeAllThat(() => true, "failed");
  }

  /** The newest first, so that children close before their parents. Looks again each time: closing a result can open the call it answers. */
  #closeAllThat(fits: (entry: OpenItem) => boolean, status: "completed" | "failed"): void {
    for (;;) {
      const entry = [...this.#items.open()].findLast(fits);
      if (!entry) return;
      this.#finish(entry, status, BY_DAEMON);
    }
  }

  #restore(item: Item): void {
    const key = `restored:${item.item_id}`;
    // Not as one that outlives its turn: if that is still open it is about to be cut, and its items close before it ends (G7).
    this.#opened(key, item, false);
    // A result that was announced has a call, finished or not.
    this.#calls.told(item.content, key, item, item.started_at);
    for (const part of item.content)
      if (part.type === "tool_result")
        this.#calls.answer(part.call_id, { key, item_id: item.item_id, parent_id: item.parent_id });
  }

  #opened(key: ItemKey, item: Item, outlives: boolean): OpenItem {
    const growing = this.#writer.projection.items.growing(item.item_id) ?? new GrowingItem(item);
    const entry: OpenItem = { key, growing, outlives, streamed: null, held: null, ended: null, continues: null };
    this.#items.add(entry);
    return entry;
  }

  #finish(entry: OpenItem, status: EndStatus, origin: Origin, final?: ContentPart[]): Item {
    const whole = final ?? entry.held ?? undefined;
    this.#text.release(entry, origin, { completing: true });
    const before = entry.growing.item;
    const ending =
      before.kind === "tool_result"
        ? this.#calls.resultEnd(whole ?? before.content, status, this.#writer.now())
        : { content: whole, status };
    const content = (ending.content ?? before.content).map((part) => this.#parts.stored(part));
    this.#needCall(content, null, origin);
    const item: Item = { ...before, content, status: ending.status, completed_at: this.#writer.now() };
    if (item.kind === "tool_result") this.#closeCalls(item, ending.status, origin);
    const needsResult =
      item.kind === "tool_call" && !this.#items.finished(entry.key)?.removed ? unanswered(item, this.#calls) : [];
    this.#items.finish(entry);
    this.#writer.emit("item.completed", { item }, origin);
    for (const callId of needsResult) this.#makeResult(callId, item, ending.status, origin);
    if (item.kind === "tool_result") this.#madeParent = null;
    return item;
  }

  /** A call whose result is final is final itself, with the same status, whether the agent says so or not. */
  #closeCalls(result: Item, status: EndStatus, origin: Origin): void {
    for (const part of result.content) {
      if (part.type !== "tool_result") continue;
      this.#calls.answer(part.call_id);
      const key = this.#calls.keyOf(part.call_id);
      const call = key === undefined ? undefined : this.#items.get(key);
      if (call?.growing.item.kind !== "tool_call" || (call.outlives && !call.ended)) continue;
      this.#finish(call, status, call.ended?.origin ?? BY_DAEMON_AS(origin), call.ended?.content);
    }
  }

  /** U3: a call has an end, also when it was cut off. */
  #makeResult(callId: string, call: Item, status: EndStatus, origin: Origin): void {
    const failed = status === "failed";
    const content: ContentPart[] = [
      { type: "tool_result", call_id: callId, output: failed ? NO_RESULT : "", ...(failed ? { is_error: true } : {}) },
    ];
    const made = { key: "", kind: "tool_result", role: "tool", parent_id: call.parent_id, content } as const;
    const by = BY_DAEMON_AS(origin);
    const entry = this.#begin(`result:${this.#writer.sequence}`, { ...made, content }, by);
    this.#calls.unclock(callId);
    this.#finish(entry, status, by);
  }

  /** G6: a result must answer a call. One that was never announced is announced now. */
  #needCall(content: ContentPart[], parent: ItemKey | null, origin: Origin): void {
    for (const part of content) {
      if (part.type !== "tool_result" || this.#calls.has(part.call_id)) continue;
      const name = `call:${part.call_id}`;
      const key = this.#items.key(name);
      this.start(
        {
          // What came from a sub-agent whose call nobody announced may have taken the name for its parent.
          key: this.#items.get(key) || this.#items.finished(key) ? `made:${name}` : name,
          parent,
          kind: "tool_call",
          role: "assistant",
          content: [{ type: "tool_call", name: "unknown", arguments: "{}", call_id: part.call_id }],
        },
        BY_DAEMON_AS(origin),
      );
    }
  }

  #stub(key: ItemKey, type: DeltaPartType, origin: Origin): OpenItem | undefined {
    if (this.#items.finished(this.#items.key(key))) return undefined;
    this.start({ key, kind: kindOf(type), role: type === "tool_output" ? "tool" : "assistant" }, BY_DAEMON_AS(origin));
    return this.#items.named(key);
  }

  #stored(parts: DraftPart[], role: ItemRole): ContentPart[] {
    // Copied: a translator may keep the one it gave us, and let it grow.
    return parts.map((part) => ({ ...this.#parts.stored(part, role) }));
  }
}
