/**
 * A session over one WebSocket: its events and its commands. One connection; it does not come back by itself. For a stream that survives restarts,
 * use `SessionHandle.events`.
 */
import type { UniversalEvent } from "../schema/event.ts";
import type { EventType } from "../schema/event-data.ts";
import type {
  MessageAccepted,
  Pending,
  PermissionReplyBody,
  Problem,
  SendMessage,
  Session,
  UpdateQueuedMessage,
  UpdateSession,
} from "../schema/session.ts";
import type { MessageQueueList, QueuedMessage } from "../schema/snapshot.ts";
import { DragomanError } from "./error.ts";
import type { Http } from "./http.ts";

/** The part of the platform's WebSocket that is used; the `ws` package has it too. */
export type WebSocketLike = {
  send(data: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: "message", listener: (event: { data: unknown }) => void): void;
  addEventListener(type: "close", listener: (event: { code: number; reason: string }) => void): void;
  addEventListener(type: "open" | "error", listener: () => void): void;
};

export type WebSocketConstructor = new (url: string, protocols: string[]) => WebSocketLike;

export type SocketOptions = {
  /** Only events after this sequence; 0, the default, is from the beginning. */
  after?: number;
  types?: EventType[];
  includeRaw?: boolean;
  signal?: AbortSignal | undefined;
  /** Node before 22 has none of its own: give it that of the `ws` package. */
  WebSocket?: WebSocketConstructor;
};

/** Events that may wait for a slow reader before the daemon is asked to hold back. A WebSocket has no back-pressure of its own. */
const HIGH_WATER = 1_000;

type Answer = { id: number; ok: true; result: unknown } | { id: number; ok: false; problem: Problem };
type Incoming = Answer | { type: "hello" } | { type: "event"; event: UniversalEvent };
type Waiting = { resolve(value: unknown): void; reject(error: unknown): void };

export class SessionSocket {
  readonly #ws: WebSocketLike;
  readonly #following: { types?: EventType[]; include_raw?: boolean };
  readonly #waiting = new Map<number, Waiting>();
  readonly #queue: UniversalEvent[] = [];
  #wake: (() => void) | null = null;
  #lastId = 0;
  #lastSequence: number;
  #held = false;
  #closed: DragomanError | "ended" | null = null;

