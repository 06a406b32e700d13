/**
 * The bytes of an event's envelope: how one is written, and what can be read from one without parsing it. No other file knows this layout. An event is one
 * line of JSON, and ends with an empty `raw`.
 */
import type { EventSource } from "./event.ts";

/** What many events in a row have in common. Compared by identity: keep the object as long as it holds. */
export type Shape = { readonly before: string; readonly after: string };

/** An event in parts, of which neighbours share most. JSON as `JSON.stringify` writes it: without tabs and line ends. */
export type EventParts = { head: string; counter: string; time: string; shape: Shape; value: string };

/** An event as it is sent: one line of JSON, in full or in parts. */
export type EventText = string | EventParts;

/** Characters of an envelope beside its shape and value, about. */
export const ENVELOPE_CHARS = 96;

const NO_RAW = '"raw":null}';

export const charsOf = (text: EventText): number =>
  ENVELOPE_CHARS +
  (typeof text === "string" ? text.length : text.shape.before.length + text.value.length + text.shape.after.length);

/**
 * Makes events in full of their parts. Here and nowhere else the parts become an envelope. What neighbours have in common is joined once: keep one for events
 * in a row.
 */
export class EnvelopeJoiner {
  #head: string | undefined;
  #time: string | undefined;
  #shape: Shape | undefined;
  #start = "";
  #middle = "";

  join(head: string, counter: string, sequence: number, time: string, shape: Shape, value: string): string {
    if (head !== this.#head) {
      this.#head = head;
      this.#start = `{"event_id":"${head}`;
    }
    if (time !== this.#time || shape !== this.#shape) {
      this.#time = time;
      this.#shape = shape;
      this.#middle = `,"time":"${time}${shape.before}`;
    }
    return `${this.#start}${counter}","sequence":${sequence}${this.#middle}${value}${shape.after}`;
  }
}

export const eventJson = (text: EventText, sequence: number): string =>
  typeof text === "string"
    ? text
    : new EnvelopeJoiner().join(text.head, text.counter, sequence, text.time, text.shape, text.value);

export type EnvelopeFacts = { sessionId: string; nativeSessionId: string | null; source: EventSource; type: string };

/** The shape of events of one type. `dataHead`: the JSON of their data up to the value, when only its end differs from event to event. */
export function shapeOf({ sessionId, nativeSessionId, source, type }: EnvelopeFacts, dataHead?: string): Shape {
  const facts = `","session_id":${JSON.stringify(sessionId)},"native_session_id":${JSON.stringify(nativeSessionId)},"synthetic":${source === "daemon"},"source":"${source}"`;
  return {
    before: `${facts},"type":"${type}","data":${dataHead ?? ""}`,
    after: dataHead === undefined ? `,${NO_RAW}` : `},${NO_RAW}`,
  };
}

/** The same event with its native message, which is given as JSON. */
export const withRaw = (json: string, raw: string): string =>
  json.endsWith(NO_RAW) ? `${json.slice(0, -NO_RAW.length)}"raw":${raw}}` : json;

/** Whether the event names this turn. Only for events that have one: `turn.started` and `turn.ended`. */
export const namesTurn = (json: string, turnId: string): boolean => json.includes(`"turn_id":${JSON.stringify(turnId)}`);

/** Whether the event is of this type, or of a group of types when `type` ends with a dot. May be true for others, which quote one. */
export const mayBeOfType = (json: string, type: string): boolean =>
  json.includes(type.endsWith(".") ? `"type":"${type}` : `"type":"${type}"`);

const SESSION = /"session_id":"([^"]*)"/;

export const sessionIdOf = (json: string): string => SESSION.exec(json)?.[1] ?? "";
