/** Helpers for the tests of this folder: a manager with a directory and a sink of its own. Not part of the product. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TaskEvent, TaskRequest } from "../../schema/task.ts";
import { ProcessRegistry } from "../../transports/index.ts";
import type { TaskPlace } from "./start-request.ts";
import { MemoryTaskSink } from "./task-events.ts";
import { Tasks, type TasksOptions, type TaskView } from "./tasks.ts";

export type TestTasks = {
  /** Everything lies below it. */
  base: string;
  place: TaskPlace;
  sink: MemoryTaskSink;
  tasks: Tasks;
  start(request: TaskRequest): Promise<TaskView>;
  /** Starts it, and resolves when it is over. */
  run(request: TaskRequest): Promise<TaskView>;
  /** Resolves when the output of the task so far matches. */
  wrote(taskId: string, pattern: RegExp): Promise<RegExpExecArray>;
  /** Types of the task's events in order, output reported once however many chunks it had. */
  story(taskId: string): string[];
  close(): Promise<void>;
};

export function openTasks(options: Partial<TasksOptions> = {}): TestTasks {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "tasks-")));
  const root = join(base, "workspace");
  const outputDirectory = join(base, "output");
  for (const directory of [root, outputDirectory]) mkdirSync(directory);
  const sink = new MemoryTaskSink();
  const tasks = new Tasks({ sink, recorder: new ProcessRegistry(join(base, "processes")), outputDirectory, ...options });
  const place: TaskPlace = { root, environment: { PATH: process.env.PATH, HOME: base, LANG: "C.UTF-8" } };
  const start = (request: TaskRequest): Promise<TaskView> => tasks.start(request, place);
  return {
    base,
    place,
    sink,
    tasks,
    start,
    run: async (request) => tasks.ended((await start(request)).task_id),
    wrote: async (taskId, pattern) => {
      const all = (): string => (["stdout", "stderr", "pty"] as const).map((stream) => sink.text(taskId, stream)).join("");
      await sink.next((event) => event.data.task_id === taskId && event.type === "task.output" && pattern.test(all()));
      const match = pattern.exec(all());
      if (match === null) throw new Error("it matched a moment ago");
      return match;
    },
    story: (taskId) => told(sink.of(taskId)),
    close: async () => {
      await tasks.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}

const told = (events: readonly TaskEvent[]): string[] =>
  events
    .map((event) => (event.type === "task.status" ? `status ${event.data.status}` : event.type.replace("task.", "")))
    .filter((type, i, all) => type !== "output" || all[i - 1] !== "output");
