/** What of an event can be found: the texts of an item when it is complete, titles, requests and errors. Pure; knows nothing of the index. */
import type { SearchEntry } from "../log/contract.ts";
import type { ContentPart } from "../schema/content.ts";
import type { UniversalEvent } from "../schema/event.ts";
import type { Item } from "../schema/item.ts";
import type { SearchSort } from "../schema/search.ts";
import { speakerOf } from "../schema/speaker.ts";

/** Of one item. Longer ones are found by their beginning and their end. */
const MAX_CHARS = 32_000;

export const SEARCHED_TYPES: ReadonlySet<string> = new Set([
  "session.started",
  "session.updated",
  "item.completed",
  "item.removed",
  "permission.requested",
  "question.requested",
  "error",
]);

type Found = Pick<SearchEntry, "item_id" | "text"> & { sort: SearchSort };

/** True when the text of an entry may lack the middle of what it was taken from. */
export const isShortened = (text: string): boolean => text.length >= MAX_CHARS;

/** `clean`: what of a text may be found, before it is shortened. */
export function entriesOf(event: UniversalEvent, clean = (text: string): string => text): SearchEntry[] {
  const place = { kind: "session" as const, stream_id: event.session_id, sequence: event.sequence, at: Date.parse(event.time) };
  return textsOf(event).flatMap(({ text, ...found }) => {
    const bounded = shortened(clean(text.trim()));
    return bounded === "" ? [] : [{ ...place, ...found, text: bounded }];
  });
}

function textsOf(event: UniversalEvent): Found[] {
  switch (event.type) {
    case "item.completed":
      return itemTexts(event.data.item);
    case "permission.requested":
      return [{ item_id: null, sort: "request", text: event.data.action }];
    case "question.requested":
      return [{ item_id: null, sort: "request", text: event.data.prompt }];
    case "error":
      return [{ item_id: null, sort: "error", text: event.data.message }];
    default:
      return [];
  }
}

/** Thoughts are apart from what was said: one can look for either. */
function itemTexts(item: Item): Found[] {
  const { item_id, kind, content } = item;
  const said_by = speakerOf(item) === "user" ? "user" : "assistant";
  const sort: SearchSort = kind === "tool_call" || kind === "tool_result" ? "tool" : said_by;
  const thought = content.filter((part) => part.type === "reasoning");
  const said = content.filter((part) => part.type !== "reasoning");
  return [
    { item_id, sort, text: joined(said) },
    { item_id, sort: "reasoning", text: joined(thought) },
  ];
}

const joined = (parts: readonly ContentPart[]): string =>
  parts
    .map(partText)
    .filter((text) => text !== "")
    .join("\n");

function partText(part: ContentPart): string {
  switch (part.type) {
    case "text":
    case "reasoning":
    case "refusal":
      return part.text;
    case "tool_call":
      return [part.title, part.name, ...(part.paths ?? []), part.arguments].filter(Boolean).join("\n");
    case "tool_result":
      return part.output;
    case "file_ref":
      return [part.path, part.diff ?? ""].join("\n");
    case "json":
      return JSON.stringify(part.json) ?? "";
    case "code":
      return part.code;
    case "status":
      return [part.label, part.detail ?? ""].join("\n");
    case "plan":
      return part.entries.map(({ text }) => text).join("\n");
    case "resource":
      return [part.uri, part.name ?? "", part.text ?? ""].join("\n");
    case "image":
    case "audio":
      return "";
    default:
      return part satisfies never;
  }
}

const shortened = (text: string): string =>
  text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS / 2)}\n…\n${text.slice(-MAX_CHARS / 2)}`;