  private constructor(ws: WebSocketLike, options: SocketOptions) {
    this.#ws = ws;
    this.#lastSequence = options.after ?? 0;
    this.#following = {
      ...(options.types ? { types: options.types } : {}),
      ...(options.includeRaw ? { include_raw: true } : {}),
    };
    ws.addEventListener("message", ({ data }) => this.#take(String(data)));
    ws.addEventListener("close", ({ code, reason }) => this.#gone(code, reason));
    options.signal?.addEventListener("abort", () => this.close(), { once: true });
  }

  /** Resolves when the daemon has greeted. */
  static async open(http: Http, path: string, options: SocketOptions = {}): Promise<SessionSocket> {
    const Socket = options.WebSocket ?? (globalThis as { WebSocket?: WebSocketConstructor }).WebSocket;
    if (!Socket)
      throw new DragomanError(
        "unsupported",
        "This platform has no WebSocket. Give one: socket({ WebSocket }) with that of the ws package, or use Node 22.",
      );
    const { after, types, includeRaw } = options;
    const { url, protocols } = http.socket(path, { after, types, include_raw: includeRaw });
    const ws = new Socket(url, protocols);
    const socket = new SessionSocket(ws, options);
    await new Promise<void>((resolve, reject) => {
      ws.addEventListener("open", resolve);
      const refused = (): void =>
        reject(
          new DragomanError("unreachable", `No WebSocket at ${http.url}${path}. Is the token right, and the session there?`),
        );
      ws.addEventListener("error", refused);
      ws.addEventListener("close", refused);
    });
    return socket;
  }

  /** In order, each once, at the reader's pace; ends with the session. Throws `stream_ended` when the connection is lost. For one reader. */
  async *events(): AsyncGenerator<UniversalEvent, void, undefined> {
    for (;;) {
      const event = this.#queue.shift();
      if (event) {
        if (this.#held && this.#queue.length === 0) this.#resume();
        yield event;
        if (event.type === "session.ended") return;
        continue;
      }
      if (this.#closed === "ended") return;
      if (this.#closed) throw this.#closed;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  send(message: string, options: Omit<SendMessage, "message"> = {}): Promise<MessageAccepted> {
    return this.#ask("send", { message, ...options });
  }

  queue(): Promise<MessageQueueList> {
    return this.#ask("queue");
  }

  updateQueued(messageId: string, change: UpdateQueuedMessage): Promise<QueuedMessage> {
    return this.#ask("update_queued", { message_id: messageId, ...change });
  }

  async removeQueued(messageId: string): Promise<void> {
    await this.#ask("remove_queued", { message_id: messageId });
  }

  sendQueued(messageId: string): Promise<MessageAccepted> {
    return this.#ask("send_queued", { message_id: messageId });
  }

  async interrupt(): Promise<void> {
    await this.#ask("interrupt");
  }

  async terminate(): Promise<void> {
    // The session's end closes the socket, most often before the answer is sent.
    await this.#ask("terminate").catch((error: unknown) => {
      if (this.#closed !== "ended") throw error;
    });
  }

  update(change: UpdateSession): Promise<Session> {
    return this.#ask("configure", change);
  }

  async replyPermission(permissionId: string, reply: PermissionReplyBody): Promise<void> {
    await this.#ask("reply_permission", { permission_id: permissionId, ...reply });
  }

  async replyQuestion(questionId: string, answers: string[][]): Promise<void> {
    await this.#ask("reply_question", { question_id: questionId, answers });
  }

  async rejectQuestion(questionId: string): Promise<void> {
    await this.#ask("reject_question", { question_id: questionId });
  }

  pending(): Promise<Pending> {
    return this.#ask("pending");
  }

  get(): Promise<Session> {
    return this.#ask("session");
  }

  close(): void {
    this.#end("ended");
    this.#ws.close(1000);
  }

  #ask<T>(op: string, fields: object = {}): Promise<T> {
    if (this.#closed) return Promise.reject(new DragomanError("stream_ended", "The socket is closed. Open another one."));
    const id = ++this.#lastId;
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, { resolve: (value) => resolve(value as T), reject });
      this.#ws.send(JSON.stringify({ id, op, ...fields }));
    });
  }

  #take(text: string): void {
    const message = JSON.parse(text) as Incoming;
    if ("ok" in message) return this.#answered(message);
    if (message.type !== "event" || this.#closed) return;
    const { event } = message;
    // What was on its way when we asked to hold back comes again after we go on.
    if (event.sequence <= this.#lastSequence) return;
    this.#lastSequence = event.sequence;
    this.#queue.push(event);
    this.#wake?.();
    if (this.#queue.length >= HIGH_WATER && !this.#held) {
      this.#held = true;
      this.#ask("unsubscribe").catch(() => {});
    }
  }

  #resume(): void {
    this.#held = false;
    this.#ask("subscribe", { after: this.#lastSequence, ...this.#following }).catch(() => {});
  }

  #answered(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (answer.ok) waiting?.resolve(answer.result);
    else {
      const { problem } = answer;
      waiting?.reject(new DragomanError(problem.code, problem.detail, { status: problem.status, problem }));
    }
  }

  #gone(code: number, reason: string): void {
    const lost = new DragomanError("stream_ended", `The connection was closed (${code}${reason ? `: ${reason}` : ""}).`);
    this.#end(code === 1000 ? "ended" : lost);
  }

  #end(how: DragomanError | "ended"): void {
    this.#closed ??= how;
    const error = how === "ended" ? new DragomanError("stream_ended", "The socket was closed.") : how;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    this.#wake?.();
  }
}
