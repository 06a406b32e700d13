/**
 * A block of the stream as a provider event: the shape that event frames carry. Each block with data gives exactly one, whatever it contains. Comments give
 * none: they are heartbeats.
 */
import { isObject, type JsonObject, parseJson } from "./json.ts";
import type { SseBlock } from "./sse-reader.ts";
import { ResponseStream } from "./state-machine.ts";
import { eventErrors, responseErrors } from "./validate.ts";

/** One event of a provider, with everything that is wrong with it. */
export interface ProviderEvent {
  /** `done` is the `[DONE]` mark, `invalid_json` anything that is no JSON object. */
  readonly status: "event" | "done" | "invalid_json";
  /** The `event:` field; null when there was none. */
  readonly event_name: string | null;
  /** The parsed payload; null unless `status` is `event`. */
  readonly data: JsonObject | null;
  /** The payload as text, where `data` does not say it. */
  readonly raw: string | null;
  /** What the schema, the state machine and the event's name are broken by. */
  readonly errors: readonly string[];
  /** What the response resource lacks. */
  readonly response_errors: readonly string[];
}

/** A provider event and the bytes it came in. */
export interface ReceivedEvent extends ProviderEvent {
  readonly bytes: Buffer;
  /** The payload verbatim, never serialised again. */
  readonly text: string;
}

export interface AnnotatorOptions {
  /** Messages of a WebSocket have no `event:` field. */
  readonly named: boolean;
}

/** Annotates the events of one stream, in order. */
export class Annotator {
  readonly stream = new ResponseStream();
  readonly #named: boolean;

  constructor(options: AnnotatorOptions = { named: true }) {
    this.#named = options.named;
  }

  /** Null for a block without data. */
  annotate(block: SseBlock): ReceivedEvent | null {
    if (block.data === null) return null;
    const base = { bytes: block.bytes, text: block.data, event_name: block.event, response_errors: [] };
    if (block.oversize !== null) {
      const errors = [`the event has ${block.oversize} bytes, over the limit: only its beginning was kept`];
      return { ...base, status: "invalid_json", data: null, raw: block.data, errors };
    }
    if (block.data.trim() === "[DONE]") return { ...base, status: "done", data: null, raw: block.data, errors: [] };
    const data = parseJson(block.data);
    if (!isObject(data)) {
      const errors = [data === undefined ? "the payload is not JSON" : "the payload is not a JSON object"];
      return { ...base, status: "invalid_json", data: null, raw: block.data, errors };
    }
    const errors = [...this.#nameErrors(block.event, data), ...eventErrors(data), ...this.stream.accept(data)];
    return { ...base, status: "event", data, raw: null, errors, response_errors: responseErrors(data) };
  }

  #nameErrors(name: string | null, data: JsonObject): string[] {
    if (!this.#named || name === data.type) return [];
    return [name === null ? "there is no event: field" : `event: ${name}, but the payload's type is ${String(data.type)}`];
  }
}
