// Amp's todo lists as one plan: `todo_write` replaces the whole list, `task_list` (January build) creates and changes single tasks on Amp's server.
import type { PlanEntry } from "../../../schema/content.ts";
import { isRecord, type JsonRecord, own, rec, records, str } from "../../json.ts";
import type { ToolCall } from "./tool-results.ts";

export class Plan {
  /** id → entry, in the order they came. */
  readonly #tasks = new Map<string, PlanEntry>();

  /** The list after a call that succeeded; undefined when the call was about something else. */
  apply(call: ToolCall, content: unknown): PlanEntry[] | undefined {
    if (call.name === "todo_write") return this.#replace(records(call.input.todos));
    if (call.name !== "task_list") return undefined;
    const answer = parse(content);
    if (call.input.action === "delete") this.#tasks.delete(str(call.input.taskID) ?? "");
    const touched = [...records(answer.tasks), ...(isRecord(answer.task) ? [answer.task] : [])];
    for (const task of touched) this.#put(task);
    return this.#tasks.size === 0 ? undefined : [...this.#tasks.values()];
  }

  #replace(todos: JsonRecord[]): PlanEntry[] | undefined {
    if (todos.length === 0) return undefined;
    return todos.map((todo) => entry(str(todo.content) ?? str(todo.text) ?? str(todo.title) ?? "", todo));
  }

  #put(task: JsonRecord): void {
    const id = str(task.id) ?? str(task.taskID);
    if (id === undefined) return;
    this.#tasks.set(id, entry(str(task.title) ?? this.#tasks.get(id)?.text ?? id, task));
  }
}

function entry(text: string, { status, priority }: JsonRecord): PlanEntry {
  const level: Pick<PlanEntry, "priority"> =
    priority === "high" || priority === "medium" || priority === "low" ? { priority } : {};
  return { text, status: own(STATUS, str(status) ?? "") ?? "pending", ...level };
}

const STATUS: Record<string, PlanEntry["status"]> = {
  todo: "pending",
  open: "pending",
  pending: "pending",
  "in-progress": "in_progress",
  in_progress: "in_progress",
  completed: "completed",
  done: "completed",
  cancelled: "cancelled",
};

function parse(content: unknown): JsonRecord {
  if (typeof content !== "string") return rec(content);
  try {
    return rec(JSON.parse(content));
  } catch {
    return {};
  }
}
