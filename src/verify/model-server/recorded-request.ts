// The memory of the server: what it was asked, bounded, with a way to wait for the next request of interest.

import type { HistoryEntry, ProtocolName } from "./model-request.ts";
import type { Position } from "./position.ts";
import type { SideCall } from "./side-call.ts";

export interface RecordedRequest {
  readonly index: number;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The parsed JSON body, or the text when it is not JSON. */
  readonly body: unknown;
  readonly protocol: ProtocolName | undefined;
  readonly model: string | undefined;
  readonly side: SideCall["kind"] | undefined;
  readonly scenario: string | undefined;
  readonly position: Position | undefined;
  /** Which attempt at this position it is, from 1. */
  readonly attempt: number;
  /** The scenario has no such step, so the answer was `Done.` */
  readonly past_end: boolean;
  /** What the model sees, in order: proof that a conversation is intact. */
  readonly history: readonly HistoryEntry[];
  readonly tools: readonly string[];
}

type Predicate = (request: RecordedRequest) => boolean;

export class RequestLog {
  readonly requests: RecordedRequest[] = [];
  readonly #limit: number;
  readonly #waiting = new Set<{
    predicate: Predicate;
    resolve: (request: RecordedRequest) => void;
    reject: (error: Error) => void;
  }>();
  #count = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(facts: Omit<RecordedRequest, "index">): RecordedRequest {
    const request = { index: this.#count++, ...facts };
    this.requests.push(request);
    if (this.requests.length > this.#limit) this.requests.shift();
    for (const waiter of this.#waiting) {
      if (!waiter.predicate(request)) continue;
      this.#waiting.delete(waiter);
      waiter.resolve(request);
    }
    return request;
  }

  /** The first request, past or to come, that fits; rejects when the signal fires or the server closes first. */
  wait(predicate: Predicate, signal?: AbortSignal): Promise<RecordedRequest> {
    const past = this.requests.find(predicate);
    if (past) return Promise.resolve(past);
    return new Promise((resolve, reject) => {
      const waiter = { predicate, resolve, reject };
      this.#waiting.add(waiter);
      const stop = (): void => {
        if (this.#waiting.delete(waiter)) reject(new Error("The awaited request did not come in time."));
      };
      if (signal?.aborted) stop();
      else signal?.addEventListener("abort", stop, { once: true });
    });
  }

  close(): void {
    for (const waiter of this.#waiting) waiter.reject(new Error("The model server was closed before the awaited request came."));
    this.#waiting.clear();
  }
}
