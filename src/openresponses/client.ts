/**
 * The client of one Responses endpoint over HTTP. One call is one attempt: whether it is asked again is decided by `retry.ts`, because whoever asks must forget
 * the items of the broken answer. The bytes of the answer are handed on as they came.
 */
import { DeltaRun } from "./delta-run.ts";
import { errorFromEvent, errorFromHttp, plainText, ResponsesError } from "./errors.ts";
import { DEFAULT_TIMEOUTS, type HttpAnswer, type HttpTimeouts, httpCall } from "./http-call.ts";
import { isObject, type JsonObject, numberOf, objectOf, parseJson, textOf } from "./json.ts";
import { Annotator, type ReceivedEvent } from "./provider-event.ts";
import { type ReadBlock, type SseBlock, SseReader } from "./sse-reader.ts";
import type { ResponseStream } from "./state-machine.ts";

const MAX_EVENT_BYTES = 64 * 1024 * 1024;
const MAX_BODY_BYTES = 64 * 1024 * 1024;
const MAX_ERROR_BYTES = 1024 * 1024;
/** A server that has ended its response and sends no mark gets so long to end its answer. */
const LATE_MARK_MS = 1000;

export interface ClientOptions {
  /** Up to and without `/responses`, such as `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  /** Sent as a bearer token. */
  readonly apiKey?: string;
  /** More headers, such as an organisation. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeouts?: Partial<HttpTimeouts>;
  /** An event over this is cut and annotated. */
  readonly maxEventBytes?: number;
}

export interface StreamHandlers {
  readonly signal?: AbortSignal;
  /** Every event, in order, valid or not. A promise is waited for before the next one. */
  onEvent(event: ReceivedEvent): void | Promise<void>;
  /** In place of `onEvent`, for a piece of text that differs from the event before only in its text and its number. Absent: it is an event like any other. */
  onDelta?(block: ReadBlock, delta: string): void | Promise<void>;
  /** The blocks of one read of the socket are through. */
  onReadEnd?(): void;
  /** Blocks without data: heartbeats. */
  onComment?(block: SseBlock): void;
  /** Bytes after the last whole event, also where the answer has no good end. */
  onRest?(bytes: Buffer): void;
  /** All bytes of the answer, as they came. */
  onBytes?(chunk: Buffer): void;
}

/** An answer that came to its end. */
export interface StreamedResponse {
  readonly kind: "completed" | "incomplete";
  /** The response of the terminal event. */
  readonly response: JsonObject;
  /** Its output, each item as the provider last wrote it. */
  readonly items: readonly JsonObject[];
  readonly usage: TokenUsage | null;
  /** Bytes after the last whole event. */
  readonly rest: Buffer;
}

/** Tokens of one response; what the endpoint did not say is null. */
export interface TokenUsage {
  readonly input: number;
  readonly output: number;
  readonly cached: number | null;
  readonly reasoning: number | null;
}

export class ResponsesClient {
  readonly #options: ClientOptions;
  readonly #timeouts: HttpTimeouts;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  }

  /** Sends a body as it is and reads the stream to its end. Throws `ResponsesError`. */
  async stream(body: string, handlers: StreamHandlers): Promise<StreamedResponse> {
    const url = this.#url("/responses");
    const answer = await this.#send("POST", url, body, "text/event-stream", handlers.signal);
    try {
      await this.#expectStream(answer, url, body);
      const streamed = await this.#read(answer, url, handlers);
      answer.release();
      return streamed;
    } catch (error) {
      answer.close();
      throw error;
    }
  }

  /** A call that answers JSON. Throws `ResponsesError`. */
  async json(method: "GET" | "POST", path: string, body?: JsonObject, signal?: AbortSignal): Promise<JsonObject> {
    const url = this.#url(path);
    const text = body === undefined ? undefined : JSON.stringify(body);
    const answer = await this.#send(method, url, text, "application/json", signal);
    try {
      if (answer.status !== 200) throw await this.#failure(answer, url, text);
      const answered = await readText(answer, MAX_BODY_BYTES);
      const value = parseJson(answered);
      if (isObject(value)) return value;
      throw notJson(url, answer, answered);
    } finally {
      answer.close();
    }
  }

