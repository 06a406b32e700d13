/**
 * Gives an event its envelope and its place in the sequence, serializes it once, hands it to the sink and applies it to the session's projection. What it
 * means is known to the projection alone.
 */
import { type EnvelopeFacts, type EventText, eventJson, type Shape, shapeOf } from "../schema/envelope.ts";
import type { DeltaNature, DeltaPartType, EventDataOf, EventType } from "../schema/event-data.ts";
import type { ProjectedEvent } from "../schema/projection/event.ts";
import type { GrowingItem } from "../schema/projection/growing-item.ts";
import { SessionProjection } from "../schema/projection/session-projection.ts";
import type { IdSource } from "./ids.ts";
import { SNAPSHOT_EVERY } from "./snapshots.ts";

/** One serialized event on its way into the log. */
export type LogEntry = { text: EventText; sequence: number; type: EventType; native: number | null; sync: boolean };

/** The event as clients get it. */
export const jsonOf = ({ text, sequence }: Pick<LogEntry, "text" | "sequence">): string => eventJson(text, sequence);

export interface EventSink {
  append(entry: LogEntry): void;
}

/** A part that deltas go to. Keep the object as long as it holds: the shape of its events is made once. */
export type StreamedPart = {
  item: GrowingItem;
  index: number;
  type: DeltaPartType;
  nature: DeltaNature;
  /** The JSON of the delta's data up to the text itself. */
  head: string;
};

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
  "message.queued",
  "message.updated",
  "message.removed",
]);

export class EventWriter {
  readonly #sessionId: string;
  readonly #sink: EventSink;
  readonly #ids: IdSource;
  readonly #clock: () => string;
  readonly #onMilestone: (() => void) | undefined;
  /** The session after everything that was written. */
  readonly projection: SessionProjection;
  /** The native message that is being written: what the daemon does because of it has it as its raw message too. */
  cause: number | null = null;
  #nativeSessionId: string | null = null;
  /** The shapes of the last events: the same for thousands in a row. */
  #plain: { type: EventType; source: Origin["source"]; shape: Shape } | null = null;
  #delta: { part: StreamedPart; source: Origin["source"]; shape: Shape } | null = null;

  constructor(options: {
    sessionId: string;
    sink: EventSink;
    ids: IdSource;
    clock: () => string;
    /** Of what was written before; absent for a new session. */
    projection?: SessionProjection;
    nativeSessionId?: string | null;
    /** Called after every event whose sequence is a multiple of SNAPSHOT_EVERY. */
    onMilestone?: () => void;
  }) {
    this.#sessionId = options.sessionId;
    this.#sink = options.sink;
    this.#ids = options.ids;
    this.#clock = options.clock;
    this.#onMilestone = options.onMilestone;
    this.projection = options.projection ?? new SessionProjection();
    this.nativeSessionId = options.nativeSessionId ?? null;
  }

  get sessionId(): string {
    return this.#sessionId;
  }

  get sequence(): number {
    return this.projection.sequence;
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
    const time = this.#clock();
    const sequence = this.#append(type, known.shape, JSON.stringify(data), time, origin.native ?? this.cause, SYNCED.has(type));
    this.projection.apply({ type, data, sequence, time, native_session_id: this.#nativeSessionId } as ProjectedEvent);
    if (sequence % SNAPSHOT_EVERY === 0) this.#onMilestone?.();
    return sequence;
  }

  /** A delta, the most frequent event by far: one list gets longer, nothing is copied. */
  emitDelta(part: StreamedPart, delta: string, origin: Origin): number {
    const { source } = origin;
    let known = this.#delta;
    if (known?.part !== part || known.source !== source) {
      known = { part, source, shape: shapeOf(this.#facts("item.delta", source), part.head) };
      this.#delta = known;
    }
    const time = this.#clock();
    const sequence = this.#append("item.delta", known.shape, JSON.stringify(delta), time, origin.native, false);
    part.item.grow(part.index, part.type, delta, part.nature.visibility);
    this.projection.grown(sequence, time);
    if (sequence % SNAPSHOT_EVERY === 0) this.#onMilestone?.();
    return sequence;
  }

  #append(type: EventType, shape: Shape, value: string, time: string, native: number | null, sync: boolean): number {
    const sequence = this.projection.sequence + 1;
    const { head, counter } = this.#ids.nextEvent();
    this.#sink.append({ text: { head, counter, time, shape, value }, sequence, type, native, sync });
    return sequence;
  }

  #facts(type: EventType, source: Origin["source"]): EnvelopeFacts {
    return { sessionId: this.#sessionId, nativeSessionId: this.#nativeSessionId, source, type };
  }
}
