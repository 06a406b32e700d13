// Teams: named agents are members, SendMessage carries words between them, tasks with an owner are the team's.
import type { Draft } from "../../../schema/draft.ts";
import { rec, str, toJson } from "../../json.ts";
import type { ClaudeState } from "./state.ts";
import type { Outcome } from "./tool-result.ts";

/** The main conversation, as a member speaks of it. */
export const LEAD = "main";

export function teamDrafts(state: ClaudeState, outcome: Outcome, drafts: Draft[]): void {
  if (outcome.isError) return;
  const { tool, detail } = outcome;
  const input = tool.input;
  switch (tool.name) {
    case "SendMessage": {
      const text = str(input.message) ?? str(input.content) ?? toJson(input.message ?? "");
      const to = str(input.to) ?? str(input.recipient) ?? "all";
      const summary = str(input.summary);
      drafts.push({
        do: "event",
        type: "team.message",
        data: { from: senderOf(state, tool.scope), to, text, ...(summary ? { metadata: { summary } } : {}) },
      });
      return;
    }
    case "TaskUpdate": {
      const owner = str(input.owner);
      const id = str(input.taskId);
      if (!owner || !id) return;
      const title = state.todo.get(id)?.text;
      drafts.push({
        do: "event",
        type: "team.task_updated",
        data: { task_id: id, status: str(input.status) ?? "pending", owner, ...(title ? { title } : {}) },
      });
      return;
    }
    case "TeamCreate":
    case "TeamDelete":
      drafts.push(memberDraft(state, { team: str(input.team_name) ?? str(rec(detail).team_name) ?? "" }));
      return;
    default:
      return;
  }
}

function senderOf(state: ClaudeState, scope: string): string {
  if (scope === "") return LEAD;
  for (const task of state.tasks.values()) if (task.tool === scope && task.member) return task.member;
  return scope;
}

/** A member began or stopped to work. */
export function setMember(state: ClaudeState, name: string, status: string, role: string | null, drafts: Draft[]): void {
  state.members.set(name, { status, role: role ?? state.members.get(name)?.role ?? null });
  drafts.push(memberDraft(state));
}

function memberDraft(state: ClaudeState, metadata?: Record<string, unknown>): Draft {
  const members = [...state.members].map(([name, { status, role }]) => ({ name, status, ...(role ? { role } : {}) }));
  return { do: "event", type: "team.state_changed", data: { members, ...(metadata ? { metadata } : {}) } };
}
