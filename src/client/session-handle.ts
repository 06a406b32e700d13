// A session as an object: send, watch, answer, change, end. Every route of one session has a method here.
import type { UniversalEvent } from "../schema/event.ts";
import type { ErrorCode, EventType, PermissionData, QuestionData, StopReason, Usage } from "../schema/event-data.ts";
import { ItemFold } from "../schema/fold-items.ts";
import type { Item } from "../schema/item.ts";
import type {
  AttachmentInput,
  Coverage,
  ForkSession,
  ItemList,
  MessageAccepted,
  Pending,
  PermissionReplyBody,
  Session,
  UpdateSession,
} from "../schema/session.ts";
import { DragomanError } from "./error.ts";
import { eventStream, type StreamState } from "./event-stream.ts";
import type { Http } from "./http.ts";

export type SendOptions = {
  attachments?: AttachmentInput[];
  when_busy?: "queue" | "steer" | "reject";
  /** The same key sent again gives the same answer and no second turn. */
  idempotencyKey?: string;
  signal?: AbortSignal | undefined;
};

export type EventsOptions = {
  /** Only events after this sequence; 0, the default, is from the beginning. */
  after?: number;
  types?: EventType[];
  includeRaw?: boolean;
  signal?: AbortSignal | undefined;
  onState?: (state: StreamState) => void;
};

export type EventsPage = { events: UniversalEvent[]; has_more: boolean };

export type TurnOutcome = {
  turn_id: string;
  stop_reason: StopReason;
  error_code: ErrorCode | null;
  usage: Usage | null;
  /** The text of the turn's last message of the agent. */
  text: string;
  items: Item[];
  error: string | null;
};

/** A permission that waits for an answer. */
export type PermissionRequest = PermissionData & {
  allow(options?: { always?: boolean; updated_input?: unknown; option_id?: string }): Promise<void>;
  deny(message?: string): Promise<void>;
};

export type QuestionRequest = QuestionData & { answer(answers: string[][]): Promise<void>; reject(): Promise<void> };

export type SessionListeners = {
  permission: (request: PermissionRequest) => void;
  question: (request: QuestionRequest) => void;
  event: (event: UniversalEvent) => void;
  error: (error: unknown) => void;
};

