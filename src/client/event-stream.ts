// Events as an async iterable: in order, each exactly once, across reconnects. The consumer's pace is the pace: nothing is read ahead of it but what
// the socket holds.
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { DragomanError } from "./error.ts";
import type { Http, Query } from "./http.ts";

export type StreamState = { state: "live" } | { state: "reconnecting"; attempt: number; reason: string };

export type StreamOptions = {
  path: string;
  query?: Query;
  /** The id of the last event the caller has: a sequence, or a cursor of the stream of all sessions. */
  after?: string;
  signal?: AbortSignal | undefined;
  onState?: ((state: StreamState) => void) | undefined;
  /** Told about every message; true ends the stream after it. */
  isLast?(message: StreamMessage): boolean;
};

export type StreamMessage = { id: string; data: string };

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;
/** Faults that another try cannot mend. */
const FINAL = new Set([
  "unauthorized",
  "forbidden",
  "forbidden_origin",
  "session_not_found",
  "cursor_too_large",
  "invalid_request",
  "aborted",
]);

export async function* eventStream(http: Http, options: StreamOptions): AsyncGenerator<StreamMessage, void, undefined> {
  let after = options.after;
  let attempt = 0;
  while (!options.signal?.aborted) {
    let reason = "the stream ended";
    try {
      for await (const message of oneConnection(http, options, after)) {
        if (attempt > 0) options.onState?.({ state: "live" });
        attempt = 0;
        after = message.id;
        yield message;
        if (options.isLast?.(message)) return;
      }
    } catch (error) {
      if (options.signal?.aborted) return;
      if (error instanceof DragomanError && FINAL.has(error.code)) throw error;
      reason = error instanceof Error ? error.message : String(error);
    }
    if (options.signal?.aborted) return;
    attempt++;
    options.onState?.({ state: "reconnecting", attempt, reason });
    await pause(Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), LONGEST_WAIT_MS) * (0.75 + Math.random() / 2), options.signal);
  }
}

async function* oneConnection(http: Http, options: StreamOptions, after: string | undefined): AsyncGenerator<StreamMessage> {
  const response = await http.open("GET", options.path, {
    query: { ...options.query, ...(after === undefined ? {} : { after }) },
    headers: { accept: "text/event-stream" },
    signal: options.signal,
  });
  for await (const { id, data } of readSse(response)) if (id !== undefined) yield { id, data };
}

/** The messages of one answer, as they come. Leaving the loop closes the connection. */
export async function* readSse(response: Response): AsyncGenerator<EventSourceMessage> {
  const reader = response.body?.getReader();
  if (!reader) throw new DragomanError("bad_answer", "The daemon's answer has no body to stream.");
  const ready: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => void ready.push(message) });
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      yield* ready.splice(0);
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    }
    signal?.addEventListener("abort", done);
  });
