/**
 * One stream as frames. Every event is one frame, and every event of a provider one more, so that `seq` counts from 0 without a gap; what has no frame type
 * of its own is a `provider_event`: nothing is dropped. The first frame says with what the session was begun, so that the frames before the first message
 * are held back until it is there.
 */

import type { DialectEvent, DialectLine, DialectReader, DialectStream, ProviderEvent } from "../../schema/dialect.ts";
import type { EventOf, UniversalEvent } from "../../schema/event.ts";
import type { Frame, FramePayload } from "./frame.ts";
import { plainPayload, taskPayload } from "./payload.ts";
import { ToolCalls } from "./tool-calls.ts";
import { uuidOf } from "./uuid.ts";

/** Items whose role is remembered for their deltas. */
const MAX_ITEMS = 2_000;

type Said = { payload: FramePayload; event: UniversalEvent; seq: number; id: string };

export class FramesReader implements DialectReader {
  readonly #stream: DialectStream;
  readonly #tools = new ToolCalls();
  /** Items in progress whose text is not the agent's. */
  readonly #notAnswers = new Set<string>();
  /** The agent, as `session.started` named it. */
  #agent = "dragoman";
  /** Until the first message is known: the frames before it. */
  #held: Said[] | null;
  /** Frames of a provider's events so far. */
  #provided = 0;

  constructor(stream: DialectStream) {
    this.#stream = stream;
    this.#held = stream.kind === "session" ? [] : null;
  }

  remember(event: DialectEvent): void {
    this.#take(event);
  }

  lines(event: DialectEvent): DialectLine[] {
    return this.#take(event).map(({ payload, event: of, seq, id }) => ({
      type: payload.type,
      json: JSON.stringify(this.#framed(payload, of, seq, id)),
    }));
  }

  #take(taken: DialectEvent): Said[] {
    const event = JSON.parse(taken.json) as UniversalEvent;
    const said: Said[] = [];
    for (const [index, provided] of (taken.provider ?? []).entries()) {
      const id = uuidOf(`${event.event_id}/${index}`);
      said.push({ payload: { type: "provider_event", ...provided }, event, seq: this.#seq(event), id });
      this.#provided++;
    }
    said.push({ payload: this.#payload(event, taken), event, seq: this.#seq(event), id: uuidOf(event.event_id) });
    return this.#released(event, said);
  }

  #seq({ sequence }: UniversalEvent): number {
    return sequence - 1 + this.#provided;
  }

  #released(event: UniversalEvent, said: Said[]): Said[] {
    if (this.#held === null) return said;
    const input = inputOf(event);
    // A reader that was shown only what came later has missed the beginning, not what the session began with.
    if (input === null && (this.#held.length > 0 || event.sequence === 1)) {
      this.#held.push(...said);
      return [];
    }
    const [first, ...rest] = this.#held;
    this.#held = null;
    if (first?.payload.type !== "session_started") return [...(first ? [first] : []), ...rest, ...said];
    return [{ ...first, payload: { type: "session_started", input: input ?? "" } }, ...rest, ...said];
  }

  #framed(payload: FramePayload, event: UniversalEvent, seq: number, id: string): Frame {
    const { kind, version } = this.#stream;
    const stream_id = this.#stream.id;
    const timestamp_ms = Date.parse(event.time);
    if (version === 1) return { id, session_id: uuidOf(stream_id), seq, timestamp_ms, ...payload };
    const alias = kind === "session" ? { session_id: stream_id } : {};
    return { id, stream_kind: kind, stream_id, ...alias, seq, timestamp_ms, ...payload };
  }

  #payload(event: UniversalEvent, taken: DialectEvent): FramePayload {
    switch (event.type) {
      case "session.started": {
        const { agent } = event.data.metadata;
        if (typeof agent === "string") this.#agent = agent;
        return { type: "session_started", input: "" };
      }
      case "session.ended":
        return { type: "session_ended", reason: event.data.reason };
      case "item.started":
      case "item.updated":
      case "item.completed":
        this.#remember(event);
        return this.#tools.take(event) ?? this.#providerEvent(event, taken);
      case "item.delta":
        return this.#delta(event) ?? this.#providerEvent(event, taken);
      case "permission.requested":
      case "permission.resolved":
        this.#tools.permission(event);
        return this.#providerEvent(event, taken);
      default:
        return (
          plainPayload(event) ??
          (this.#stream.kind === "task" ? taskPayload(event) : undefined) ??
          this.#providerEvent(event, taken)
        );
    }
  }

  #remember({ type, data: { item } }: EventOf<"item.started"> | EventOf<"item.updated"> | EventOf<"item.completed">): void {
    if (type === "item.completed") return void this.#notAnswers.delete(item.item_id);
    if (item.kind === "message" && item.role === "assistant") return;
    this.#notAnswers.add(item.item_id);
    if (this.#notAnswers.size > MAX_ITEMS) for (const oldest of this.#notAnswers) return void this.#notAnswers.delete(oldest);
  }

  #delta(event: EventOf<"item.delta">): FramePayload | undefined {
    const { part_type, item_id, delta } = event.data;
    if (part_type === "text" && !this.#notAnswers.has(item_id)) return { type: "output_text_delta", delta };
    return this.#tools.output(event);
  }

  #providerEvent(event: UniversalEvent, { native }: DialectEvent): FramePayload {
    const invalid = event.type === "agent.unparsed" && native !== null && native !== undefined && !isJson(native.text);
    const status: ProviderEvent["status"] = invalid ? "invalid_json" : event.type === "turn.ended" ? "done" : "event";
    return {
      type: "provider_event",
      provider: event.source === "daemon" && event.type !== "agent.unparsed" ? "dragoman" : this.#agent,
      status,
      event_name: event.type,
      data: event.data,
      raw: rawOf(event, native, invalid),
      errors: event.type === "agent.unparsed" ? [event.data.error] : [],
      response_errors: [],
    };
  }
}

/** The text that began the session; empty when it began without one; null as long as nothing began. */
function inputOf(event: UniversalEvent): string | null {
  switch (event.type) {
    case "message.queued":
      return event.data.text;
    case "item.started":
    case "item.completed": {
      const { item } = event.data;
      if (item.role !== "user") return "";
      if (event.type === "item.started") return null;
      return item.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
    }
    case "turn.ended":
    case "session.ended":
      return "";
    default:
      return null;
  }
}

/** The native message where the data does not say it, and where it was asked for. */
function rawOf(event: UniversalEvent, native: DialectEvent["native"], invalid: boolean): string | null {
  if (event.raw !== null && event.raw !== undefined) return typeof event.raw === "string" ? event.raw : JSON.stringify(event.raw);
  return invalid && native?.shown ? native.text : null;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
