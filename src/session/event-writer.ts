// Gives an event its envelope and its place in the sequence, serializes it once and hands it to the sink. Knows nothing of what events mean.
import { type EnvelopeFacts, type EventText, eventJson, type Shape, shapeOf } from "../schema/envelope.ts";
import type { EventDataOf, EventType } from "../schema/event-data.ts";
import type { IdSource } from "./ids.ts";

/** One serialized event on its way into the log. */
export type LogEntry = { text: EventText; sequence: number; type: EventType; native: number | null; sync: boolean };

/** The event as clients get it. */
export const jsonOf = ({ text, sequence }: Pick<LogEntry, "text" | "sequence">): string => eventJson(text, sequence);

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
  readonly #sink: EventSink;
  readonly #ids: IdSource;
  readonly #clock: () => string;
  #sequence: number;
  #nativeSessionId: string | null = null;
  /** The shapes of the last events: the same for thousands in a row. */
  #plain: { type: EventType; source: Origin["source"]; shape: Shape } | null = null;
  #delta: { head: string; source: Origin["source"]; shape: Shape } | null = null;

  constructor(options: {
    sessionId: string;
    sink: EventSink;
    ids: IdSource;
    clock: () => string;
    sequence?: number;
    nativeSessionId?: string | null;
  }) {
    this.#sessionId = options.sessionId;
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
    this.#plain = null;
    this.#delta = null;
  }

  get ids(): IdSource {
    return this.#ids;
  }

  now(): string {
    return this.#clock();
  }

  emit<T extends EventType>(type: T, data: EventDataOf[T], origin: Origin): number {
    const { source } = origin;
    let known = this.#plain;
    if (known?.type !== type || known.source !== source) {
      known = { type, source, shape: shapeOf(this.#facts(type, source)) };
      this.#plain = known;
    }
    return this.#append(type, known.shape, JSON.stringify(data), origin);
  }

  /** A delta, the most frequent event by far: `head` is the JSON of its data up to the text, made once per part. */
  emitDelta(head: string, delta: string, origin: Origin): number {
    const { source } = origin;
    let known = this.#delta;
    if (known?.head !== head || known.source !== source) {
      known = { head, source, shape: shapeOf(this.#facts("item.delta", source), head) };
      this.#delta = known;
    }
    return this.#append("item.delta", known.shape, JSON.stringify(delta), origin);
  }

  #append(type: EventType, shape: Shape, value: string, { native }: Origin): number {
    const sequence = this.#sequence + 1;
    const { head, counter } = this.#ids.nextEvent();
    const text = { head, counter, time: this.#clock(), shape, value };
    this.#sink.append({ text, sequence, type, native, sync: SYNCED.has(type) });
    this.#sequence = sequence;
    return sequence;
  }

  #facts(type: EventType, source: Origin["source"]): EnvelopeFacts {
    return { sessionId: this.#sessionId, nativeSessionId: this.#nativeSessionId, source, type };
  }
}
