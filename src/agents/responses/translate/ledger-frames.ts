/**
 * The ledger of a session of ours as event frames: one `provider_event` for every event of the provider's stream, with everything that is wrong with it, and the
 * frames of the tools as they ran. Pure: the same ledger gives the same frames, while it grows and when it is read again.
 */
import { parseJson } from "../../../openresponses/json.ts";
import { Annotator, type ReceivedEvent } from "../../../openresponses/provider-event.ts";
import { readFields, type SseFields } from "../../../openresponses/sse-reader.ts";
import { callsOf, keptItems, type ModelCall } from "../../../runtime/input-items.ts";
import type { LedgerFrame, LedgerReader } from "../../../schema/dialect.ts";
import type { LedgerDirection } from "../../../schema/native.ts";
import { isRecord, str } from "../../json.ts";
import type { Spoken } from "./wire.ts";
import { isSpoken } from "./wire-check.ts";

const PROVIDER = "openresponses";
/** No command can have it. */
const UNKNOWN_EXIT = -1;

export class ResponsesLedger implements LedgerReader {
  #annotator = new Annotator();
  /** The model's summary is no output of the session. */
  #shown = true;
  readonly #calls = new Map<string, { call: ModelCall; begun: boolean }>();

  /** Between a request and its answer nothing is pending but calls. */
  get clean(): boolean {
    return this.#shown && this.#calls.size === 0 && !this.#annotator.stream.begun;
  }

  frames({ dir, text }: { dir: LedgerDirection; text: string }): LedgerFrame[] {
    if (dir === "sse") return this.#received(text);
    if (dir !== "out") return [];
    const said = parseJson(text);
    return isSpoken(said) ? this.#said(said) : [];
  }

  #received(text: string): LedgerFrame[] {
    const fields = fieldsOf(text);
    if (fields === null) return [cutFrame(text)];
    // A message of a WebSocket has no name that could differ from its type.
    const named = fields.data !== text;
    if (!this.#annotator.stream.begun && this.#annotator.named !== named) this.#annotator = new Annotator({ named });
    const event = this.#annotator.annotate({ ...fields, bytes: EMPTY, oversize: null });
    if (event === null) return [];
    const frame = providerFrame(event);
    if (!this.#shown || event.data?.type !== "response.output_text.delta") return [frame];
    return [frame, { type: "output_text_delta", delta: str(event.data.delta) ?? "" }];
  }

  #said(spoken: Spoken): LedgerFrame[] {
    switch (spoken.type) {
      case "turn.started":
        // Calls that an earlier turn left without an outcome will have none.
        this.#calls.clear();
        this.#annotator = new Annotator();
        return [];
      case "request.sent":
        this.#annotator = new Annotator();
        this.#shown = spoken.purpose === "step";
        return [];
      case "response.ended":
        for (const call of callsOf({ kind: "response", ...spoken, items: keptItems(spoken.items, spoken.n) })) this.#know(call);
        return [];
      case "session.resumed":
        for (const { key, call_id, name, input } of spoken.calls) this.#know({ key, call_id, name, input, custom: false });
        return [];
      case "call.started":
        return this.#started(spoken.call, spoken.timeout_ms);
      case "call.output":
        return [{ type: spoken.stream === "stdout" ? "tool_stdout" : "tool_stderr", tool_id: spoken.call, chunk: spoken.chunk }];
      case "call.finished":
        return this.#finished(spoken);
      default:
        return [];
    }
  }

  #know(call: ModelCall): void {
    if (!this.#calls.has(call.key)) this.#calls.set(call.key, { call, begun: false });
  }

  /** `timeout`: undefined in a journal that does not say it, and for a call that never ran. */
  #started(key: string, timeout?: number | null): LedgerFrame[] {
    const known = this.#calls.get(key) ?? this.#streamed(key);
    if (known === undefined || known.begun) return [];
    known.begun = true;
    const args = argumentsOf(known.call);
    const asked = Number.isSafeInteger(args.timeout_ms) && Number(args.timeout_ms) >= 0 ? Number(args.timeout_ms) : null;
    return [
      { type: "tool_started", tool_id: key, name: known.call.name, args, timeout_ms: timeout === undefined ? asked : timeout },
    ];
  }

  /** A call that only reads starts while its answer is streamed. */
  #streamed(key: string): { call: ModelCall; begun: boolean } | undefined {
    const [n = "0", attempt = "0"] = key.split(".");
    const items = keptItems(this.#annotator.stream.items(), Number(n));
    for (const call of callsOf({ kind: "response", n: Number(n), attempt: Number(attempt), items })) this.#know(call);
    return this.#calls.get(key);
  }

  /** A call that was refused before it ran starts and fails at once: it was asked for, and it has an outcome. */
  #finished(record: Extract<Spoken, { type: "call.finished" }>): LedgerFrame[] {
    const { call: tool_id, is_error, exit_code, duration_ms } = record;
    const before = this.#calls.get(tool_id)?.begun ? [] : this.#started(tool_id);
    // A command without an exit code goes on as a task: how it ends is in the stream of that.
    const unknown = this.#calls.get(tool_id)?.call.name === "bash" ? UNKNOWN_EXIT : 0;
    this.#calls.delete(tool_id);
    const output = typeof record.output === "string" ? record.output : textsOf(record.output);
    if (is_error && exit_code === null) {
      const error = output.trim() === "" ? "The tool failed; it gave no reason." : output;
      return [...before, { type: "tool_failed", tool_id, error }];
    }
    const parts = typeof record.output === "string" ? [] : record.output;
    const artifacts = { artifact_refs: record.artifacts.map((artifact_id) => ({ artifact_id })), parts, output };
    return [...before, { type: "tool_ended", tool_id, exit_code: exit_code ?? unknown, duration_ms, artifacts }];
  }
}

const EMPTY = new Uint8Array(0) as Buffer;

/** A block of an event stream, or a message of a WebSocket, which is JSON alone; null for a block without its end. */
function fieldsOf(text: string): SseFields | null {
  if (/[\r\n][\r\n]$/.test(text)) return readFields(text);
  return isMessage(text) ? { event: null, data: text, id: null, comments: [] } : null;
}

const isMessage = (text: string): boolean => text.startsWith("{");

/** The stream stopped inside an event, or the event was too large to be kept whole. */
const cutFrame = (text: string): LedgerFrame => ({
  type: "provider_event",
  provider: PROVIDER,
  status: "invalid_json",
  event_name: null,
  data: null,
  raw: text,
  errors: ["the stream was cut inside this event, or the event is over the limit"],
  response_errors: [],
});

const providerFrame = ({ status, event_name, data, text, raw, errors, response_errors }: ReceivedEvent): LedgerFrame => ({
  type: "provider_event",
  provider: PROVIDER,
  status,
  event_name,
  // No line break can stand inside a JSON string, so on one line it is the same JSON.
  data: data === null ? null : text.replaceAll(/[\r\n]+/g, " "),
  raw,
  errors,
  response_errors,
});

function argumentsOf(call: ModelCall): Record<string, unknown> {
  if (call.custom) return { patch: call.input };
  const value = parseJson(call.input);
  return isRecord(value) ? value : call.input === "" ? {} : { value: call.input };
}

const textsOf = (items: readonly Record<string, unknown>[]): string => items.flatMap((item) => str(item.text) ?? []).join("\n");
