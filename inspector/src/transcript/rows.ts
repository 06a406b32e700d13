// The entries of a transcript as the flat list a virtual list needs: results joined to their calls, a sub-agent's work under its call.
import type { Item } from "../../../src/schema/item.ts";
import type { Outgoing } from "../state/outbox.ts";
import type { Entry, TranscriptFold } from "../state/transcript-fold.ts";

export type Row = { key: string; depth: number } & (
  | { kind: "message"; item_id: string }
  | { kind: "tool"; item_id: string; results: string[]; children: number; open: boolean }
  | { kind: "outcome"; item_id: string; results: string[] }
  /** A message on its way. */
  | { kind: "outgoing"; message: Outgoing }
  /** The sign that the agent is at it. */
  | { kind: "working" }
  | { kind: "entry"; entry: Exclude<Entry, { kind: "item" }> }
);

export type Toggles = ReadonlyMap<string, boolean>;

type Nest = { parent: string | null };

export function buildRows(fold: TranscriptFold, toggles: Toggles): Row[] {
  const entries = fold.entries();
  const calls = new Map<string, string>();
  for (const item of fold.items()) {
    if (item.kind !== "tool_call") continue;
    for (const part of item.content) if (part.type === "tool_call") calls.set(part.call_id, item.item_id);
  }
  const results = new Map<string, string[]>();
  const children = new Map<string, Entry[]>();
  const top: Entry[] = [];
  for (const entry of entries) {
    const item = entry.kind === "item" ? fold.item(entry.item_id) : undefined;
    if ((entry.kind === "item" && !item) || standsInCard(fold, entry) || (item && saysNothing(item))) continue;
    const call = item?.kind === "tool_result" ? callOf(item, calls) : undefined;
    if (item && call !== undefined && call !== item.item_id) {
      add(results, call, item.item_id);
      continue;
    }
    const { parent } = nestOf(fold, entry);
    if (parent === null) top.push(entry);
    else add(children, parent, entry);
  }
  const rows: Row[] = [];
  const walk = (list: Entry[], depth: number): void => {
    for (const entry of list) {
      if (entry.kind !== "item") {
        rows.push({ key: entry.key, depth, kind: "entry", entry });
        continue;
      }
      const item = fold.item(entry.item_id);
      if (item?.kind !== "tool_call") {
        rows.push({ key: entry.key, depth, kind: "message", item_id: entry.item_id });
        continue;
      }
      const below = workFirst(fold, children.get(entry.item_id) ?? []);
      const open = toggles.get(`nest ${entry.item_id}`) ?? item.status === "in_progress";
      const outcomes = results.get(entry.item_id) ?? [];
      rows.push({ key: entry.key, depth, kind: "tool", item_id: entry.item_id, results: outcomes, children: below.length, open });
      if (!open || below.length === 0) continue;
      walk(below, depth + 1);
      // What a sub-agent hands back stands after its work, not before it.
      rows.push({ key: `outcome ${entry.key}`, depth: depth + 1, kind: "outcome", item_id: entry.item_id, results: outcomes });
    }
  };
  walk(top, 0);
  return rows;
}

/** How the work goes, or went, stands below it: an agent reports it before what it asked for. */
function workFirst(fold: TranscriptFold, entries: Entry[]): Entry[] {
  const isStatus = (entry: Entry): boolean => entry.kind === "item" && fold.item(entry.item_id)?.kind === "status";
  return entries.some(isStatus) ? [...entries.filter((entry) => !isStatus(entry)), ...entries.filter(isStatus)] : entries;
}

/** What only says what its tool call shows: a permission that waits, or was allowed without a word; a question that waits. */
function standsInCard(fold: TranscriptFold, entry: Entry): boolean {
  if (entry.kind === "question")
    return entry.data.status === "requested" && fold.item(entry.data.item_id ?? "")?.kind === "tool_call";
  if (entry.kind !== "permission") return false;
  const { status, metadata } = entry.data;
  if (fold.item(metadata.item_id ?? "")?.kind !== "tool_call") return false;
  return status === "requested" || (status === "approved" && !metadata.message && metadata.updated_input === undefined);
}

/** A message that was nothing but its calls: a row of its own would only be a gap between them. */
const saysNothing = ({ kind, status, content }: Item): boolean =>
  kind === "message" && status !== "in_progress" && content.length === 0;

function add<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

function callOf(item: Item, calls: ReadonlyMap<string, string>): string | undefined {
  const part = item.content.find((each) => each.type === "tool_result");
  return part?.type === "tool_result" ? calls.get(part.call_id) : undefined;
}

/** The call whose work this is. A call's parent is often the message it was made from; that is no nesting. */
function nestOf(fold: TranscriptFold, entry: Entry): Nest {
  const item =
    entry.kind === "item"
      ? fold.item(entry.item_id)
      : entry.kind === "removed"
        ? entry.item
        : entry.kind === "permission"
          ? fold.item(entry.data.metadata.item_id ?? "")
          : undefined;
  const walked = new Set<string>();
  for (let id = item?.parent_id ?? null; id !== null && !walked.has(id); ) {
    walked.add(id);
    const parent = fold.item(id);
    if (!parent) return { parent: null };
    if (parent.kind === "tool_call") return { parent: id };
    id = parent.parent_id;
  }
  return { parent: null };
}
