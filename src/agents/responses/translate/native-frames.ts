/**
 * The ledger of a session of ours as event frames: one `provider_event` for every event of the provider's stream, with everything that is wrong with it, and the
 * frames of the tools as they ran. Pure: the same ledger gives the same frames, while it grows and when it is read again.
 */
import { Annotator, type ProviderEvent } from "../../../openresponses/provider-event.ts";
import { readFields } from "../../../openresponses/sse-reader.ts";
import type { RuntimeFrame } from "../../../runtime/frames.ts";
import { callsOf, keptItems, type ModelCall } from "../../../runtime/input-items.ts";
import type { NativeFrame, NativeFrames, NativeMessage } from "../../contract.ts";
import { isRecord, str, toJson } from "../../json.ts";
import type { Spoken } from "./wire.ts";
import { isSpoken } from "./wire-check.ts";

export class ResponsesFrames implements NativeFrames {
  #annotator = new Annotator();
  /** The model's summary is no output of the session. */
  #shown = false;
  readonly #calls = new Map<string, { call: ModelCall; begun: boolean }>();

  frames({ dir, data }: NativeMessage): NativeFrame[] {
    if (dir === "sse") return this.#received(data);
    return dir === "out" && isSpoken(data) ? this.#said(data) : [];
  }

  #received(data: unknown): RuntimeFrame[] {
    const text = typeof data === "string" ? data : toJson(data);
    const fields =
      typeof data === "string" ? readFields(text) : { event: null, data: text, id: null, comments: [] as readonly string[] };
    const event = this.#annotator.annotate({ ...fields, bytes: EMPTY, oversize: null });
    if (event === null) return [];
    const { status, event_name, data: payload, raw, errors, response_errors } = event;
    const frame = providerFrame({ status, event_name, data: payload, raw, errors, response_errors });
    if (!this.#shown || payload?.type !== "response.output_text.delta") return [frame];
    return [frame, { type: "output_text_delta", delta: str(payload.delta) ?? "" }];
  }

  #said(spoken: Spoken): RuntimeFrame[] {
    switch (spoken.type) {
      case "request.sent":
        this.#annotator = new Annotator();
        this.#shown = spoken.purpose === "step";
        return [];
      case "response.failed":
        // What never became an event: the connection failed, or the answer was an error.
        return [providerFrame({ ...NO_EVENT, errors: [`${spoken.code}: ${spoken.message}`] })];
      case "response.ended":
        for (const call of callsOf({ kind: "response", ...spoken, items: keptItems(spoken.items, spoken.n) })) this.#know(call);
        return [];
      case "call.started":
        return this.#started(spoken.call);
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

  #started(key: string): RuntimeFrame[] {
    const known = this.#calls.get(key) ?? this.#streamed(key);
    if (known === undefined) return [];
    known.begun = true;
    const args = parsed(known.call);
    const timeout_ms = typeof args.timeout_ms === "number" ? args.timeout_ms : null;
    return [{ type: "tool_started", tool_id: key, name: known.call.name, args, timeout_ms }];
  }

  /** A call that only reads starts while its answer is streamed. */
  #streamed(key: string): { call: ModelCall; begun: boolean } | undefined {
    const [n = "0", attempt = "0"] = key.split(".");
    const items = keptItems(this.#annotator.stream.items(), Number(n));
    for (const call of callsOf({ kind: "response", n: Number(n), attempt: Number(attempt), items })) this.#know(call);
    return this.#calls.get(key);
  }

  #finished(record: Extract<Spoken, { type: "call.finished" }>): RuntimeFrame[] {
    const { call: tool_id, output, is_error, exit_code, duration_ms, artifacts } = record;
    const begun = this.#calls.get(tool_id)?.begun ?? false;
    this.#calls.delete(tool_id);
    if (!begun || (is_error && exit_code === null))
      return [{ type: "tool_failed", tool_id, error: typeof output === "string" ? output : "The tool failed." }];
    const kept = artifacts.length === 0 ? null : { output: artifacts };
    return [{ type: "tool_ended", tool_id, exit_code: exit_code ?? 0, duration_ms, artifacts: kept }];
  }
}

const EMPTY = new Uint8Array(0) as Buffer;
const NO_EVENT: ProviderEvent = { status: "event", event_name: null, data: null, raw: null, errors: [], response_errors: [] };

const providerFrame = (event: ProviderEvent): RuntimeFrame => ({ type: "provider_event", provider: "openresponses", ...event });

function parsed(call: ModelCall): Record<string, unknown> {
  if (call.custom) return { patch: call.input };
  try {
    const value: unknown = JSON.parse(call.input);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
