// Callbacks for what happens in a session: one stream for all listeners, opened with the first of them.
import type { UniversalEvent } from "../schema/event.ts";
import type { Pending, Session } from "../schema/session.ts";
import { DragomanError } from "./error.ts";
import { type Answering, type PermissionRequest, permissionRequest, type QuestionRequest, questionRequest } from "./requests.ts";

/** A listener may return a promise; when it fails, the `error` listeners are told. */
export type SessionListeners = {
  permission: (request: PermissionRequest) => unknown;
  question: (request: QuestionRequest) => unknown;
  event: (event: UniversalEvent) => unknown;
  error: (error: unknown) => unknown;
};

/** The part of a session that watching needs. */
export type Watched = Answering & {
  get(signal?: AbortSignal): Promise<Session>;
  pending(signal?: AbortSignal): Promise<Pending>;
  events(options: { after: number; signal: AbortSignal }): AsyncIterable<UniversalEvent>;
};

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
      const { last_sequence } = await this.#session.get(signal);
      const { permissions, questions } = await this.#session.pending(signal);
      // A request can stand in the answer and come as an event as well: it is told once.
      const told = new Set<string>();
      for (const data of permissions) this.#tell("permission", data.permission_id, told, permissionRequest(this.#session, data));
      for (const data of questions) this.#tell("question", data.question_id, told, questionRequest(this.#session, data));
      for await (const event of this.#session.events({ after: last_sequence, signal })) {
        this.#call("event", event);
        if (event.type === "permission.requested")
          this.#tell("permission", event.data.permission_id, told, permissionRequest(this.#session, event.data));
        else if (event.type === "question.requested")
          this.#tell("question", event.data.question_id, told, questionRequest(this.#session, event.data));
        else if (event.type === "permission.resolved") told.delete(event.data.permission_id);
        else if (event.type === "question.resolved") told.delete(event.data.question_id);
      }
    } catch (error) {
      if (!signal.aborted) this.#fault(error);
    }
    if (this.#watching === control) this.#watching = null;
  }

  #tell<K extends "permission" | "question">(
    name: K,
    id: string,
    told: Set<string>,
    request: Parameters<SessionListeners[K]>[0],
  ): void {
    if (told.has(id)) return;
    told.add(id);
    this.#call(name, request);
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
