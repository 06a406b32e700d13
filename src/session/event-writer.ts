// Gives an event its envelope and its place in the sequence, serializes it once and hands it to the sink. Knows nothing of what events mean.
import type { EventDataOf, EventType } from "../schema/event-data.ts";
import type { IdSource } from "./ids.ts";

/** One serialized event on its way into the log. */
export type LogEntry = { json: string; sequence: number; type: EventType; native: number | null; sync: boolean };

export interface EventSink {
  append(entry: LogEntry): void;
}

/** Who says it: the agent itself, or the daemon on its behalf. */
export type Origin = { source: "agent" | "daemon"; native: number | null };

export const BY_DAEMON: Origin = { source: "daemon", native: null };

/** Events that are fsynced before anyone sees them: what a person decided, and where a session begins and ends. */
const SYNCED: ReadonlySet<EventType> = new Set<EventType>([
  "session.started",
  "session.ended",
  "permission.requested",
  "permission.resolved",
  "question.requested",
  "question.resolved",
  "turn.started",
]);

export class EventWriter {
  readonly #sessionId: string;
  readonly #sessionIdJson: string;
  readonly #sink: EventSink;
  readonly #ids: IdSource;
  readonly #clock: () => string;
  #sequence: number;
  #nativeSessionId: string | null = null;
  #nativeJson = "null";
  #last: { type: EventType | null; source: Origin["source"]; text: string } = { type: null, source: "agent", text: "" };

  constructor(options: {
    sessionId: string;
    sink: EventSink;
    ids: IdSource;
    clock: () => string;
    sequence?: number;
    nativeSessionId?: string | null;
  }) {
    this.#sessionId = options.sessionId;
    this.#sessionIdJson = JSON.stringify(options.sessionId);
    this.#sink = options.sink;
    this.#ids = options.ids;
    this.#clock = options.clock;
    this.#sequence = options.sequence ?? 0;
    this.nativeSessionId = options.nativeSessionId ?? null;
  }

  get sessionId(): string {
    return this.#sessionId;
  }

  get sequence(): number {
    return this.#sequence;
  }

  get nativeSessionId(): string | null {
    return this.#nativeSessionId;
  }

  set nativeSessionId(id: string | null) {
    this.#nativeSessionId = id;
    this.#nativeJson = JSON.stringify(id);
    this.#last = { type: null, source: "agent", text: "" };
  }

  get ids(): IdSource {
    return this.#ids;
  }

  now(): string {
    return this.#clock();
  }

  emit<T extends EventType>(type: T, data: EventDataOf[T], origin: Origin): number {
    return this.#append(type, JSON.stringify(data), origin);
  }

  /** A delta, the most frequent event by far: `head` is the JSON of its data up to the text, made once per part. */
  emitDelta(head: string, delta: string, origin: Origin): number {
    return this.#append("item.delta", `${head}${JSON.stringify(delta)}}`, origin);
  }

  #append(type: EventType, dataJson: string, origin: Origin): number {
    const sequence = this.#sequence + 1;
    const json = `{"event_id":"${this.#ids.next("evt")}","sequence":${sequence},"time":"${this.#clock()}${this.#middle(type, origin.source)}${dataJson},"raw":null}`;
    this.#sink.append({ json, sequence, type, native: origin.native, sync: SYNCED.has(type) });
    this.#sequence = sequence;
    return sequence;
  }

  /** What stands between the time and the data: the same for thousands of events in a row, so it is put together once. */
  #middle(type: EventType, source: Origin["source"]): string {
    if (type === this.#last.type && source === this.#last.source) return this.#last.text;
    const synthetic = source === "daemon";
    const text = `","session_id":${this.#sessionIdJson},"native_session_id":${this.#nativeJson},"synthetic":${synthetic},"source":"${source}","type":"${type}","data":`;
    this.#last = { type, source, text };
    return text;
  }
}
