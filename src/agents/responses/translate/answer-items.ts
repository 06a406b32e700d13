/** The items of one answer of the model while they are streamed: which provider item is which item of ours, and which part a piece of text belongs to. */
import type { Draft, DraftPart } from "../../../schema/draft.ts";
import { arr, asText, isRecord, type JsonRecord, num, rec, records, str, toJson } from "../../json.ts";
import { hostedKind, kindOf, lookOf } from "./tool-kinds.ts";

type Shape = "message" | "reasoning" | "call" | "hosted" | "other";

/** One output item of the answer. */
export type AnswerItem = {
  readonly key: string;
  readonly shape: Shape;
  readonly index: number | undefined;
  readonly id: string | undefined;
  readonly added: JsonRecord;
  /** Reasoning without a word is not shown: its item begins with its first text. */
  started: boolean;
  done: boolean;
  /** Place of a streamed part → number of the part in our item. */
  readonly parts: Map<string, number>;
};

const CALLS: ReadonlySet<string> = new Set(["function_call", "custom_tool_call"]);

export function shapeOf(type: string): Shape {
  if (type === "message" || type === "reasoning") return type;
  if (CALLS.has(type)) return "call";
  return hostedKind(type) === undefined ? "other" : "hosted";
}

export class AnswerItems {
  readonly prefix: string;
  readonly #items: AnswerItem[] = [];

  constructor(n: number, attempt: number) {
    this.prefix = `${n}.${attempt}`;
  }

  get all(): readonly AnswerItem[] {
    return this.#items;
  }

  /** By its index, else by its id, else the newest: llama.cpp sends no index, and vLLM gave streamed and final items different ids. */
  find(event: JsonRecord): AnswerItem | undefined {
    const index = num(event.output_index);
    if (index !== undefined) return this.#items.find((item) => item.index === index);
    const id = str(event.item_id) ?? str(rec(event.item).id);
    return this.#items.find((item) => id !== undefined && item.id === id) ?? this.#items.at(-1);
  }

  add(event: JsonRecord, drafts: Draft[]): AnswerItem {
    const added = rec(event.item);
    const index = num(event.output_index);
    const item: AnswerItem = {
      key: `${this.prefix}/${this.#items.length}`,
      shape: shapeOf(str(added.type) ?? ""),
      index,
      id: str(added.id),
      added,
      started: false,
      done: false,
      parts: new Map(),
    };
    this.#items.push(item);
    if (item.shape !== "reasoning") this.start(item, drafts);
    return item;
  }

  /** The message a call came with. */
  get parent(): string | null {
    return this.#items.findLast(({ shape, started }) => shape === "message" && started)?.key ?? null;
  }

  start(item: AnswerItem, drafts: Draft[]): void {
    if (item.started) return;
    const parent = item.shape === "call" || item.shape === "hosted" ? this.parent : null;
    item.started = true;
    const shared = { key: item.key, native_item_id: item.id ?? null, parent };
    if (item.shape === "message" || item.shape === "reasoning")
      drafts.push({ do: "item.start", item: { ...shared, kind: "message", role: "assistant" } });
    else if (item.shape === "call" || item.shape === "hosted")
      drafts.push({
        do: "item.start",
        item: { ...shared, kind: "tool_call", role: "assistant", content: [callPart(item.added, item.key)] },
      });
    else drafts.push({ do: "item.start", item: { ...shared, kind: "unknown", role: null, content: [jsonPart(item.added)] } });
  }

  /** The number of the part that stands at this place of the item. */
  partIndex(item: AnswerItem, place: string): number {
    const known = item.parts.get(place) ?? item.parts.size;
    item.parts.set(place, known);
    return known;
  }
}

const jsonPart = (json: unknown): DraftPart => ({ type: "json", json });

/** A call as far as it is known: what streams in later is not in it. */
export function callPart(item: JsonRecord, key: string): DraftPart {
  const type = str(item.type) ?? "";
  const call_id = str(item.call_id) ?? str(item.id) ?? key;
  const hosted = hostedKind(type);
  if (hosted !== undefined) {
    const name = str(item.name) ?? type.replace(/_call$/, "");
    const query = str(rec(item.action).query) ?? str(item.query);
    const input = str(item.arguments) ?? str(item.code) ?? toJson(item.action ?? item.operation ?? item.queries ?? {});
    const title = query === undefined ? name : `${name} ${query}`;
    return { type: "tool_call", name, arguments: input, call_id, tool_kind: hosted, title };
  }
  const name = str(item.name) ?? "";
  const input = str(type === "custom_tool_call" ? item.input : item.arguments) ?? "";
  if (input === "") return { type: "tool_call", name, arguments: "", call_id, tool_kind: kindOf(name), title: name };
  return { type: "tool_call", name, arguments: argumentsOf(type, input), call_id, ...lookOf(name, input) };
}

/** Arguments are JSON text; the free text of a custom tool is shown as its one field. */
const argumentsOf = (type: string, input: string): string => (type === "custom_tool_call" ? toJson({ patch: input }) : input);

/** What a finished message or reasoning item says. */
export function finalParts(item: JsonRecord): DraftPart[] {
  if (item.type === "reasoning") {
    const summary = records(item.summary).map((part) => reasoning(part, "public"));
    return [...summary, ...records(item.content).map((part) => reasoning(part, "private"))].filter((part) => part.text !== "");
  }
  return records(item.content).flatMap(contentPart);
}

const reasoning = (part: JsonRecord, visibility: "public" | "private") => ({
  type: "reasoning" as const,
  text: str(part.text) ?? "",
  visibility,
});

function contentPart(part: JsonRecord): DraftPart[] {
  if (part.type === "refusal") return [{ type: "refusal", text: str(part.refusal) ?? "" }];
  if (str(part.text) === undefined) return [jsonPart(part)];
  return [{ type: "text", text: str(part.text) ?? "" }, ...records(part.annotations).flatMap(annotation)];
}

function annotation(value: JsonRecord): DraftPart[] {
  const uri = str(value.url) ?? str(value.file_id);
  const title = str(value.title) ?? str(value.filename);
  return uri === undefined ? [] : [{ type: "resource", uri, ...(title === undefined ? {} : { text: title }) }];
}

/** What a call that the provider carried out came to; null when it says nothing. */
export function hostedResult(item: JsonRecord): string | null {
  const said = item.output ?? item.outputs ?? item.results ?? item.result ?? item.error ?? item.tools;
  if (said === undefined || said === null || (Array.isArray(said) && said.length === 0)) return null;
  return isRecord(said) || Array.isArray(said) ? toJson(arr(said).length > 0 ? said : said) : asText(said);
}