  #url(path: string): string {
    return `${this.#options.baseUrl.replace(/\/+$/, "")}${path}`;
  }

  #send(
    method: "GET" | "POST",
    url: string,
    body: string | undefined,
    accept: string,
    signal?: AbortSignal,
  ): Promise<HttpAnswer> {
    const { apiKey, headers } = this.#options;
    return httpCall({
      method,
      url,
      headers: {
        accept,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
      timeouts: this.#timeouts,
    });
  }

  async #expectStream(answer: HttpAnswer, url: string, body: string): Promise<void> {
    if (answer.status !== 200) throw await this.#failure(answer, url, body);
    const type = String(answer.headers["content-type"] ?? "");
    // A server that names no type is given the benefit of the doubt: without one event, the stream is found to be cut.
    if (type === "" || /^text\/event-stream\b/i.test(type)) return;
    const text = await readText(answer, MAX_ERROR_BYTES);
    if (/json/i.test(type) && isObject(objectOf(parseJson(text)).error))
      throw errorFromEvent(objectOf(objectOf(parseJson(text)).error));
    throw new ResponsesError(
      "not_a_stream",
      `${url} answered ${type}, not an event stream: check the base URL. It says: ${plainText(text)}`,
      {
        status: answer.status,
        detail: text.slice(0, 2000),
      },
    );
  }

  async #failure(answer: HttpAnswer, url: string, body: string | undefined): Promise<ResponsesError> {
    const location = answer.headers.location;
    if (answer.status >= 300 && answer.status < 400 && location !== undefined) {
      return new ResponsesError("redirected", `${url} redirects to ${location}: use that address as base URL.`, {
        status: answer.status,
      });
    }
    const text = await readText(answer, MAX_ERROR_BYTES);
    const model = textOf(objectOf(parseJson(body ?? "")).model);
    return errorFromHttp({
      status: answer.status,
      headers: answer.headers,
      body: text,
      url,
      ...(model === undefined ? {} : { model }),
    });
  }

  async #read(answer: HttpAnswer, url: string, handlers: StreamHandlers): Promise<StreamedResponse> {
    const annotator = new Annotator();
    const blocks: ReadBlock[] = [];
    const reader = new SseReader({
      maxBlockBytes: this.#options.maxEventBytes ?? MAX_EVENT_BYTES,
      onBlock: (block) => blocks.push(block),
    });
    let rest: Buffer;
    try {
      await this.#readBlocks(answer, handlers, { annotator, reader, blocks });
    } catch (error) {
      // What breaks behind the end of the response takes nothing from it.
      if (!hasEnded(annotator.stream) || !(error instanceof ResponsesError) || error.code === "aborted") throw error;
    } finally {
      rest = reader.end();
      if (rest.length > 0) handlers.onRest?.(rest);
    }
    return { ...outcome(annotator.stream, url), rest };
  }

  async #readBlocks(answer: HttpAnswer, handlers: StreamHandlers, { annotator, reader, blocks }: Reading): Promise<void> {
    const run = new DeltaRun(annotator.stream);
    const { onDelta } = handlers;
    let late: NodeJS.Timeout | undefined;
    try {
      for await (const chunk of answer.body) {
        handlers.onBytes?.(chunk);
        reader.push(chunk);
        let marked = false;
        for (const block of blocks.splice(0)) {
          const delta = onDelta === undefined ? null : run.next(block);
          if (delta !== null) {
            const waiting = onDelta?.(block, delta);
            if (waiting !== undefined) await waiting;
            continue;
          }
          const event = annotator.annotate(block);
          if (onDelta !== undefined) run.learn(block, event);
          if (event === null) handlers.onComment?.(block);
          else {
            const waiting = handlers.onEvent(event);
            // A promise for each event would cost more than the event.
            if (waiting !== undefined) await waiting;
          }
          if (event?.status === "done") marked = true;
        }
        handlers.onReadEnd?.();
        // Some servers keep the connection open after the end. What follows the mark would be nobody's.
        if (marked) break;
        if (hasEnded(annotator.stream)) late ??= setTimeout(() => answer.close(), LATE_MARK_MS);
      }
    } finally {
      clearTimeout(late);
    }
  }
}

type Reading = { readonly annotator: Annotator; readonly reader: SseReader; readonly blocks: ReadBlock[] };

const hasEnded = ({ end }: ResponseStream): boolean =>
  end.kind === "completed" || end.kind === "incomplete" || end.kind === "failed";

/** What a stream came to. Throws when it has no good end. */
export function outcome(stream: ResponseStream, url: string): Omit<StreamedResponse, "rest"> {
  const { end } = stream;
  switch (end.kind) {
    case "completed":
    case "incomplete":
      return { kind: end.kind, response: end.response, items: stream.items(), usage: usageOf(end.response) };
    case "failed":
      throw errorFromEvent(objectOf(end.response.error));
    case "error":
      throw errorFromEvent(end.error);
    case "open":
      throw new ResponsesError("cut", `${url} ended its answer before the response was complete.`);
    default:
      return end satisfies never;
  }
}

function usageOf(response: JsonObject): TokenUsage | null {
  if (!isObject(response.usage)) return null;
  const { usage } = response;
  return {
    input: numberOf(usage.input_tokens) ?? 0,
    output: numberOf(usage.output_tokens) ?? 0,
    cached: numberOf(objectOf(usage.input_tokens_details).cached_tokens) ?? null,
    reasoning: numberOf(objectOf(usage.output_tokens_details).reasoning_tokens) ?? null,
  };
}

async function readText(answer: HttpAnswer, limit: number): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of answer.body) {
      parts.push(chunk.subarray(0, limit - bytes));
      bytes += chunk.length;
      if (bytes >= limit) break;
    }
  } catch (error) {
    // The status says enough when the body of an error breaks off.
    if (answer.status === 200 || (error instanceof ResponsesError && error.code === "aborted")) throw error;
  }
  return Buffer.concat(parts).toString("utf8");
}

const notJson = (url: string, answer: HttpAnswer, text: string): ResponsesError =>
  new ResponsesError("not_a_stream", `${url} did not answer JSON: check the base URL. It says: ${plainText(text)}`, {
    status: answer.status,
    detail: text.slice(0, 2000),
  });
