/**
 * One request to the model, with its retries, and the calls of its answer. Calls that change nothing start while the answer is still streamed, unless an earlier
 * call of the same answer changes something; all others wait for the end of the answer, because an answer that fails must have no effects.
 */
import type { StreamedResponse, StreamHandlers } from "../openresponses/client.ts";
import { ResponsesError } from "../openresponses/errors.ts";
import { type JsonObject, objectOf, textOf } from "../openresponses/json.ts";
import type { ReceivedEvent } from "../openresponses/provider-event.ts";
import { DEFAULT_RETRY, type RetryPolicy, waitAfter, withRetry } from "../openresponses/retry.ts";
import type { ReadBlock } from "../openresponses/sse-reader.ts";
import type { CallRunner } from "./call-runner.ts";
import type { FrameListener } from "./frames.ts";
import { CallNamer, callsOf, keptItems, type ModelCall } from "./input-items.ts";
import type { Ledger } from "./ledger.ts";
import type { ReceivedBlock } from "./ports.ts";
import { ReceivedBlocks } from "./received-blocks.ts";
import type { RecordOf, TokenCount } from "./records.ts";
import type { RequestBody } from "./request-body.ts";

const PARALLEL_READS = 8;

/** Sends a body and reads the answer. A replay has another implementation. */
export interface ModelTransport {
  stream(
    body: string,
    request: { readonly n: number; readonly attempt: number },
    handlers: StreamHandlers,
  ): Promise<StreamedResponse>;
}

export interface StepPorts {
  readonly ledger: Ledger;
  readonly transport: ModelTransport;
  readonly calls: CallRunner;
  /** Null: nobody listens. */
  readonly onFrame: FrameListener | null;
  readonly retry?: RetryPolicy;
}

/** An answer that is in the journal. */
export interface Answer {
  readonly ended: RecordOf<"response.ended">;
  readonly calls: readonly ModelCall[];
}

type Purpose = RecordOf<"request.sent">["purpose"];

export class Stepper {
  readonly #ports: StepPorts;

  constructor(ports: StepPorts) {
    this.#ports = ports;
  }

