/**
 * The state machine of one response stream. It takes events in the order they came, says which rules each of them breaks, and keeps the output items. A stream
 * that breaks rules is still followed as far as it makes sense: servers made from chat completions break many.
 *
 * OR1 `sequence_number` grows. OR2 the stream begins with `response.created` or `response.queued`. OR3 an item begins with `output_item.added`. OR4 streamed content
 * stands between `content_part.added` and `.done`. OR5 nothing comes for an item after its `output_item.done`. OR6 deltas add up to the final text. OR7 nothing
 * comes after the terminal event. OR8 an incomplete item is the last one, and its response is incomplete. OR9 the response's status fits the event. OR10 one
 * stream, one response id. OR11 `error` is followed by `response.failed`. OR12 every item is done before the response is completed.
 */
import { RESPONSE_EVENTS, TERMINAL_EVENTS } from "./event-types.ts";
import { arrayOf, isObject, type JsonObject, numberOf, objectOf, textOf } from "./json.ts";
import { OutputSlots, type Slot } from "./output-slots.ts";

/** How a stream ended so far. */
export type StreamEnd =
  | { readonly kind: "open" }
  | { readonly kind: "completed" | "incomplete" | "failed"; readonly response: JsonObject }
  /** An `error` event without `response.failed` after it. */
  | { readonly kind: "error"; readonly error: JsonObject };

const STATUS_OF: Readonly<Record<string, readonly string[]>> = {
  "response.created": ["in_progress", "queued"],
  "response.queued": ["queued"],
  "response.in_progress": ["in_progress"],
  "response.completed": ["completed"],
  "response.failed": ["failed"],
  "response.incomplete": ["incomplete"],
};

/** Events that stream text, and where the whole text stands in their `.done`. */
const STREAMED: Readonly<Record<string, { readonly field: string; readonly index: "content_index" | "summary_index" | null }>> = {
  "response.output_text": { field: "text", index: "content_index" },
  "response.refusal": { field: "refusal", index: "content_index" },
  "response.reasoning": { field: "text", index: "content_index" },
  "response.reasoning_text": { field: "text", index: "content_index" },
  "response.reasoning_summary_text": { field: "text", index: "summary_index" },
  "response.function_call_arguments": { field: "arguments", index: null },
  "response.custom_tool_call_input": { field: "input", index: null },
  "response.mcp_call_arguments": { field: "arguments", index: null },
  "response.code_interpreter_call_code": { field: "code", index: null },
  "response.apply_patch_call_operation_diff": { field: "diff", index: null },
};
/** Only these have `content_part` events around them. */
const IN_CONTENT_PART = new Set(["response.output_text", "response.refusal", "response.reasoning"]);

export class ResponseStream {
  readonly #slots = new OutputSlots();
  #end: StreamEnd = { kind: "open" };
  #lastSequence = -1;
  #seen = 0;
  #responseId: string | undefined;
  #error: JsonObject | null = null;
  /** Where the last event put its text, if it was a piece of text and broke no rule. */
  #streaming: { readonly slot: Slot; readonly key: string; readonly field: string } | null = null;

  /** True when an event came. */
  get begun(): boolean {
    return this.#seen > 0;
  }

  /** True after a piece of text that broke no rule. */
  get isStreaming(): boolean {
    return this.#streaming !== null;
  }