export class SessionHandle {
  readonly id: string;
  readonly #http: Http;
  readonly #path: string;
  readonly #listeners: { [K in keyof SessionListeners]: Set<SessionListeners[K]> } = {
    permission: new Set(),
    question: new Set(),
    event: new Set(),
    error: new Set(),
  };
  #watching: AbortController | null = null;

  constructor(http: Http, id: string) {
    this.#http = http;
    this.id = id;
    this.#path = `/v1/sessions/${encodeURIComponent(id)}`;
  }

  get(signal?: AbortSignal): Promise<Session> {
    return this.#http.json("GET", this.#path, { signal });
  }

  update(change: UpdateSession, signal?: AbortSignal): Promise<Session> {
    return this.#http.json("PATCH", this.#path, { body: change, signal });
  }

  /** Removes the session and all it left in the log. */
  async remove(signal?: AbortSignal): Promise<void> {
    this.close();
    await this.#http.json("DELETE", this.#path, { signal });
  }

  send(message: string, options: SendOptions = {}): Promise<MessageAccepted> {
    const { attachments, when_busy, idempotencyKey, signal } = options;
    return this.#http.json("POST", `${this.#path}/messages`, {
      body: { message, ...(attachments ? { attachments } : {}), ...(when_busy ? { when_busy } : {}) },
      headers: idempotencyKey ? { "idempotency-key": idempotencyKey } : {},
      signal,
    });
  }

  /** Sends and waits for the end of the turn. Permissions must be answered elsewhere meanwhile, for example with `on("permission", …)`. */
  async prompt(message: string, options: SendOptions & { onEvent?: (event: UniversalEvent) => void } = {}): Promise<TurnOutcome> {
    const { last_sequence } = await this.get(options.signal);
    const { turn_id } = await this.send(message, options);
    return this.outcome(turn_id, { after: last_sequence, ...options });
  }

  /** Waits for the end of a turn that was started after the given sequence. */
  async outcome(
    turnId: string,
    options: { after?: number; signal?: AbortSignal | undefined; onEvent?: (event: UniversalEvent) => void } = {},
  ): Promise<TurnOutcome> {
    const fold = new ItemFold();
    let error: string | null = null;
    for await (const event of this.events({ after: options.after ?? 0, signal: options.signal })) {
      options.onEvent?.(event);
      fold.apply(event);
      if (event.type === "error") error = event.data.message;
      if (event.type === "turn.ended" && event.data.turn_id === turnId) {
        const items = fold.items().filter((item) => item.turn_id === turnId);
        const { stop_reason, error_code, usage } = event.data;
        return {
          turn_id: turnId,
          stop_reason,
          error_code: error_code ?? null,
          usage: usage ?? null,
          text: lastText(items),
          items,
          error,
        };
      }
    }
    if (options.signal?.aborted) throw new DragomanError("aborted", "Waiting for the turn was aborted; the turn itself goes on.");
    throw new DragomanError("stream_ended", error ?? "The session ended before the turn did.");
  }

  /** Live, from any point, in order, exactly once, across reconnects; ends after session.ended. */
  async *events(options: EventsOptions = {}): AsyncGenerator<UniversalEvent, void, undefined> {
    const stream = eventStream(this.#http, {
      path: `${this.#path}/events/sse`,
      query: { types: options.types, include_raw: options.includeRaw },
      after: String(options.after ?? 0),
      signal: options.signal,
      onState: options.onState,
      isLast: ({ data }) =>
        data.includes('"type":"session.ended"') && (JSON.parse(data) as UniversalEvent).type === "session.ended",
    });
    for await (const { data } of stream) yield JSON.parse(data) as UniversalEvent;
  }

  /** One page of the past. */
  page(
    options: { after?: number; limit?: number; types?: EventType[]; includeRaw?: boolean; signal?: AbortSignal } = {},
  ): Promise<EventsPage> {
    const { after, limit, types, includeRaw, signal } = options;
    return this.#http.json("GET", `${this.#path}/events`, { query: { after, limit, types, include_raw: includeRaw }, signal });
  }

  items(signal?: AbortSignal): Promise<ItemList> {
    return this.#http.json("GET", `${this.#path}/items`, { signal });
  }

  pending(signal?: AbortSignal): Promise<Pending> {
    return this.#http.json("GET", `${this.#path}/pending`, { signal });
  }

  coverage(signal?: AbortSignal): Promise<Coverage> {
    return this.#http.json("GET", `${this.#path}/coverage`, { signal });
  }

  /** The flight recorder: every native message as NDJSON, the format of recorded traces. */
  async native(signal?: AbortSignal): Promise<string> {
    return (await this.#http.open("GET", `${this.#path}/native`, { signal })).text();
  }

  /** The whole session as NDJSON: its row, its events, its native messages. */
  export(signal?: AbortSignal): Promise<Response> {
    return this.#http.open("GET", `${this.#path}/export`, { signal });
  }

  async interrupt(signal?: AbortSignal): Promise<void> {
    await this.#http.json("POST", `${this.#path}/interrupt`, { body: {}, signal });
  }

  async terminate(signal?: AbortSignal): Promise<void> {
    await this.#http.json("POST", `${this.#path}/terminate`, { body: {}, signal });
  }

  async fork(options: ForkSession = {}, signal?: AbortSignal): Promise<SessionHandle> {
    const { session_id } = await this.#http.json<Session>("POST", `${this.#path}/fork`, { body: options, signal });
    return new SessionHandle(this.#http, session_id);
  }

  async replyPermission(permissionId: string, reply: PermissionReplyBody, signal?: AbortSignal): Promise<void> {
    await this.#http.json("POST", `${this.#path}/permissions/${encodeURIComponent(permissionId)}/reply`, { body: reply, signal });
  }

  async replyQuestion(questionId: string, answers: string[][], signal?: AbortSignal): Promise<void> {
    await this.#http.json("POST", `${this.#path}/questions/${encodeURIComponent(questionId)}/reply`, {
      body: { answers },
      signal,
    });
  }

  async rejectQuestion(questionId: string, signal?: AbortSignal): Promise<void> {
    await this.#http.json("POST", `${this.#path}/questions/${encodeURIComponent(questionId)}/reject`, { body: {}, signal });
  }

  /** Calls back for requests and events from now on, and for requests that already wait. `close()` ends it; so does the session's end. */
  on<K extends keyof SessionListeners>(name: K, listener: SessionListeners[K]): () => void {
    this.#listeners[name].add(listener);
    if (!this.#watching) {
      this.#watching = new AbortController();
      void this.#watch(this.#watching.signal);
    }
    return () => void this.#listeners[name].delete(listener);
  }

  close(): void {
    this.#watching?.abort();
    this.#watching = null;
  }

  async #watch(signal: AbortSignal): Promise<void> {
    try {
      const { last_sequence } = await this.get(signal);
      const { permissions, questions } = await this.pending(signal);
      const told = new Set([...permissions.map((each) => each.permission_id), ...questions.map((each) => each.question_id)]);
      for (const data of permissions) for (const listener of this.#listeners.permission) listener(this.#permission(data));
      for (const data of questions) for (const listener of this.#listeners.question) listener(this.#question(data));
      for await (const event of this.events({ after: last_sequence, signal })) {
        for (const listener of this.#listeners.event) listener(event);
        if (event.type === "permission.requested" && !told.has(event.data.permission_id))
          for (const listener of this.#listeners.permission) listener(this.#permission(event.data));
        if (event.type === "question.requested" && !told.has(event.data.question_id))
          for (const listener of this.#listeners.question) listener(this.#question(event.data));
      }
    } catch (error) {
      if (!signal.aborted) for (const listener of this.#listeners.error) listener(error);
    }
  }

  #permission(data: PermissionData): PermissionRequest {
    return {
      ...data,
      allow: ({ always, updated_input, option_id } = {}) =>
        this.replyPermission(data.permission_id, {
          reply: always ? "always" : "once",
          ...(updated_input === undefined ? {} : { updated_input }),
          ...(option_id === undefined ? {} : { option_id }),
        }),
      deny: (message) =>
        this.replyPermission(data.permission_id, { reply: "reject", ...(message === undefined ? {} : { message }) }),
    };
  }

  #question(data: QuestionData): QuestionRequest {
    return {
      ...data,
      answer: (answers) => this.replyQuestion(data.question_id, answers),
      reject: () => this.rejectQuestion(data.question_id),
    };
  }
}

function lastText(items: Item[]): string {
  const message = items.findLast((item) => item.kind === "message" && item.role === "assistant" && item.parent_id === null);
  return message?.content.map((part) => (part.type === "text" || part.type === "refusal" ? part.text : "")).join("") ?? "";
}
