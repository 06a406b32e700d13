/**
 * One stream as frames. Every event is one frame, so that `seq` counts from 0 without a gap; what has no frame type of its own is a `provider_event`: nothing
 * is dropped. Where the stream is read with its ledger, its rows are frames too, and an event that its row has reported is none; then frames are counted. The first
 * frame says with what the session was begun, so that the frames before the first message are held back until it is there.
 */

import type {
  DialectEvent,
  DialectLine,
  DialectReader,
  DialectStream,
  LedgerFrame,
  LedgerRow,
  ProviderEvent,
} from "../../schema/dialect.ts";
import type { EventOf, UniversalEvent } from "../../schema/event.ts";
import type { FrameEnvelope, FramePayload } from "./frame.ts";
import { plainPayload, taskPayload } from "./payload.ts";
import { CUT_OFF, ToolCalls } from "./tool-calls.ts";
import { uuidOf } from "./uuid.ts";

/** Items whose role is remembered for their deltas. */
const MAX_ITEMS = 2_000;

type Said = { payload: FramePayload | LedgerFrame; time_ms: number; seq: number; id: string; ofLedger: boolean };

export class FramesReader implements DialectReader {
  readonly #stream: DialectStream;
  readonly #tools = new ToolCalls();
  /** Items in progress whose text is not the agent's. */
  readonly #notAnswers = new Set<string>();
  /** Tools of the ledger that have not ended. */
  readonly #running = new Set<string>();
  /** The agent, as `session.started` named it. */
  #agent = "dragoman";
  /** Until the first message is known: the frames before it. */
  #held: Said[] | null;
  /** Frames so far, where they are counted; without a ledger their number is the event's. */
  #count: number;

  constructor(stream: DialectStream) {
    this.#stream = stream;
    this.#count = stream.from ?? 0;
    this.#held = stream.kind === "session" && this.#count === 0 ? [] : null;
  }

  get place(): number | null {
    return this.#held === null && this.#running.size === 0 ? this.#count : null;
  }

  remember(event: DialectEvent): void {
    this.#take(event);
  }

  lines(event: DialectEvent): DialectLine[] {
    return this.#take(event).map((said) => {
      const line = { type: said.payload.type, json: this.#json(said) };
      return said.ofLedger ? { ...line, ofLedger: true } : line;
    });
  }

  #take(taken: DialectEvent): Said[] {
    const said = (taken.rows ?? []).flatMap((row) => this.#rowFrames(row));
    if (taken.told) return this.#released(null, said);
    const event = JSON.parse(taken.json) as UniversalEvent;
    if (event.type === "session.ended") said.push(...this.#cutOff(event));
    const seq = this.#stream.from === undefined ? event.sequence - 1 : this.#count++;
    const payload = this.#payload(event, taken);
    said.push({ payload, time_ms: Date.parse(event.time), seq, id: uuidOf(event.event_id), ofLedger: false });
    return this.#released(event, said);
  }

  #rowFrames({ native_seq, time_ms, frames }: LedgerRow): Said[] {
    return frames.map((frame, index) => {
      const payload = "tool_id" in frame ? { ...frame, tool_id: this.#toolId(frame.tool_id) } : frame;
      if (payload.type === "tool_started") this.#running.add(payload.tool_id);
      if (payload.type === "tool_ended" || payload.type === "tool_failed") this.#running.delete(payload.tool_id);
      return { payload, time_ms, seq: this.#count++, id: uuidOf(`${this.#stream.id}/${native_seq}/${index}`), ofLedger: true };
    });
  }

  /** The ledger counts calls by request and place: unique in its session. */
  #toolId(key: string): string {
    return uuidOf(`${this.#stream.id}/tool/${key}`);
  }

  /** A session that is over has no running tool. */
  #cutOff(event: UniversalEvent): Said[] {
    const cut = [...this.#running];
    this.#running.clear();
    return cut.map((tool_id) => ({
      payload: { type: "tool_failed", tool_id, error: CUT_OFF },
      time_ms: Date.parse(event.time),
      seq: this.#count++,
      id: uuidOf(`${event.event_id}/${tool_id}`),
      ofLedger: true,
    }));
  }

  #released(event: UniversalEvent | null, said: Said[]): Said[] {
    if (this.#held === null) return said;
    const input = event === null ? null : inputOf(event);
    // A reader that was shown only what came later has missed the beginning, not what the session began with.
    if (input === null && (this.#held.length > 0 || event === null || event.sequence === 1)) {
      this.#held.push(...said);
      return [];
    }
    const [first, ...rest] = this.#held;
    this.#held = null;
    if (first?.payload.type !== "session_started") return [...(first ? [first] : []), ...rest, ...said];
    return [{ ...first, payload: { type: "session_started", input: input ?? "" } }, ...rest, ...said];
  }

  #json({ payload, seq, id, time_ms }: Said): string {
    const { kind, version } = this.#stream;
    const stream_id = this.#stream.id;
    const alias = kind === "session" ? { session_id: stream_id } : {};
    const envelope: FrameEnvelope =
      version === 1
        ? { id, session_id: uuidOf(stream_id), seq, timestamp_ms: time_ms }
        : { id, stream_kind: kind, stream_id, ...alias, seq, timestamp_ms: time_ms };
    if (payload.type !== "provider_event" || typeof payload.data !== "string") return JSON.stringify({ ...envelope, ...payload });
    // The provider's JSON goes on as it came: numbers, keys and their order are its own.
    const { data, raw, errors, response_errors, ...before } = payload;
    const start = JSON.stringify({ ...envelope, ...before });
    const rest = JSON.stringify({ raw, errors, response_errors });
    return `${start.slice(0, -1)},"data":${data},${rest.slice(1)}`;
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
        if (this.#stream.from !== undefined) return this.#providerEvent(event, taken);
        return this.#tools.take(event) ?? this.#providerEvent(event, taken);
      case "item.delta":
        if (this.#stream.from !== undefined) return this.#providerEvent(event, taken);
        return this.#delta(event) ?? this.#providerEvent(event, taken);
      case "permission.requested":
      case "permission.resolved":
        this.#tools.permission(event);
        return this.#providerEvent(event, taken);
      default:
        return (
          plainPayload(event) ??
          (this.#stream.kind === "task" ? taskPayload(event, this.#stream.version === 1 ? uuidOf : unchanged) : undefined) ??
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

const unchanged = (id: string): string => id;

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