  /** The next piece of the same text. False, and nothing happened, where it breaks a rule: then it must be taken as an event. */
  repeated(delta: string, sequence: number | null): boolean {
    const streaming = this.#streaming;
    if (streaming === null || (sequence !== null && sequence <= this.#lastSequence)) return false;
    if (sequence !== null) this.#lastSequence = sequence;
    this.#seen += 1;
    streaming.slot.addText(streaming.key, streaming.field, delta);
    return true;
  }

  get end(): StreamEnd {
    if (this.#end.kind === "open" && this.#error !== null) return { kind: "error", error: this.#error };
    return this.#end;
  }

  /** The items of the answer, each as the provider last wrote it. Items that were cut off are left out. */
  items(): readonly JsonObject[] {
    const final = this.#end.kind === "completed" || this.#end.kind === "incomplete" ? arrayOf(this.#end.response.output) : [];
    return this.#slots.items(final.filter(isObject));
  }

  /** Takes one event and says which rules it breaks. Events without meaning for the state are only counted. */
  accept(event: JsonObject): string[] {
    const errors: string[] = [];
    const type = textOf(event.type) ?? "";
    this.#streaming = null;
    this.#checkSequence(event, errors);
    if (this.#end.kind !== "open") errors.push(`[OR7] ${type} came after the response had ended`);
    if (this.#seen === 0 && !["response.created", "response.queued", "error"].includes(type)) {
      errors.push(`[OR2] the stream begins with ${type || "an event without type"}, not with response.created`);
    }
    if (this.#error !== null && type !== "response.failed") errors.push(`[OR11] ${type} came after error, not response.failed`);
    this.#seen += 1;
    if (RESPONSE_EVENTS.has(type)) this.#response(type, objectOf(event.response), errors);
    else if (type === "error") this.#error = isObject(event.error) ? event.error : event;
    else if (type === "response.output_item.added") this.#added(event, errors);
    else if (type === "response.output_item.done") this.#done(event, errors);
    else this.#inside(type, event, errors);
    return errors;
  }

  #checkSequence(event: JsonObject, errors: string[]): void {
    const sequence = numberOf(event.sequence_number);
    if (sequence === undefined) return;
    if (sequence <= this.#lastSequence) errors.push(`[OR1] sequence_number ${sequence} after ${this.#lastSequence}`);
    this.#lastSequence = Math.max(sequence, this.#lastSequence);
  }

  #response(type: string, response: JsonObject, errors: string[]): void {
    const id = textOf(response.id);
    if (this.#responseId !== undefined && id !== undefined && id !== this.#responseId) {
      errors.push(`[OR10] response id ${id} in the stream of ${this.#responseId}`);
    }
    this.#responseId ??= id;
    const status = textOf(response.status);
    if (status !== undefined && !STATUS_OF[type]?.includes(status)) errors.push(`[OR9] ${type} with status ${status}`);
    if (!TERMINAL_EVENTS.has(type) || this.#end.kind !== "open") return;
    if (type !== "response.failed") errors.push(...this.#slots.endErrors(type === "response.completed"));
    if (type === "response.completed") this.#end = { kind: "completed", response };
    else this.#end = { kind: type === "response.failed" ? "failed" : "incomplete", response };
  }

  #added(event: JsonObject, errors: string[]): void {
    const known = this.#slots.find(event);
    if (known !== undefined) errors.push(`[OR3] output_item.added twice for ${known.name}`);
    else this.#slots.add(event, objectOf(event.item));
  }

  #done(event: JsonObject, errors: string[]): void {
    const item = objectOf(event.item);
    let slot = this.#slots.find(event);
    if (slot === undefined) {
      errors.push("[OR3] output_item.done for an item that was never added");
      slot = this.#slots.add(event, item);
    }
    if (slot.done !== null) errors.push(`[OR5] output_item.done twice for ${slot.name}`);
    for (const part of slot.openParts) errors.push(`[OR4] ${slot.name} is done while its content part ${part} is open`);
    slot.openParts.clear();
    slot.done = item;
  }

  #inside(type: string, event: JsonObject, errors: string[]): void {
    if (event.item_id === undefined && event.output_index === undefined) return;
    const slot = this.#slots.find(event);
    if (slot === undefined) {
      errors.push(`[OR3] ${type} for an item that was never added`);
      return;
    }
    if (slot.done !== null) errors.push(`[OR5] ${type} after ${slot.name} was done`);
    const index = String(event.content_index ?? event.summary_index ?? "");
    if (type === "response.content_part.added") slot.openParts.add(index);
    else if (type === "response.content_part.done") {
      if (!slot.openParts.delete(index)) errors.push(`[OR4] content_part.done for part ${index}, which is not open`);
    } else this.#streamed(type, event, slot, errors);
  }

  #streamed(type: string, event: JsonObject, slot: Slot, errors: string[]): void {
    const dot = type.lastIndexOf(".");
    const [name, step] = [type.slice(0, dot), type.slice(dot + 1)];
    const rule = Object.hasOwn(STREAMED, name) ? STREAMED[name] : undefined;
    if (rule === undefined) return;
    const index = rule.index === null ? "" : String(event[rule.index] ?? 0);
    if (IN_CONTENT_PART.has(name) && !slot.openParts.has(index)) errors.push(`[OR4] ${type} outside a content part`);
    const key = `${name} ${index}`;
    if (step === "delta") {
      slot.addText(key, rule.field, textOf(event.delta) ?? "");
      if (errors.length === 0 && typeof event.delta === "string") this.#streaming = { slot, key, field: rule.field };
    } else if (step === "done") {
      const streamed = slot.textOf(key);
      const whole = textOf(event[rule.field]);
      if (whole !== undefined && streamed !== null && streamed !== whole)
        errors.push(`[OR6] the deltas of ${name} do not add up`);
    }
  }
}
