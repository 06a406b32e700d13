// Plans and todo lists: one status item a turn, replaced while it changes, completed with the turn.
import type { PlanEntry } from "../../../schema/content.ts";
import type { Draft, DraftPart } from "../../../schema/draft.ts";
import { type JsonRecord, rec, records, str, toJson } from "../../json.ts";
import { type Meaning, means, unknown } from "./meaning.ts";
import { closeMessage } from "./messages.ts";
import type { Call, SessionState } from "./session-state.ts";

const DEFAULT_PLAN = "";

export const onPlan = (state: SessionState, update: JsonRecord, child: string | null): Meaning =>
  onEntries(state, update.entries, { child });

/** plan_update: v1 (unstable) and v2. A list is the turn's plan; a text or a file is shown as what it is. */
export function onPlanUpdate(state: SessionState, update: JsonRecord, child: string | null): Meaning {
  const plan = rec(update.plan);
  const id = str(plan.planId) ?? DEFAULT_PLAN;
  switch (str(plan.type)) {
    case "items":
      return onEntries(state, plan.entries, { native: id, child });
    case "markdown":
      return means(showPlan(state, id, [{ type: "text", text: str(plan.content) ?? "" }], { child }));
    case "file":
      return means(showPlan(state, id, [{ type: "resource", uri: str(plan.uri) ?? "" }], { child }));
    default:
      return unknown(`plan of type ${str(plan.type) ?? "none"}`);
  }
}

function onEntries(state: SessionState, entries: unknown, whose: Whose): Meaning {
  if (!Array.isArray(entries)) return unknown("plan whose entries are no list");
  // Lists come from a call of the model: what it says after it, in an agent without ids of messages, is another message.
  const drafts = whose.child === null && state.message?.native === null ? closeMessage(state) : [];
  drafts.push(...showPlan(state, DEFAULT_PLAN, [{ type: "plan", entries: readEntries(entries) }], whose));
  const strange = records(entries).find(({ status }) => (status ?? null) !== null && !isStatus(str(status)));
  return strange === undefined ? means(drafts) : unknown(`plan entry of status ${String(strange.status)}`, drafts);
}

/** The turn's list is the one of the id that was reported last: another one was replaced by it, and is gone already. */
export function onPlanRemoved(state: SessionState, update: JsonRecord): Meaning {
  const id = str(update.planId) ?? DEFAULT_PLAN;
  const found = [...state.plans].find(([name, { native }]) => native === id || name === id);
  if (found === undefined) return means();
  const [name, { key }] = found;
  state.plans.delete(name);
  return means([{ do: "item.remove", key, reason: "plan removed" }]);
}

/** `child`: the call of the sub-agent whose plan it is. */
type Whose = { child: string | null; native?: string };

function showPlan(state: SessionState, name: string, content: DraftPart[], { child, native = DEFAULT_PLAN }: Whose): Draft[] {
  const known = state.plans.get(name);
  const told = toJson(content);
  if (known !== undefined) {
    const same = known.told === told;
    Object.assign(known, { told, native });
    return same ? [] : [{ do: "item.update", key: known.key, content }];
  }
  state.planItems += 1;
  const key = state.key(`plan:${state.planItems}`);
  state.plans.set(name, { key, native, told });
  return [
    {
      do: "item.start",
      item: { key, native_item_id: native || null, parent: child, kind: "status", role: null, content },
    },
  ];
}

export function closePlans(state: SessionState): Draft[] {
  const shown = [...state.plans.values()];
  state.plans.clear();
  return shown.map(({ key }) => ({ do: "item.complete", key }));
}

/** A todo tool is a plan as well: opencode, qwen and copilot have no other. */
export function todoPlan(state: SessionState, call: Call, child: string | null): Draft[] {
  const { todos } = rec(call.input);
  const entries = typeof todos === "string" ? checkboxes(todos) : readEntries(todos);
  if (entries.length === 0 || !state.isNews("todos", [call.id, entries])) return [];
  return showPlan(state, DEFAULT_PLAN, [{ type: "plan", entries }], { child });
}

const STATUSES = new Set(["pending", "in_progress", "completed", "cancelled"]);
const PRIORITIES = new Set(["high", "medium", "low"]);
const isStatus = (value: string | undefined): value is PlanEntry["status"] => value !== undefined && STATUSES.has(value);
const isPriority = (value: string | undefined): value is "high" | "medium" | "low" =>
  value !== undefined && PRIORITIES.has(value);

function readEntries(value: unknown): PlanEntry[] {
  return records(value).map((entry) => {
    const status = str(entry.status);
    const priority = str(entry.priority);
    return {
      text: str(entry.content) ?? str(entry.description) ?? str(entry.text) ?? "",
      status: isStatus(status) ? status : "pending",
      ...(isPriority(priority) ? { priority } : {}),
    };
  });
}

const checkboxes = (text: string): PlanEntry[] =>
  [...text.matchAll(/^\s*[-*] \[([ xX])\] (.*)$/gm)].map((match) => ({
    text: match[2] ?? "",
    status: match[1] === " " ? "pending" : "completed",
  }));