  /** Asks until there is an answer. Throws `ResponsesError` when there will be none. */
  async ask(body: RequestBody, purpose: Purpose, signal: AbortSignal): Promise<Answer> {
    const { ledger, onFrame, retry = DEFAULT_RETRY } = this.#ports;
    const { inFlight, requests, attempts } = ledger.state;
    // A request that a crash cut off is asked again under its number.
    const [n, before] = inFlight === purpose ? [requests, attempts] : [requests + 1, 0];
    return withRetry((attempt) => this.#attempt(body, purpose, n, before + attempt, retry, signal), {
      policy: retry,
      signal,
      onRetry: ({ attempt, waitMs, error }) =>
        onFrame?.({ type: "retrying", attempt, wait_ms: waitMs, code: error.code, message: error.message }),
    });
  }

  /** Runs the calls of the last answer that have no outcome yet: groups of the same kind in order, within a group side by side, edits one by one. */
  async runCalls(calls: readonly ModelCall[], signal: AbortSignal): Promise<void> {
    const { ledger, calls: runner } = this.#ports;
    const open = calls.filter((call) => ledger.state.outcomeOf(call.key) === undefined);
    for (let at = 0; at < open.length; ) {
      const kind = runner.effectOf(open[at] as ModelCall);
      let end = at + 1;
      while (
        kind !== "file" &&
        end < open.length &&
        runner.effectOf(open[end] as ModelCall) === kind &&
        end - at < PARALLEL_READS
      )
        end += 1;
      await Promise.all(open.slice(at, end).map((call) => runner.run(call, signal)));
      at = end;
    }
  }

  async #attempt(
    body: RequestBody,
    purpose: Purpose,
    n: number,
    attempt: number,
    retry: RetryPolicy,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { ledger, transport } = this.#ports;
    ledger.append({ type: "request.sent", n, attempt, purpose, body_sha256: body.sha256, body_bytes: body.bytes });
    await ledger.beforeRequest();
    const early = new EarlyCalls(this.#ports.calls, purpose === "step", n, attempt, signal);
    const kept = new ReceivedBlocks(ledger, { n, attempt });
    try {
      const streamed = await transport.stream(
        body.text,
        { n, attempt },
        {
          signal,
          onComment: ({ bytes }) => kept.add(unread(bytes)),
          // Whoever listens to frames gets every event.
          ...(this.#ports.onFrame === null
            ? { onDelta: ({ bytes, text }: ReadBlock, delta: string) => kept.add({ bytes, text, data: null, delta }) }
            : {}),
          onEvent: (event) => {
            kept.add({ bytes: event.bytes, text: null, data: event.data, delta: null });
            this.#tell(event, purpose);
            if (event.data?.type !== "response.output_item.done") return;
            // A call may start now: what asked for it stands before it in the journal.
            kept.flush();
            early.see(event);
          },
          onReadEnd: () => kept.flush(),
          onRest: (bytes) => kept.add(unread(bytes)),
        },
      );
      kept.flush();
      const ended = this.#ended(streamed, n, attempt);
      return { ended, calls: callsOf({ kind: "response", n, attempt, items: keptItems(ended.items, n) }) };
    } catch (error) {
      if (!(error instanceof ResponsesError)) throw error;
      kept.flush();
      const wait_ms = waitAfter(error, attempt, retry);
      const { code, message, retryable } = error;
      ledger.append({ type: "response.failed", n, attempt, code, message, retryable, wait_ms });
      throw error;
    } finally {
      await early.settled();
    }
  }

  #ended(streamed: StreamedResponse, n: number, attempt: number): RecordOf<"response.ended"> {
    const reason = textOf(objectOf(streamed.response.incomplete_details).reason) ?? null;
    const record = this.#ports.ledger.append({
      type: "response.ended",
      n,
      attempt,
      outcome: streamed.kind,
      reason,
      items: streamed.items.map((item) => ({ ...item })),
      usage: tokens(streamed),
    });
    return record as RecordOf<"response.ended">;
  }

  #tell(event: ReceivedEvent, purpose: Purpose): void {
    const { onFrame } = this.#ports;
    if (onFrame === null) return;
    const { status, event_name, data, raw, errors, response_errors } = event;
    onFrame({ type: "provider_event", provider: "openresponses", status, event_name, data, raw, errors, response_errors });
    if (purpose !== "step" || data?.type !== "response.output_text.delta") return;
    onFrame({ type: "output_text_delta", delta: textOf(data.delta) ?? "" });
  }
}

/** Starts harmless calls while the answer is streamed. */
class EarlyCalls {
  readonly #runner: CallRunner;
  readonly #namer: CallNamer;
  readonly #n: number;
  readonly #signal: AbortSignal;
  readonly #running: Promise<void>[] = [];
  #open: boolean;

  constructor(runner: CallRunner, enabled: boolean, n: number, attempt: number, signal: AbortSignal) {
    this.#runner = runner;
    this.#namer = new CallNamer(n, attempt);
    this.#n = n;
    this.#signal = signal;
    this.#open = enabled;
  }

  see(event: ReceivedEvent): void {
    if (!this.#open || event.data?.type !== "response.output_item.done") return;
    const [item] = keptItems([objectOf(event.data.item)], this.#n);
    const call = item === undefined ? null : this.#namer.name(item);
    if (call === null) return;
    // A read after a write of the same answer must see what was written.
    const run = this.#running.length < PARALLEL_READS ? this.#runner.runEarly(call, this.#signal) : null;
    if (run === null) this.#open = false;
    else this.#running.push(run);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }
}

const unread = (bytes: Buffer): ReceivedBlock => ({ bytes, text: null, data: null, delta: null });

function tokens({ usage }: StreamedResponse): TokenCount | null {
  if (usage === null) return null;
  return { input: usage.input, output: usage.output, cached: usage.cached ?? 0, reasoning: usage.reasoning ?? 0 };
}

/** The text of an answer. */
export const answerText = (items: readonly JsonObject[]): string =>
  items
    .filter((item) => item.type === "message")
    .flatMap((item) => (Array.isArray(item.content) ? item.content : []))
    .map((part) => textOf(objectOf(part).text) ?? "")
    .join("");
