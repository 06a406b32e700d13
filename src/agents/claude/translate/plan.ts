// Todo lists as one plan item a turn: TodoWrite gives the whole list, the Task* tools change single entries.
import type { PlanEntry } from "../../../schema/content.ts";
import type { Draft } from "../../../schema/draft.ts";
import { type JsonRecord, own, rec, records, str } from "../../json.ts";
import { type ClaudeState, toolKey } from "./state.ts";
import { type Outcome, outputText } from "./tool-result.ts";

export function planDrafts(state: ClaudeState, outcome: Outcome, drafts: Draft[]): void {
  if (outcome.isError) return;
  const entries = entriesOf(state, outcome);
  if (!entries) return;
  const { id, scope } = outcome.tool;
  const content = [{ type: "plan" as const, entries }];
  const known = state.plans.get(scope);
  if (known) {
    drafts.push({ do: "item.update", key: known, content });
    return;
  }
  const key = `plan:${toolKey(state, id)}`;
  state.plans.set(scope, key);
  drafts.push({
    do: "item.start",
    item: { key, parent: scope === "" ? null : toolKey(state, scope), kind: "status", role: null, content },
  });
}

/** The list as it is now, null when the tool did not change it. */
function entriesOf(state: ClaudeState, outcome: Outcome): PlanEntry[] | null {
  const { tool, detail, content } = outcome;
  const info = rec(detail);
  switch (tool.name) {
    case "TodoWrite":
      return records(info.newTodos ?? tool.input.todos).map(entryOf);
    case "TaskCreate": {
      const id = str(rec(info.task).id) ?? /#(\w+)/.exec(outputText(content))?.[1] ?? tool.id;
      state.todo.set(id, entryOf(tool.input));
      return [...state.todo.values()];
    }
    case "TaskUpdate":
      return updated(state, tool.input);
    case "TaskList": {
      const tasks = records(info.tasks);
      if (tasks.length === 0) return null;
      state.todo.clear();
      for (const task of tasks) state.todo.set(str(task.id) ?? `${state.todo.size}`, entryOf(task));
      return [...state.todo.values()];
    }
    default:
      return null;
  }
}

function updated(state: ClaudeState, input: JsonRecord): PlanEntry[] | null {
  const id = str(input.taskId) ?? str(input.id);
  const before = id === undefined ? undefined : state.todo.get(id);
  if (id === undefined || !before) return null;
  if (input.status === "deleted") state.todo.delete(id);
  else state.todo.set(id, { ...before, ...entryOf({ subject: before.text, status: before.status, ...input }) });
  return [...state.todo.values()];
}

const STATUS: Record<string, PlanEntry["status"]> = {
  pending: "pending",
  in_progress: "in_progress",
  completed: "completed",
  cancelled: "cancelled",
};

const entryOf = (todo: JsonRecord): PlanEntry => ({
  text: str(todo.content) ?? str(todo.subject) ?? str(todo.description) ?? "",
  status: own(STATUS, str(todo.status) ?? "") ?? "pending",
});
