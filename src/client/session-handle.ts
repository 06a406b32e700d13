/**
 * A session as an object: send, watch, answer, change, end. Every route of one session has a method here. Not here: what a stream of its events is
 * (session-stream.ts), how a request is sent (http.ts).
 */
import type { UnifiedMessage } from "../dialects/unified-message.ts";
import type { ArtifactList, ArtifactQuery } from "../schema/artifact.ts";
import type { Changes, Checkpoint, CheckpointList, RewindCheckpoint, Rewound, TakeCheckpoint } from "../schema/checkpoint.ts";
import type { UniversalEvent } from "../schema/event.ts";
import type { Item } from "../schema/item.ts";
import type { MoveSession } from "../schema/node.ts";
import type {
  Coverage,
  DirectorySettings,
  ForkSession,
  ItemList,
  MessageAccepted,
  Pending,
  PermissionReplyBody,
  Session,
  UpdateQueuedMessage,
  UpdateSession,
} from "../schema/session.ts";
import type { MessageQueueList, QueuedMessage, SessionSnapshot } from "../schema/snapshot.ts";
import type { StartTask, TaskInfo, TaskList } from "../schema/task.ts";
import { DragomanError } from "./error.ts";
import type { EventsPage, PageOptions } from "./event-pages.ts";
import { readSse } from "./event-stream.ts";
import { type Call, callOptions, type Http } from "./http.ts";
import { beforeQueued, messageRequest, type SendOptions } from "./sent-message.ts";
import { SessionFiles } from "./session-files.ts";
import type { SessionSocket, SocketOptions } from "./session-socket.ts";
import { type DialectOptions, type EventsOptions, sessionStream } from "./session-stream.ts";
import { type SessionListeners, SessionWatch } from "./session-watch.ts";
import { TaskHandle, type TaskListOptions } from "./task-handle.ts";
import type { TurnOutcome } from "./turn-outcome.ts";

export type { EventsPage, PageOptions } from "./event-pages.ts";
export type { TurnOutcome } from "./turn-outcome.ts";

export type DiffOptions = {
  /** With unified diffs; default true. */
  text?: boolean;
  /** Only this path and what is below it. */
  path?: string;
  signal?: AbortSignal | undefined;
};

export type ItemsOptions = {
  /** Only items that started after, and before, these events. */
  after?: number;
  before?: number;
  /** At most so many; default 100, at most 1000. */
  limit?: number;
  /** `desc`: the newest first. */
  order?: "asc" | "desc";
  /** As they were after this event. */
  at?: number;
  signal?: AbortSignal | undefined;
};

export type SharedSession = { token: string; token_id: string; expires_at: string; url: string };

export class SessionHandle {
  readonly id: string;
  readonly #http: Http;
  readonly #path: string;
  /** The files of its directory. */
  readonly files: SessionFiles;
  readonly #watch: SessionWatch = new SessionWatch(this);

