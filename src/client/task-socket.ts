/**
 * A task over one WebSocket: its screen and output as they come, and what is typed. One connection; it does not come back by itself. What comes in is handed
 * over in order, the next when the one before is taken; a reader far behind gets the screen again instead of all output.
 */
import type { Problem } from "../schema/session.ts";
import type { TaskInput, TaskSocketMessage, TerminalSize } from "../schema/task.ts";
import { DragomanError } from "./error.ts";
import type { Http } from "./http.ts";
import type { WebSocketConstructor, WebSocketLike } from "./session-socket.ts";

export type TaskSocketOptions = {
  signal?: AbortSignal | undefined;
  /** Node before 22 has none of its own: give it that of the `ws` package. */
  WebSocket?: WebSocketConstructor;
};

type Refusal = { id: unknown; ok: false; problem: Problem };
type Incoming = TaskSocketMessage | { id: unknown; ok: true } | Refusal;

export class TaskSocket {
  readonly #ws: WebSocketLike;
  readonly #queue: TaskSocketMessage[] = [];
  #wake: (() => void) | null = null;
  #closed: DragomanError | "ended" | null = null;
  /** Called with what the daemon refused: what is typed is not waited for. */
  onRefused: (error: DragomanError) => void = () => {};

  private constructor(ws: WebSocketLike, signal: AbortSignal | undefined) {
    this.#ws = ws;
    ws.addEventListener("message", ({ data }) => this.#take(String(data)));
    ws.addEventListener("close", ({ code, reason }) =>
      this.#end(
        code === 1000
          ? "ended"
          : new DragomanError("stream_ended", `The connection was closed (${code}${reason ? `: ${reason}` : ""}).`),
      ),
    );
    signal?.addEventListener("abort", () => this.close(), { once: true });
  }

  static async open(http: Http, path: string, options: TaskSocketOptions = {}): Promise<TaskSocket> {
    const Socket = options.WebSocket ?? (globalThis as { WebSocket?: WebSocketConstructor }).WebSocket;
    if (!Socket)
      throw new DragomanError(
        "unsupported",
        "This platform has no WebSocket. Give one: socket({ WebSocket }) with that of the ws package, or use Node 22.",
      );
    const { url, protocols } = http.socket(path);
    const ws = new Socket(url, protocols);
    const socket = new TaskSocket(ws, options.signal);
    await new Promise<void>((resolve, reject) => {
      const refused = (): void =>
        reject(new DragomanError("unreachable", `No WebSocket at ${http.url}${path}. Is the token right, and the task there?`));
      ws.addEventListener("open", resolve);
      ws.addEventListener("error", refused);
      ws.addEventListener("close", refused);
    });
    return socket;
  }

  /** In order, to `ended`. Throws `stream_ended` when the connection is lost. For one reader. */
  async *messages(): AsyncGenerator<TaskSocketMessage, void, undefined> {
    for (;;) {
      const message = this.#queue.shift();
      if (message) {
        yield message;
        if (message.type === "ended") return;
        continue;
      }
      if (this.#closed === "ended") return;
      if (this.#closed) throw this.#closed;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Types it. */
  write(input: string | TaskInput): void {
    this.#send({ op: "stdin", ...(typeof input === "string" ? { text: input } : input) });
  }

  resize({ rows, cols }: TerminalSize): void {
    this.#send({ op: "resize", rows, cols });
  }

  signal(signal: string): void {
    this.#send({ op: "signal", signal });
  }

  cancel(reason?: string): void {
    this.#send({ op: "cancel", ...(reason === undefined ? {} : { reason }) });
  }

  /** The task goes on. */
  close(): void {
    this.#end("ended");
    this.#ws.close(1000);
  }

  #send(message: object): void {
    if (this.#closed === null) this.#ws.send(JSON.stringify(message));
  }

  #take(text: string): void {
    const message = JSON.parse(text) as Incoming;
    if ("ok" in message) {
      if (message.ok) return;
      const { problem } = message;
      return this.onRefused(new DragomanError(problem.code, problem.detail, { status: problem.status, problem }));
    }
    this.#queue.push(message);
    this.#wake?.();
  }

  #end(how: DragomanError | "ended"): void {
    this.#closed ??= how;
    this.#wake?.();
  }
}
