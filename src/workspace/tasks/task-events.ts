/** What a task writes: the eight task events of the universal schema, through one small door. Where they are stored is not known here. */
import type { TaskEvent } from "../../schema/task.ts";

/**
 * Takes the events of all tasks. It keeps the order of the calls, also when it answers with promises. An append that is stored later returns a promise: the
 * task then reads no further once too many bytes wait. A rejected append ends the task, because its story cannot be recorded any more.
 */
export interface TaskSink {
  append(event: TaskEvent): void | Promise<void>;
}

/** Keeps everything in memory, for tests and for tasks that nobody records. */
export class MemoryTaskSink implements TaskSink {
  readonly events: TaskEvent[] = [];
  readonly #waits: { test(event: TaskEvent): boolean; resolve(event: TaskEvent): void }[] = [];

  append(event: TaskEvent): void {
    this.events.push(event);
    for (const wait of this.#waits.filter(({ test }) => test(event))) {
      this.#waits.splice(this.#waits.indexOf(wait), 1);
      wait.resolve(event);
    }
  }

  of(taskId: string): TaskEvent[] {
    return this.events.filter(({ data }) => data.task_id === taskId);
  }

  /** All output of one stream of a task, as text. */
  text(taskId: string, stream: "stdout" | "stderr" | "pty"): string {
    return this.of(taskId)
      .flatMap((event) => (event.type === "task.output" && event.data.stream === stream ? [event.data.chunk] : []))
      .join("");
  }

  /** The first event that passes the test, among those that are there or those to come. */
  next(test: (event: TaskEvent) => boolean): Promise<TaskEvent> {
    const known = this.events.find(test);
    if (known) return Promise.resolve(known);
    return new Promise((resolve) => this.#waits.push({ test, resolve }));
  }
}
