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
  readonly named: boolean;

  constructor(options: AnnotatorOptions = { named: true }) {
    this.named = options.named;
  }

  /** Null for a block without data. */
  annotate({ bytes, data: text, event: event_name, oversize }: SseBlock): ReceivedEvent | null {
    if (text === null) return null;
    const unread = (status: "done" | "invalid_json", errors: readonly string[]): ReceivedEvent => ({
      status,
      event_name,
      data: null,
      raw: text,
      errors,
      response_errors: NONE,
      bytes,
      text,
    });
    if (oversize !== null)
      return unread("invalid_json", [`the event has ${oversize} bytes, over the limit: only its beginning was kept`]);
    if (text.length < MARK_CHARS && text.trim() === "[DONE]") return unread("done", NONE);
    const data = parseJson(text);
    if (!isObject(data))
      return unread("invalid_json", [
        data === undefined ? "the payload is not JSON, or nested too deeply" : "the payload is not a JSON object",
      ]);
    const errors = this.#errors(event_name, data);
    return { status: "event", event_name, data, raw: null, errors, response_errors: responseErrors(data), bytes, text };
  }

  /** Most events have none: nothing is copied for them. */
  #errors(name: string | null, data: JsonObject): readonly string[] {
    const byName = this.#nameErrors(name, data);
    const bySchema = eventErrors(data);
    const byState = this.stream.accept(data);
    return byName.length + bySchema.length + byState.length === 0 ? NONE : [...byName, ...bySchema, ...byState];
  }

  #nameErrors(name: string | null, data: JsonObject): readonly string[] {
    if (!this.named || name === data.type) return NONE;
    return [name === null ? "there is no event: field" : `event: ${name}, but the payload's type is ${String(data.type)}`];
  }
}

const NONE: readonly string[] = [];
/** The mark of the end, with room for spaces around it. */
const MARK_CHARS = 64;
