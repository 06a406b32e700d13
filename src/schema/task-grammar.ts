/** The grammar of a task's stream: takes its events one by one and names the rule that is broken and where. SPEC.md states the rules K1 to K3. */
import type { UniversalEvent } from "./event.ts";
import { foldTask, isOpen, type TaskEvent, type TaskState } from "./task.ts";
import { eventFault } from "./validate.ts";

export type TaskRule = "K1" | "K2" | "K3";
export type TaskViolation = { rule: TaskRule; sequence: number; event_type: string; message: string };
type Blame = (rule: TaskRule, message: string) => void;

export class TaskGrammar {
  /** The task after the events that were checked. */
  state: TaskState | null = null;
  #sequence = 0;
  #cancelRequested = false;
  readonly #told = new Map<string, number>();

  check(event: UniversalEvent): TaskViolation[] {
    const broken: TaskViolation[] = [];
    const blame: Blame = (rule, message) => void broken.push({ rule, sequence: event.sequence, event_type: event.type, message });
    const fault = eventFault(event);
    if (fault) blame("K1", fault);
    if (event.sequence !== this.#sequence + 1) blame("K1", `sequence ${event.sequence} follows ${this.#sequence}`);
    this.#sequence = event.sequence;
    if (!isTaskEvent(event)) blame("K1", "only task events are in the stream of a task");
    else {
      if (event.data.task_id !== event.session_id) blame("K1", `the event is of task ${event.data.task_id}`);
      this.#place(event, blame);
      this.#content(event, blame);
      this.state = foldTask(this.state, event);
    }
    return broken;
  }

  #place(event: TaskEvent, blame: Blame): void {
    if ((event.type === "task.spawned") !== (this.state === null)) blame("K1", "task.spawned is first and once");
    if (this.state !== null && !isOpen(this.state)) blame("K2", "nothing follows the last status");
  }

  #content(event: TaskEvent, blame: Blame): void {
    const isPty = this.state?.execution_mode === "pty";
    switch (event.type) {
      case "task.status":
        if (event.data.status === "queued" && this.state?.started_at) blame("K2", "a task that ran does not wait");
        return;
      case "task.cancel_requested":
        if (this.#cancelRequested) blame("K2", "it is asked to end once");
        this.#cancelRequested = true;
        return;
      case "task.cancelled":
        if (!this.#cancelRequested) blame("K2", "nobody asked it to end");
        return;
      case "task.output": {
        const { stream, offset = 0, bytes = 0 } = event.data;
        if ((stream === "pty") !== isPty) blame("K3", `a task on ${isPty ? "a terminal" : "pipes"} has no stream ${stream}`);
        const told = this.#told.get(stream) ?? 0;
        if (offset !== told) blame("K3", `output at ${offset} follows output up to ${told}`);
        this.#told.set(stream, offset + bytes);
        return;
      }
      case "task.stdin":
      case "task.resized":
        if (!isPty) blame("K3", "only terminals report their input and size");
        return;
      default:
        return;
    }
  }
}

const isTaskEvent = (event: UniversalEvent): event is Extract<UniversalEvent, { type: TaskEvent["type"] }> =>
  event.type.startsWith("task.");

/** Checks a whole stream. */
export function checkTaskGrammar(events: Iterable<UniversalEvent>): TaskViolation[] {
  const grammar = new TaskGrammar();
  return Array.from(events, (event) => grammar.check(event)).flat();
}
