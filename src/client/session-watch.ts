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

const idOf = (asked: Asked): string => (asked.kind === "permission" ? asked.data.permission_id : asked.data.question_id);

export class SessionWatch {
  readonly #session: Watched;
  readonly #listeners: { [K in keyof SessionListeners]: Set<SessionListeners[K]> } = {
    permission: new Set(),
    question: new Set(),
    event: new Set(),
    error: new Set(),
  };
  #watching: AbortController | null = null;
  /** What waits for an answer, for listeners that come later. */
  readonly #open = new Map<string, Asked>();

  constructor(session: Watched) {
    this.#session = session;
  }

  on<K extends keyof SessionListeners>(name: K, listener: SessionListeners[K]): () => void {
    this.#listeners[name].add(listener);
    if (!this.#watching) {
      this.#watching = new AbortController();
      void this.#watch(this.#watching);
    } else if (name === "permission" || name === "question") {
      // As every call: after this method has returned.
      const waiting = [...this.#open.values()].filter(({ kind }) => kind === name);
      for (const asked of waiting)
        queueMicrotask(() => {
          if (this.#listeners[name].has(listener) && this.#open.get(idOf(asked)) === asked)
            this.#callOne(listener as (value: unknown) => unknown, this.#request(asked));
        });
    }
    return () => void this.#listeners[name].delete(listener);
  }

  close(): void {
    this.#watching?.abort();
    this.#watching = null;
    this.#open.clear();
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
        else if (event.type === "permission.resolved") this.#open.delete(event.data.permission_id);
        else if (event.type === "question.resolved") this.#open.delete(event.data.question_id);
      }
    } catch (error) {
      if (!signal.aborted) this.#fault(error);
    }
    if (this.#watching === control) this.close();
  }

  #tell(asked: Asked): void {
    this.#open.set(idOf(asked), asked);
    // A copy: a listener that is added by one of them gets the request as one of those that wait.
    for (const listener of [...this.#listeners[asked.kind]] as ((value: unknown) => unknown)[])
      this.#callOne(listener, this.#request(asked));
  }

  #request(asked: Asked): PermissionRequest | QuestionRequest {
    return asked.kind === "permission"
      ? permissionRequest(this.#session, asked.data)
      : questionRequest(this.#session, asked.data);
  }

  #call<K extends keyof SessionListeners>(name: K, value: Parameters<SessionListeners[K]>[0]): void {
    for (const listener of this.#listeners[name] as Set<(value: unknown) => unknown>) this.#callOne(listener, value);
  }

  #callOne(listener: (value: unknown) => unknown, value: unknown): void {
    try {
      Promise.resolve(listener(value)).catch((error: unknown) => this.#fault(error));
    } catch (error) {
      this.#fault(error);
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
