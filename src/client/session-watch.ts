// Callbacks for what happens in a session: one stream for all listeners, opened with the first of them.
import type { UniversalEvent } from "../schema/event.ts";
import type { PermissionData, QuestionData } from "../schema/event-data.ts";
import type { SessionSnapshot } from "../schema/snapshot.ts";
import { DragomanError } from "./error.ts";
import { type Answering, type PermissionRequest, permissionRequest, type QuestionRequest, questionRequest } from "./requests.ts";

/** A listener may return a promise; when it fails, the `error` listeners are informed. */
export type SessionListeners = {
  permission: (request: PermissionRequest) => unknown;
  question: (request: QuestionRequest) => unknown;
  event: (event: UniversalEvent) => unknown;
  error: (error: unknown) => unknown;
};

/** The part of a session that watching needs. */
export type Watched = Answering & {
  snapshot(options: { signal: AbortSignal }): Promise<SessionSnapshot>;
  events(options: { after: number; signal: AbortSignal }): AsyncIterable<UniversalEvent>;
};

type Asked = { kind: "permission"; data: PermissionData } | { kind: "question"; data: QuestionData };

export class SessionWatch {
  readonly #session: Watched;
  readonly #listeners: { [K in keyof SessionListeners]: Set<SessionListeners[K]> } = {
    permission: new Set(),
    question: new Set(),
    event: new Set(),
    error: new Set(),
  };
  #watching: AbortController | null = null;

  constructor(session: Watched) {
    this.#session = session;
  }

  on<K extends keyof SessionListeners>(name: K, listener: SessionListeners[K]): () => void {
    this.#listeners[name].add(listener);
    if (!this.#watching) {
      this.#watching = new AbortController();
      void this.#watch(this.#watching);
    }
    return () => void this.#listeners[name].delete(listener);
  }

  close(): void {
    this.#watching?.abort();
    this.#watching = null;
  }

  async #watch(control: AbortController): Promise<void> {
    const { signal } = control;
    try {
      // What waits already, and the event it is true after: no request comes twice.
      const { sequence, requests } = await this.#session.snapshot({ signal });
      for (const request of requests) this.#tell(request);
      for await (const event of this.#session.events({ after: sequence, signal })) {
        this.#call("event", event);
        if (event.type === "permission.requested") this.#tell({ kind: "permission", data: event.data });
        else if (event.type === "question.requested") this.#tell({ kind: "question", data: event.data });
      }
    } catch (error) {
      if (!signal.aborted) this.#fault(error);
    }
    if (this.#watching === control) this.#watching = null;
  }

  #tell(asked: Asked): void {
    if (asked.kind === "permission") this.#call("permission", permissionRequest(this.#session, asked.data));
    else this.#call("question", questionRequest(this.#session, asked.data));
  }

  #call<K extends keyof SessionListeners>(name: K, value: Parameters<SessionListeners[K]>[0]): void {
    for (const listener of this.#listeners[name] as Set<(value: unknown) => unknown>) {
      try {
        Promise.resolve(listener(value)).catch((error: unknown) => this.#fault(error));
      } catch (error) {
        this.#fault(error);
      }
    }
  }

  /** Faults nobody listens for become unhandled rejections: visible, as every other forgotten error. */
  #fault(error: unknown): void {
    // The first answer wins: coming second is no fault.
    if (error instanceof DragomanError && error.code === "already_answered") return;
    if (this.#listeners.error.size === 0) void Promise.reject(error);
    for (const listener of this.#listeners.error) listener(error);
  }
}
