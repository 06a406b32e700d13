// Events as an async iterable: in order, each exactly once, across reconnects. The consumer's pace is the pace: nothing is read ahead of it but what
// the socket holds.
import { createParser } from "eventsource-parser";
import type { Problem } from "../schema/session.ts";
import { DragomanError } from "./error.ts";
import type { Http, Query } from "./http.ts";

/** One message of an event stream. */
export type SseMessage = { id?: string | undefined; event?: string | undefined; data: string };

export type StreamState = { state: "live" } | { state: "reconnecting"; attempt: number; reason: string };

export type StreamOptions = {
  path: string;
  query?: Query;
  /** The id of the last event the caller has: a sequence, or a cursor of the stream of all sessions. */
  after?: string;
  /** The epoch in which `after` was read, unless the id carries one. */
  epoch?: string | undefined;
  signal?: AbortSignal | undefined;
  onState?: ((state: StreamState) => void) | undefined;
  /** Called with every message; true ends the stream after it. */
  isLast?(message: StreamMessage): boolean;
};

export type StreamMessage = { id: string; data: string };

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;
/** Faults that another try cannot fix. */
const FINAL = new Set([
  "unauthorized",
  "forbidden",
  "forbidden_origin",
  "session_not_found",
  "task_not_found",
  "cursor_too_large",
  "log_changed",
  "data_damaged",
  "invalid_request",
  "no_fleet",
  "aborted",
]);

/** The daemon's word that nothing will come any more: 204 to a client that has the last event of an ended session. */
const NOTHING_MORE = 204;

export async function* eventStream(http: Http, options: StreamOptions): AsyncGenerator<StreamMessage, void, undefined> {
  let after = options.after;
  // Of the log that answered: sent with the cursor, so that a log which was replaced meanwhile is not taken for the same one.
  let epoch = options.epoch;
  let attempt = 0;
  while (!options.signal?.aborted) {
    let reason = "the stream ended";
    try {
      const response = await openAt(http, options, withEpoch(after, epoch));
      epoch = response.headers.get("dragoman-epoch") ?? epoch;
      if (response.status === NOTHING_MORE) return;
      if (attempt > 0) options.onState?.({ state: "live" });
      for await (const { id, messages } of byId(readSse(response))) {
        attempt = 0;
        after = id;
        for (const message of messages) {
          // What came before the abort may still be here: nobody wants it any more.
          if (options.signal?.aborted) return;
          yield message;
        }
        if (options.isLast && messages.some(options.isLast)) return;
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

const withEpoch = (id: string | undefined, epoch: string | undefined): string | undefined =>
  id === undefined || epoch === undefined || id.includes("@") ? id : `${id}@${epoch}`;

function openAt(http: Http, options: StreamOptions, after: string | undefined): Promise<Response> {
  return http.open("GET", options.path, {
    ...(options.query ? { query: options.query } : {}),
    // As a header, because only that is answered with 204 when there is nothing more.
    headers: { accept: "text/event-stream", ...(after === undefined ? {} : { "last-event-id": after }) },
    signal: options.signal,
  });
}

/**
 * Messages of one event together. In another dialect an event can become several messages, and only the last of them carries its id: who is cut off
 * between them gets the event again, so none may be given away before all are here.
 */
async function* byId(stream: AsyncIterable<SseMessage>): AsyncGenerator<{ id: string; messages: StreamMessage[] }> {
  let held: string[] = [];
  for await (const { id, data, event } of stream) {
    if (event === "problem") throw problemError(JSON.parse(data) as Problem);
    held.push(data);
    if (id === undefined) continue;
    yield { id, messages: held.map((each) => ({ id, data: each })) };
    held = [];
  }
}

const problemError = (problem: Problem): DragomanError =>
  new DragomanError(problem.code, problem.detail, { status: problem.status, problem });

/** The messages of one answer, as they come. Leaving the loop closes the connection. */
export async function* readSse(response: Response): AsyncGenerator<SseMessage> {
  const reader = response.body?.getReader();
  if (!reader) throw new DragomanError("bad_answer", "The daemon's answer has no body to stream.");
  const ready: SseMessage[] = [];
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
