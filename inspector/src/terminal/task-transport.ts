/** A terminal on the page connected to a task of the daemon: over its WebSocket, opened again when it is lost. The screen comes first, each time. */
import type { TaskHandle } from "../../../src/client/task-handle.ts";
import type { TaskSocket } from "../../../src/client/task-socket.ts";
import type { TaskInfo, TaskSocketMessage } from "../../../src/schema/task.ts";
import type { TerminalMessage, TerminalSize, TerminalTransport } from "./terminal-transport.ts";

const AGAIN_MS = 1_000;
/** Of a task on pipes, whose output is shown as text. */
const TEXT_SIZE: TerminalSize = { rows: 24, cols: 120 };

type Listener = (message: TerminalMessage) => Promise<void>;

export class TaskTransport implements TerminalTransport {
  readonly #task: TaskHandle;
  #socket: TaskSocket | null = null;
  #size: TerminalSize | null = null;
  #closed = false;

  constructor(task: TaskHandle) {
    this.#task = task;
  }

  onData(listener: Listener): () => void {
    const leaving = new AbortController();
    void this.#follow(listener, leaving.signal);
    return () => leaving.abort();
  }

  write(data: string): void {
    this.#socket?.write(data);
  }

  resize(size: TerminalSize): void {
    this.#size = size;
    this.#socket?.resize(size);
  }

  close(): void {
    this.#closed = true;
    this.#socket?.close();
  }

  async #follow(listener: Listener, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.#closed) {
      try {
        if (await this.#connected(listener, signal)) return;
      } catch {
        // The daemon restarts, or the network is away: once more, in a moment.
      }
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }

  /** True when the task has ended. */
  async #connected(listener: Listener, signal: AbortSignal): Promise<boolean> {
    const socket = await this.#task.socket({ signal });
    this.#socket = socket;
    if (this.#size !== null) socket.resize(this.#size);
    for await (const message of socket.messages()) {
      if (signal.aborted) return false;
      for (const each of shown(message)) await listener(each);
      if (message.type === "ended") return true;
    }
    return false;
  }
}

function shown(message: TaskSocketMessage): TerminalMessage[] {
  switch (message.type) {
    case "hello":
      return message.task.execution_mode === "pipes" ? [{ type: "screen", serialized: "", ...TEXT_SIZE }] : [];
    case "screen":
      return [{ type: "screen", serialized: message.serialized, rows: message.rows, cols: message.cols }];
    case "output":
      return [{ type: "output", text: message.stream === "pty" ? message.text : message.text.replaceAll("\n", "\r\n") }];
    case "size":
      return [{ type: "size", rows: message.rows, cols: message.cols }];
    case "ended":
      return [{ type: "ended", reason: endOf(message.task) }];
    default:
      return message satisfies never;
  }
}

export function endOf({ status, exit_code, signal, error }: TaskInfo): string {
  if (status === "failed") return `failed: ${error ?? "unknown"}`;
  if (signal !== null) return `${status} by ${signal}`;
  return exit_code === null ? status : `${status} with ${exit_code}`;
}