  constructor(http: Http, id: string) {
    this.#http = http;
    this.id = id;
    this.#path = `/v1/sessions/${encodeURIComponent(id)}`;
    this.files = new SessionFiles(http, this.#path);
  }

  get(signal?: AbortSignal): Promise<Session> {
    return this.#http.json("GET", this.#path, { signal });
  }

  /** A link that shows this one session and lets nobody change anything. It ends after a day, or with the token it was made by. */
  async share(signal?: AbortSignal): Promise<SharedSession> {
    const made = await this.#http.json<Omit<SharedSession, "url">>("POST", `${this.#path}/share`, { signal });
    return { ...made, url: `${this.#http.url}/ui#link=${made.token}&at=/sessions/${encodeURIComponent(this.id)}` };
  }

  /** Which files of its directory the agent loads, and which are held back. */
  directorySettings(signal?: AbortSignal): Promise<DirectorySettings> {
    return this.#http.json("GET", `${this.#path}/settings`, { signal });
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
    return this.#http.json("POST", `${this.#path}/messages`, messageRequest(message, options));
  }

  /** Sends, and yields the events of the turn to its end, over one connection. When that is lost, `outcome` and `events` can still give the rest. */
  async *sendStream(
    message: string,
    options: SendOptions & Pick<EventsOptions, "types" | "includeRaw"> = {},
  ): AsyncGenerator<UniversalEvent, void, undefined> {
    const { types, includeRaw, ...sent } = options;
    const request = messageRequest(message, sent);
    const response = await this.#http.open("POST", `${this.#path}/messages/stream`, {
      ...request,
      query: { types, include_raw: includeRaw },
      headers: { ...request.headers, accept: "text/event-stream" },
    });
    for await (const { id, data } of readSse(response)) if (id !== undefined) yield JSON.parse(data) as UniversalEvent;
  }

  /** Sends and waits for the end of the turn. Permissions must be answered elsewhere meanwhile, for example with `on("permission", …)`. */
  async prompt(message: string, options: SendOptions & { onEvent?: (event: UniversalEvent) => void } = {}): Promise<TurnOutcome> {
    const { last_sequence } = await this.get(options.signal);
    const { turn_id, message_id } = await this.send(message, options);
    const after =
      options.idempotencyKey === undefined ? last_sequence : await beforeQueued(this, message_id, last_sequence, options.signal);
    return this.outcome(turn_id, { after, message_id, ...options });
  }

  /** Waits for the end of a turn that was started after the given sequence. `message_removed`: its message was taken out of the queue, so there will be none. */
  async outcome(
    turnId: string,
    options: {
      after?: number;
      /** The message of the turn, where it was queued before `after`. */
      message_id?: string;
      signal?: AbortSignal | undefined;
      onEvent?: (event: UniversalEvent) => void;
    } = {},
  ): Promise<TurnOutcome> {
    try {
      // Loaded on use, with the fold of items it needs.
      const { turnOutcome } = await import("./turn-outcome.ts");
      const events = this.events({ after: options.after ?? 0, signal: options.signal });
      return await turnOutcome({ turn_id: turnId, message_id: options.message_id }, events, options.onEvent);
    } catch (error) {
      if (options.signal?.aborted)
        throw new DragomanError("aborted", "Waiting for the turn was aborted; the turn itself goes on.", { cause: error });
      throw error;
    }
  }

  /** Live, from any point, in order, exactly once, across reconnects; ends after session.ended. */
  async *events(options: EventsOptions = {}): AsyncGenerator<UniversalEvent, void, undefined> {
    for await (const data of sessionStream(this.#http, this.#path, options)) yield JSON.parse(data) as UniversalEvent;
  }

  /** The session for a page that thinks in messages. Same promises as `events`; `sequence` of the last message resumes it. */
  async *messages(options: DialectOptions = {}): AsyncGenerator<UnifiedMessage, void, undefined> {
    for await (const data of sessionStream(this.#http, this.#path, options, "messages")) yield JSON.parse(data) as UnifiedMessage;
  }

  /** The session in any dialect the daemon knows, one parsed line at a time. */
  async *dialect(name: string, options: DialectOptions = {}): AsyncGenerator<unknown, void, undefined> {
    for await (const data of sessionStream(this.#http, this.#path, options, name)) yield JSON.parse(data) as unknown;
  }

  /** One page of the past. */
  page(options: PageOptions = {}): Promise<EventsPage> {
    const { includeRaw, signal, ...query } = options;
    return this.#http.json("GET", `${this.#path}/events`, { query: { ...query, include_raw: includeRaw }, signal });
  }

  /** Events and commands over one WebSocket. */
  async socket(options: SocketOptions = {}): Promise<SessionSocket> {
    // Loaded on use: most pages follow events without one.
    const { SessionSocket } = await import("./session-socket.ts");
    return SessionSocket.open(this.#http, `${this.#path}/ws`, options);
  }

  /** One page of the transcript. `transcript` reads all of it. */
  items(options: ItemsOptions = {}): Promise<ItemList> {
    const { signal, ...query } = options;
    return this.#http.json("GET", `${this.#path}/items`, { query, signal });
  }

  /** Every item, page by page, the oldest first. */
  async *transcript(options: Pick<ItemsOptions, "after" | "at" | "signal"> = {}): AsyncGenerator<Item, void, undefined> {
    for (let after = options.after ?? 0; ; ) {
      const page = await this.items({ ...options, after, limit: 1_000 });
      yield* page.items;
      if (!page.has_more) return;
      after = page.next;
    }
  }

  /** The state of the session, or the one it had after an event. `SessionProjection` goes on from it. */
  snapshot(options: { at?: number; signal?: AbortSignal | undefined } = {}): Promise<SessionSnapshot> {
    const { signal, ...query } = options;
    return this.#http.json("GET", `${this.#path}/snapshot`, { query, signal });
  }

  /** The messages that wait for their turn. */
  queue(signal?: AbortSignal): Promise<MessageQueueList> {
    return this.#http.json("GET", `${this.#path}/queue`, { signal });
  }

  /** Edits a message that waits, or moves it: position 0 is delivered next, `before` names the one behind it. */
  updateQueued(messageId: string, change: UpdateQueuedMessage, signal?: AbortSignal): Promise<QueuedMessage> {
    return this.#http.json("PATCH", `${this.#path}/queue/${encodeURIComponent(messageId)}`, { body: change, signal });
  }

  async removeQueued(messageId: string, signal?: AbortSignal): Promise<void> {
    await this.#http.json("DELETE", `${this.#path}/queue/${encodeURIComponent(messageId)}`, { signal });
  }

  /** Sends a message before its time: into the running turn. `steer_unsupported`: this agent cannot take it there. */
  sendQueued(messageId: string, signal?: AbortSignal): Promise<MessageAccepted> {
    return this.#http.json("POST", `${this.#path}/queue/${encodeURIComponent(messageId)}/send`, { body: {}, signal });
  }

  /** The moments the session can go back to, the oldest first. */
  checkpoints(signal?: AbortSignal): Promise<CheckpointList> {
    return this.#http.json("GET", `${this.#path}/checkpoints`, { signal });
  }

  /** Stores the session's directory as it is now. */
  takeCheckpoint(request: TakeCheckpoint = {}, call?: Call): Promise<Checkpoint> {
    return this.#http.json("POST", `${this.#path}/checkpoints`, { body: request, ...callOptions(call) });
  }

  /** What changed from a checkpoint to another one, or to now. */
  diff(checkpointId: string, options: DiffOptions & { to?: string } = {}): Promise<Changes> {
    const { signal, ...query } = options;
    return this.#http.json("GET", `${this.#path}/checkpoints/${encodeURIComponent(checkpointId)}/diff`, { query, signal });
  }

  /** Goes back to a checkpoint: its files, its conversation, or both. `undoRewind` takes it back. */
  rewind(checkpointId: string, request: RewindCheckpoint = {}, call?: Call): Promise<Rewound> {
    const path = `${this.#path}/checkpoints/${encodeURIComponent(checkpointId)}/rewind`;
    return this.#http.json("POST", path, { body: request, ...callOptions(call) });
  }

  /** Takes the last rewind back. Again: brings it back. */
  async undoRewind(request: RewindCheckpoint = {}, call?: Call): Promise<Rewound> {
    const { checkpoints } = await this.checkpoints(callOptions(call).signal);
    const before = checkpoints.findLast(({ kind }) => kind === "before_rewind");
    if (!before)
      throw new DragomanError("checkpoint_not_found", "Nothing was rewound in this session, so there is nothing to undo.");
    return this.rewind(before.checkpoint_id, request, call);
  }

  /** What changed in the directory during the session, or during one turn, whatever the agent used to change it. */
  changes(options: DiffOptions & { turn?: string } = {}): Promise<Changes> {
    const { signal, ...query } = options;
    return this.#http.json("GET", `${this.#path}/changes`, { query, signal });
  }

  pending(signal?: AbortSignal): Promise<Pending> {
    return this.#http.json("GET", `${this.#path}/pending`, { signal });
  }

  coverage(signal?: AbortSignal): Promise<Coverage> {
    return this.#http.json("GET", `${this.#path}/coverage`, { signal });
  }

  /** The flight recorder: every native message as NDJSON, the format of recorded traces. */
  async native(options: AbortSignal | { after?: number; limit?: number; signal?: AbortSignal } = {}): Promise<string> {
    const { signal, ...query } = "aborted" in options ? { signal: options } : options;
    return (await this.#http.open("GET", `${this.#path}/native`, { query, signal })).text();
  }

  /** The whole session as NDJSON: its row, its events, its native messages; known secrets are redacted unless asked for (role admin). */
  export(options: AbortSignal | { with_secrets?: boolean; signal?: AbortSignal } = {}): Promise<Response> {
    const { signal, ...query } = "aborted" in options ? { signal: options } : options;
    return this.#http.open("GET", `${this.#path}/export`, { query, signal });
  }

  /** Starts a command in the session's directory, beside its turns. */
  async startTask(request: StartTask, call?: Call): Promise<TaskHandle> {
    const { task_id } = await this.#http.json<TaskInfo>("POST", `${this.#path}/tasks`, { body: request, ...callOptions(call) });
    return new TaskHandle(this.#http, task_id);
  }

  /** The newest first. */
  tasks(options: TaskListOptions = {}, signal?: AbortSignal): Promise<TaskList> {
    return this.#http.json("GET", `${this.#path}/tasks`, { query: { ...options }, signal });
  }

  /** What the session and its tasks stored beside their events: images, long outputs, attachments. */
  artifacts(options: ArtifactQuery = {}, signal?: AbortSignal): Promise<ArtifactList> {
    return this.#http.json("GET", `${this.#path}/artifacts`, { query: { ...options }, signal });
  }

  /** In a fleet: gives it to another node. */
  async move(to: MoveSession = {}, signal?: AbortSignal): Promise<void> {
    await this.#http.json("POST", `${this.#path}/move`, { body: to, signal });
  }

  async interrupt(signal?: AbortSignal): Promise<void> {
    await this.#http.json("POST", `${this.#path}/interrupt`, { body: {}, signal });
  }

  /** Starts the agent of a dormant session without a message; the next message would do it, too. */
  resume(signal?: AbortSignal): Promise<Session> {
    return this.#http.json("POST", `${this.#path}/resume`, { body: {}, signal });
  }

  async terminate(signal?: AbortSignal): Promise<void> {
    await this.#http.json("POST", `${this.#path}/terminate`, { body: {}, signal });
  }

  async fork(options: ForkSession = {}, call?: Call): Promise<SessionHandle> {
    const { session_id } = await this.#http.json<Session>("POST", `${this.#path}/fork`, { body: options, ...callOptions(call) });
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
    return this.#watch.on(name, listener);
  }

  close(): void {
    this.#watch.close();
  }
}
