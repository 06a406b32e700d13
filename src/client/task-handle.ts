// One task as an object: a command that runs beside the turns of a session, on pipes or in a terminal.
import type { UniversalEvent } from "../schema/event.ts";
import type { EventType } from "../schema/event-data.ts";
import type { OutputStreamName, TaskInfo, TaskInput, TaskOutputRange, TaskScreen, TerminalSize } from "../schema/task.ts";
import { isOpen } from "../schema/task-status.ts";
import type { EventsPage, PageOptions } from "./event-pages.ts";
import { eventStream, type StreamState } from "./event-stream.ts";
import type { Http } from "./http.ts";
import type { TaskSocket, TaskSocketOptions } from "./task-socket.ts";

export type TaskListOptions = { status?: TaskInfo["status"]; limit?: number; before?: string };

export type TaskEventsOptions = {
  after?: number;
  types?: EventType[];
  signal?: AbortSignal | undefined;
  onState?: ((state: StreamState) => void) | undefined;
};

export class TaskHandle {
  readonly id: string;
  readonly #http: Http;
  readonly #path: string;

  constructor(http: Http, id: string) {
    this.#http = http;
    this.id = id;
    this.#path = `/v1/tasks/${encodeURIComponent(id)}`;
  }

  get(signal?: AbortSignal): Promise<TaskInfo> {
    return this.#http.json("GET", this.#path, { signal });
  }

  /** Those that were and those to come, to its last `task.status`; across restarts of the daemon. */
  async *events({ after, types, signal, onState }: TaskEventsOptions = {}): AsyncGenerator<UniversalEvent, void, undefined> {
    const stream = eventStream(this.#http, {
      path: `${this.#path}/events/sse`,
      query: { types },
      signal,
      onState,
      isLast: ({ data }) => endsTask(JSON.parse(data) as UniversalEvent),
      ...(after === undefined ? {} : { after: String(after) }),
    });
    for await (const { data } of stream) yield JSON.parse(data) as UniversalEvent;
  }

  page(options: Omit<PageOptions, "includeRaw"> = {}): Promise<EventsPage> {
    const { signal, ...query } = options;
    return this.#http.json("GET", `${this.#path}/events`, { query, signal });
  }

  /** Resolves when it is over. */
  async ended(signal?: AbortSignal): Promise<TaskInfo> {
    for await (const _ of this.events({ signal }));
    return this.get(signal);
  }

  /** Types into its terminal, or writes to its standard input. */
  async write(input: string | TaskInput, signal?: AbortSignal): Promise<void> {
    const body = typeof input === "string" ? { text: input } : input;
    await this.#http.json("POST", `${this.#path}/stdin`, { body, signal });
  }

  async resize(size: TerminalSize, signal?: AbortSignal): Promise<void> {
    await this.#http.json("POST", `${this.#path}/resize`, { body: size, signal });
  }

  async signal(name: string, signal?: AbortSignal): Promise<void> {
    await this.#http.json("POST", `${this.#path}/signal`, { body: { signal: name }, signal });
  }

  /** Resolves when no process of it is left. */
  cancel(reason?: string, signal?: AbortSignal): Promise<TaskInfo> {
    const body = reason === undefined ? {} : { reason };
    return this.#http.json("POST", `${this.#path}/cancel`, { body, signal });
  }

  /** A range of its output by bytes. */
  output(
    options: { stream?: OutputStreamName; offset?: number; limit?: number; signal?: AbortSignal } = {},
  ): Promise<TaskOutputRange> {
    const { signal, ...query } = options;
    return this.#http.json("GET", `${this.#path}/output`, { query, signal });
  }

  screen(options: { scrollback?: number; signal?: AbortSignal } = {}): Promise<TaskScreen> {
    const { signal, ...query } = options;
    return this.#http.json("GET", `${this.#path}/screen`, { query, signal });
  }

  /** Its terminal, live. */
  async socket(options: TaskSocketOptions = {}): Promise<TaskSocket> {
    const { TaskSocket } = await import("./task-socket.ts");
    return TaskSocket.open(this.#http, `${this.#path}/ws`, options);
  }

  /** Removes an ended task with everything it wrote. */
  async remove(signal?: AbortSignal): Promise<void> {
    await this.#http.json("DELETE", this.#path, { signal });
  }
}

const endsTask = (event: UniversalEvent): boolean => event.type === "task.status" && !isOpen(event.data);
