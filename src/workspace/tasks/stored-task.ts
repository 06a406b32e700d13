/** A task that has ended and is known by its events alone: its output by range and its last screen, as far as the events hold them. */
import type { Stream } from "../../log/contract.ts";
import { foldTask, type TaskEvent, type TaskState, type TerminalSize } from "../../schema/task.ts";
import type { OutputRange } from "./output-store.ts";
import { type Screen, TaskScreen } from "./screen.ts";
import { TaskError } from "./task-error.ts";
import type { OutputStream } from "./task-process.ts";
import type { WatchedTask } from "./tasks.ts";

type Chunk = { offset: number; bytes: Buffer };

export class StoredTask implements WatchedTask {
  readonly state: TaskState;
  readonly #chunks = new Map<OutputStream, Chunk[]>();
  readonly #sizes: (TerminalSize & { offset: number })[] = [];

  private constructor(events: readonly TaskEvent[]) {
    let state: TaskState | null = null;
    for (const event of events) {
      state = foldTask(state, event);
      if (event.type === "task.output") this.#add(event.data);
      if (event.type === "task.resized")
        this.#sizes.push({ rows: event.data.rows, cols: event.data.cols, offset: this.shown("pty") });
    }
    if (state === null) throw new TaskError("task_not_found", "The task has no events.");
    this.state = state;
  }

  static async read(stream: Stream): Promise<StoredTask> {
    const events: TaskEvent[] = [];
    for (let after = 0; ; ) {
      const page = await stream.read({ after });
      for (const json of page.events) events.push(JSON.parse(json) as TaskEvent);
      if (!page.has_more) return new StoredTask(events);
      after = page.next;
    }
  }

  shown(stream: OutputStream): number {
    const last = this.#chunks.get(stream)?.at(-1);
    return last === undefined ? 0 : last.offset + last.bytes.length;
  }

  async read(stream: OutputStream, offset: number, limit: number): Promise<OutputRange> {
    const total = this.shown(stream);
    const from = Math.min(Math.max(0, offset), total);
    const parts: Buffer[] = [];
    for (const { offset: at, bytes } of this.#chunks.get(stream) ?? [])
      if (at + bytes.length > from && at < from + limit) parts.push(bytes.subarray(Math.max(0, from - at), from + limit - at));
    return { offset: from, bytes: Buffer.concat(parts), total };
  }

  async screen(scrollback?: number): Promise<Screen> {
    if (this.state.execution_mode !== "pty")
      throw new TaskError("not_a_terminal", `Task ${this.state.task_id} ran on pipes, so it has no screen.`);
    const source = { sizes: this.#sizes, total: () => this.shown("pty"), read: this.read.bind(this, "pty") };
    const screen = new TaskScreen(source);
    try {
      return await screen.now(scrollback);
    } finally {
      screen.dispose();
    }
  }

  /** Nothing changes any more. */
  follow(): () => void {
    return () => {};
  }

  /** Invalid UTF-8 was replaced in the text: it keeps its length in bytes. */
  #add({ stream, chunk, offset, bytes }: Extract<TaskEvent, { type: "task.output" }>["data"]): void {
    const text = Buffer.from(chunk);
    const at = offset ?? this.shown(stream);
    const list = this.#chunks.get(stream) ?? [];
    this.#chunks.set(stream, list);
    if (bytes === undefined || text.length === bytes) list.push({ offset: at, bytes: text });
    else
      list.push({
        offset: at,
        bytes: Buffer.concat([text.subarray(0, bytes), Buffer.alloc(Math.max(0, bytes - text.length), 63)]),
      });
  }
}
