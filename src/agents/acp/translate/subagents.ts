// Sub-agents with a session of their own: a call in the parent's transcript, under which the child's items stand.
import type { Draft, DraftPart } from "../../../schema/draft.ts";
import { isRecord, type JsonRecord, rec, str, toJson } from "../../json.ts";
import { type Meaning, means, unknown } from "./meaning.ts";
import { closeMessage, flushHeld } from "./messages.ts";
import { closePlans } from "./plans.ts";
import type { SessionState, Subagent } from "./session-state.ts";
import { subagentParent } from "./tools.ts";

/** Where the updates of a child session go. */
export type Child = { parent: SessionState; key: string; state: SessionState };

export function onSubagentUpdate(
  state: SessionState,
  update: JsonRecord,
  children: Map<string, Child>,
  make: (id: string, space: string) => SessionState,
): Meaning {
  const id = str(update.sessionId);
  if (id === undefined) return unknown("sub-agent without a session");
  if (isAbove(id, state, children)) return means();
  const said = rec(update.state);
  const known = state.subagents.get(id);
  const drafts =
    known === undefined
      ? [...flushHeld(state), ...closeMessage(state), ...begin(state, id, update, children, make)]
      : retitle(known, id, update);
  drafts.push(...settle(state, id, said));
  const word = isRecord(update.state) ? said.state : update.state;
  return (word ?? null) === null || STATES.has(word) ? means(drafts) : unknown(`state ${String(word)} of a sub-agent`, drafts);
}

const STATES: ReadonlySet<unknown> = new Set(["running", "requires_action", "idle", "unknown"]);

/** Nobody is its own sub-agent. */
function isAbove(id: string, state: SessionState, children: ReadonlyMap<string, Child>): boolean {
  for (let at: SessionState | undefined = state; at !== undefined; at = children.get(at.id)?.parent)
    if (at.id === id) return true;
  return false;
}

function begin(
  state: SessionState,
  id: string,
  update: JsonRecord,
  children: Map<string, Child>,
  make: (id: string, space: string) => SessionState,
): Draft[] {
  const key = state.key(`sub:${state.subagents.size + 1}`);
  const title = str(update.title) ?? str(update.description) ?? "";
  const child = make(id, `${key}:`);
  const parent = subagentParent(state, update) ?? state.origin;
  state.subagents.set(id, { key, parent, done: false, title, state: child });
  state.silent = false;
  children.set(id, { parent: state, key, state: child });
  return [
    {
      do: "item.start",
      item: {
        key,
        native_item_id: id,
        parent,
        kind: "tool_call",
        role: "assistant",
        content: [part(id, title, update)],
      },
    },
  ];
}

function retitle(known: Subagent, id: string, update: JsonRecord): Draft[] {
  const title = str(update.title) ?? str(update.description);
  if (known.done || title === undefined || title === known.title) return [];
  known.title = title;
  return [{ do: "item.update", key: known.key, content: [part(id, title, update)] }];
}

const part = (id: string, title: string, update: JsonRecord): DraftPart => ({
  type: "tool_call",
  name: "subagent",
  arguments: toJson({ title: str(update.title) ?? null, description: str(update.description) ?? null }),
  call_id: id,
  tool_kind: "subagent",
  ...(title === "" ? {} : { title }),
});

function settle(state: SessionState, id: string, said: JsonRecord): Draft[] {
  const known = state.subagents.get(id);
  if (known === undefined || said.state !== "idle") return [];
  const { state: child } = known;
  const failed = said.stopReason === "error" || said.stopReason === "cancelled";
  const drafts: Draft[] = [...closeMessage(child, failed), ...closePlans(child)];
  // It was given more to do after its call had ended.
  if (known.done) return drafts;
  known.done = true;
  const status = failed ? "failed" : "completed";
  drafts.push({ do: "item.complete", key: known.key, status });
  // Its last words are what its call gave, as with agents whose sub-agents have no session.
  const output = str(rec(said.error).message) ?? child.lastText;
  if (output === "") return drafts;
  const content: DraftPart[] = [{ type: "tool_result", call_id: id, output, ...(failed ? { is_error: true } : {}) }];
  const item = { key: `${known.key}:result`, native_item_id: id, parent: known.parent, content };
  return [...drafts, { do: "item.add", item: { ...item, kind: "tool_result", role: "tool" }, status }];
}

/** The end of a turn ends the calls of sub-agents too. What they say later is a message of its own. */
export function cutSubagents(state: SessionState, cut: boolean): Draft[] {
  return [...state.subagents.values()].flatMap((each): Draft[] => {
    each.done = true;
    const drafts = [...closeMessage(each.state, cut), ...closePlans(each.state), ...cutSubagents(each.state, cut)];
    cutCalls(each.state);
    return drafts;
  });
}

export function cutCalls(state: SessionState): void {
  for (const call of state.openCalls()) if (!call.lasting) Object.assign(call, { state: "ended", cut: call.state === "open" });
}
