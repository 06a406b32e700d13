/**
 * The list of items a request sends. It is always balanced: every call has exactly one output, right after the answer that made it, whatever was interrupted,
 * refused or lost in a crash. Providers refuse a conversation with a call that has no output.
 */
import { isObject, type JsonObject, textOf } from "../openresponses/json.ts";
import type { RecordOf } from "./records.ts";
import type { Settings } from "./settings.ts";

/** A part of the conversation. */
export type Entry =
  | { readonly kind: "input"; readonly items: readonly JsonObject[] }
  | { readonly kind: "response"; readonly n: number; readonly attempt: number; readonly items: readonly JsonObject[] };

/** A call of the model. */
export interface ModelCall {
  /** `n.attempt.call_id`, with `#2` where an answer uses an id twice. */
  readonly key: string;
  readonly call_id: string;
  readonly name: string;
  /** JSON, or free text of a custom tool. */
  readonly input: string;
  readonly custom: boolean;
}

/** What a call without an outcome is answered with. */
export const NOT_RUN = "This call was not run: the turn ended before it.";

const isCall = (item: JsonObject): boolean => item.type === "function_call" || item.type === "custom_tool_call";

/** A call that was cut off has half its arguments: it can neither be run nor be sent back. */
const isCutCall = (item: JsonObject): boolean => isCall(item) && item.status === "incomplete";

/** The items of an answer as they go back: verbatim, without calls that were cut off, and with a call id where the server gave none. */
export function keptItems(items: readonly JsonObject[], n: number): JsonObject[] {
  return items
    .filter((item) => !isCutCall(item))
    .map((item, at) =>
      isCall(item) && !textOf(item.call_id) ? { ...item, call_id: textOf(item.id) ?? `call_${n}_${at}` } : item,
    );
}

/** Names the calls of one answer while they come. */
export class CallNamer {
  readonly #seen = new Map<string, number>();
  readonly #prefix: string;

  constructor(n: number, attempt: number) {
    this.#prefix = `${n}.${attempt}.`;
  }

  /** Null when the item is no call. */
  name(item: JsonObject): ModelCall | null {
    const call_id = textOf(item.call_id);
    if (!isCall(item) || call_id === undefined) return null;
    const times = (this.#seen.get(call_id) ?? 0) + 1;
    this.#seen.set(call_id, times);
    const custom = item.type === "custom_tool_call";
    return {
      key: `${this.#prefix}${call_id}${times === 1 ? "" : `#${times}`}`,
      call_id,
      name: textOf(item.name) ?? "",
      input: textOf(custom ? item.input : item.arguments) ?? "",
      custom,
    };
  }
}

export function callsOf(entry: Extract<Entry, { kind: "response" }>): ModelCall[] {
  const namer = new CallNamer(entry.n, entry.attempt);
  return entry.items.flatMap((item) => namer.name(item) ?? []);
}

/** Looks up the outcome of a call. */
export type OutcomeOf = (key: string) => RecordOf<"call.finished"> | undefined;

export function inputItems(entries: readonly Entry[], outcomeOf: OutcomeOf, endpoint: Settings["endpoint"]): JsonObject[] {
  return entries.flatMap((entry) => {
    const items = endpoint.reasoning === "none" ? entry.items.filter((item) => item.type !== "reasoning") : entry.items;
    if (entry.kind === "input") return items;
    const outputs = callsOf(entry).map((call) => outputItem(call, outcomeOf(call.key)));
    return endpoint.images_in_tool_results ? [...items, ...outputs] : [...items, ...withoutImages(outputs)];
  });
}

function outputItem(call: ModelCall, outcome: RecordOf<"call.finished"> | undefined): JsonObject {
  const type = call.custom ? "custom_tool_call_output" : "function_call_output";
  return { type, call_id: call.call_id, output: outcome?.output ?? NOT_RUN };
}

/** Where results cannot carry images, a message of the user after them does. */
function withoutImages(outputs: readonly JsonObject[]): JsonObject[] {
  const images: JsonObject[] = [];
  const texts = outputs.map((item) => {
    if (!Array.isArray(item.output)) return item;
    const parts = item.output.filter(isObject);
    const found = parts.filter((part) => part.type === "input_image");
    images.push(...found);
    const text = parts.map((part) => textOf(part.text) ?? "").join("");
    return { ...item, output: found.length === 0 ? text : `${text}\n(The image is in the next message.)`.trim() };
  });
  if (images.length === 0) return texts;
  return [...texts, { type: "message", role: "user", content: images }];
}

/** A message of the person or of ours, as an item. */
export const messageItem = (role: "user" | "developer", text: string): JsonObject => ({
  type: "message",
  role,
  content: [{ type: "input_text", text }],
});

/** Whether every call has one output and every output has a call: for tests and as a last check before a request. */
export function balanceFault(items: readonly JsonObject[]): string | null {
  const open = new Map<string, number>();
  for (const item of items) {
    const id = textOf(item.call_id) ?? "";
    if (isCall(item)) open.set(id, (open.get(id) ?? 0) + 1);
    else if (item.type === "function_call_output" || item.type === "custom_tool_call_output") {
      const left = (open.get(id) ?? 0) - 1;
      if (left < 0) return `an output without a call: ${id}`;
      if (typeof item.output !== "string" && !Array.isArray(item.output)) return `an output that says nothing: ${id}`;
      if (left === 0) open.delete(id);
      else open.set(id, left);
    }
  }
  const [first] = open.keys();
  return first === undefined ? null : `a call without an output: ${first}`;
}
