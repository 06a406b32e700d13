/** Small questions about items and their drafts that the item ledger asks. Pure functions. */
import type { ContentPart } from "../schema/content.ts";
import type { DraftPart, ItemDraft, ItemKey } from "../schema/draft.ts";
import type { DeltaNature, DeltaPartType } from "../schema/event-data.ts";
import type { Item } from "../schema/item.ts";
import type { GrowingItem } from "../schema/projection/growing-item.ts";
import { emptyPart, sameJson, streamOf, withoutText } from "../schema/projection/parts.ts";
import type { CallLedger } from "./call-ledger.ts";
import type { Origin, StreamedPart } from "./event-writer.ts";
import { INLINE_LIMIT } from "./part-store.ts";

export const callArguments = (parts: readonly DraftPart[]): string | undefined =>
  parts.flatMap((part) => (part.type === "tool_call" ? [part.arguments] : []))[0];

export function largeArguments(parts: readonly DraftPart[]): string | undefined {
  const text = callArguments(parts);
  return text !== undefined && text.length > INLINE_LIMIT ? text : undefined;
}

/** True when deltas alone make this part: without text it is what a reader begins with. */
export function startsEmpty(part: ContentPart): boolean {
  const [type] = streamOf(part);
  return type !== undefined && sameJson(withoutText(part), emptyPart(type));
}

export const BY_DAEMON_AS = (origin: Origin): Origin => ({ source: "daemon", native: origin.native });

export function streamedPart(item: GrowingItem, index: number, type: DeltaPartType, nature: DeltaNature): StreamedPart {
  const { item_id, native_item_id } = item.item;
  const data = { item_id, native_item_id, part_index: index, part_type: type, ...nature };
  return { item, index, type, nature, head: `${JSON.stringify(data).slice(0, -1)},"delta":` };
}

export const updateOf = (draft: ItemDraft) => ({
  ...(draft.content ? { content: draft.content } : {}),
  ...(draft.native_item_id ? { native_item_id: draft.native_item_id } : {}),
  ...(draft.parent ? { parent: draft.parent } : {}),
  ...(draft.outlives_turn === undefined ? {} : { outlives_turn: draft.outlives_turn }),
});

export const kindOf = (type: DeltaPartType): Item["kind"] =>
  type === "tool_arguments" ? "tool_call" : type === "tool_output" ? "tool_result" : "message";

/** What an item that was never announced must have been, by its content. */
export function itemOfParts(key: ItemKey, parts: DraftPart[]): ItemDraft {
  const type = parts[0]?.type;
  if (type === "tool_result") return { key, kind: "tool_result", role: "tool", content: parts };
  if (type === "tool_call") return { key, kind: "tool_call", role: "assistant", content: parts };
  if (type === "plan") return { key, kind: "status", role: "assistant", content: parts };
  if (type === "status") return { key, kind: "status", role: null, content: parts };
  return { key, kind: "message", role: "assistant", content: [] };
}

/** U10: a plan is the assistant's; a status is nobody's. */
export function roleOf({ kind, role }: ItemDraft, parts: readonly ContentPart[]): Pick<ItemDraft, "kind" | "role"> {
  if (parts.some((part) => part.type === "plan")) return { kind: "status", role: "assistant" };
  return { kind, role: kind === "status" && parts.some((part) => part.type === "status") ? null : role };
}

/** The calls of this item that have no result. */
export const unanswered = (item: Item, calls: CallLedger): string[] =>
  item.content.flatMap((part) => (part.type === "tool_call" && !calls.answered(part.call_id) ? [part.call_id] : []));

/** The answer to a turn ends with it; what a background command or sub-agent says may come later. */
export const mayOutlive = (item: Item): boolean => item.kind !== "message" || item.parent_id !== null;
