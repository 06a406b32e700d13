/**
 * This terminal as the terminal of a task: what is typed goes there, keys and all, and what it draws is drawn here as it is. The one place of the command line
 * that lets something command the terminal, because the person asked for that.
 */
import { DragomanError } from "../client/error.ts";
import type { TaskHandle } from "../client/task-handle.ts";
import type { TaskSocket } from "../client/task-socket.ts";
import type { TaskInfo } from "../schema/task.ts";
import type { Terminal } from "./command.ts";

/** Ctrl-]: leaves the terminal, and the task goes on. */
export const DETACH_KEY = "\u001d";
const CLEAR = "\u001b[H\u001b[2J\u001b[3J";
/** What a program may have left on: colours, the other screen, mouse, paste and focus reports, application keys, a hidden cursor. */
const RESET =
  "\u001b[m\u001b[?1049l\u001b[?1000l\u001b[?1002l\u001b[?1003l\u001b[?1006l\u001b[?2004l\u001b[?1004l\u001b[?1l\u001b>\u001b[?25h";

/** How it was left: null when the person left, and the task goes on. */
export async function attachTerminal(task: TaskHandle, terminal: Terminal): Promise<TaskInfo | null> {
  const socket = await openSocket(task, terminal.signal);
  const keys = new Keys(terminal, socket);
  let fault: DragomanError | null = null;
  socket.onRefused = (error) => {
    // Somebody who may only look sees all the same.
    if (error.code !== "task_ended" && error.code !== "forbidden") fault = error;
  };
  const { device } = terminal.stdout;
  try {
    keys.begin();
    for await (const message of socket.messages()) {
      if (message.type === "screen") device.write(CLEAR + message.serialized);
      if (message.type === "output") device.write(message.text);
      if (message.type === "ended") return message.task;
      if (fault !== null) throw fault;
      await terminal.stdout.drained();
    }
    if (!keys.left && !terminal.signal.aborted) throw new DragomanError("stream_ended", "The connection to the daemon was lost.");
    return null;
  } finally {
    keys.end();
    socket.close();
    device.write(`${RESET}\r\n`);
  }
}

export async function openSocket(task: TaskHandle, signal: AbortSignal): Promise<TaskSocket> {
  const { WebSocket } = await import("ws");
  return task.socket({ WebSocket, signal });
}

/** The keyboard and the size of this terminal. */
class Keys {
  left = false;
  readonly #terminal: Terminal;
  readonly #socket: TaskSocket;

  constructor(terminal: Terminal, socket: TaskSocket) {
    this.#terminal = terminal;
    this.#socket = socket;
  }

  begin(): void {
    this.#raw(true);
    this.#terminal.stdin.on("data", this.#typed);
    this.#terminal.stdout.device.on("resize", this.#resized);
    this.#resized();
  }

  end(): void {
    this.#raw(false);
    this.#terminal.stdin.off("data", this.#typed);
    this.#terminal.stdin.pause();
    this.#terminal.stdout.device.off("resize", this.#resized);
  }

  readonly #typed = (chunk: Buffer | string): void => {
    const bytes = Buffer.from(chunk);
    const at = bytes.indexOf(DETACH_KEY);
    const typed = at < 0 ? bytes : bytes.subarray(0, at);
    if (typed.length > 0) this.#socket.write({ base64: typed.toString("base64") });
    if (at < 0) return;
    this.left = true;
    this.#socket.close();
  };

  readonly #resized = (): void => {
    const { rows, columns } = this.#terminal.stdout.device as { rows?: number; columns?: number };
    if (rows && columns) this.#socket.resize({ rows, cols: columns });
  };

  #raw(on: boolean): void {
    const stdin = this.#terminal.stdin as Terminal["stdin"] & { setRawMode?(on: boolean): void };
    stdin.setRawMode?.(on);
  }
}
