/** What notifications of the server mean, one handler each; the table of them is `notifications.ts`. */
import type { Draft, DraftPart } from "../../../schema/draft.ts";
import type { Repeat } from "../../contract.ts";
import { type JsonRecord, rec, records, str, toJson } from "../../json.ts";
import { conversationDeleted } from "../../kit/error-table.ts";
import { errorData } from "./errors.ts";
import { itemCompleted, itemStarted, repeatedDelta, resultKey, textDelta } from "./items.ts";
import { messageItem } from "./message-items.ts";
import { changePaths } from "./parts.ts";
import { rawItemDrafts } from "./raw-items.ts";
import { activity, childrenOf } from "./subagents.ts";
import type { NativeItem, Thread } from "./thread.ts";
import type { Threads } from "./threads.ts";
import { isTool, toolCall } from "./tool-items.ts";
import { innerCommand } from "./tool-kinds.ts";
import { beginStep, errorNotified, implicitTurn, leaveChild, threadGone, turnCompleted } from "./turns.ts";

/** `note`: understood, without universal meaning; shown as agent.notice. `unknown`: the method is known but not what is in it. */
type Meaning = { drafts?: Draft[]; note?: { name: string; detail?: unknown }; unknown?: string; repeat?: Repeat };
export type Handler = (params: JsonRecord, thread: Thread, threads: Threads) => Meaning;

export const nothing: Handler = () => ({});
export const event = (draft: Extract<Draft, { do: "event" }>): Meaning => ({ drafts: [draft] });

/** Everything but the ids that say whose it is. */
export function detailOf(params: JsonRecord): JsonRecord {
  const { threadId: _, turnId: __, ...detail } = params;
  return detail;
}

export const note =
  (name: string, pick: (params: JsonRecord) => unknown = detailOf): Handler =>
  (params) => ({ note: { name, detail: pick(params) } });

const knownItem = (type: string | undefined): boolean =>
  type !== undefined &&
  (isTool(type) || type === "subAgentActivity" || type === "contextCompaction" || messageItem(type) !== undefined);

export const item =
  (phase: "started" | "completed"): Handler =>
  (params, thread, threads) => {
    const type = str(rec(params.item).type);
    const opened = implicitTurn(thread, str(params.turnId));
    if (!knownItem(type))
      return { drafts: [...opened, ...unknownItem(thread, params, phase)], unknown: `item type ${type ?? "missing"}` };
    if (type === "userMessage" && toJson(rec(params.item).content) === thread.saidByAnswer) return { drafts: opened };
    const step = isAnswered(thread, params) ? [] : beginStep(thread, str(params.turnId));
    const children = childrenOf(thread, params);
    const child = children.ids[0] === undefined ? undefined : threads.get(children.ids[0]);
    const drafts =
      type === "subAgentActivity"
        ? activity(thread, params, phase, child)
        : phase === "started"
          ? itemStarted(thread, params)
          : itemCompleted(thread, params);
    for (const id of children.ids) threads.link(id, thread, children.spawnKey);
    return { drafts: [...opened, ...step, ...drafts] };
  };

/** It is known already, or nothing that the model says or does by itself. */
function isAnswered(thread: Thread, { turnId, item }: JsonRecord): boolean {
  const { id, type, kind, source } = rec(item);
  const key = thread.keyOf(str(turnId) ?? "", str(id) ?? "");
  if (thread.open.has(key) || thread.isClosed(key)) return true;
  if (type === "subAgentActivity") return kind === "completed";
  const ours = type === "functionCallOutput" || source === "userShell";
  return ours || !(type === "agentMessage" || type === "reasoning" || isTool(str(type) ?? ""));
}

/** A variant of a newer version: shown whole, as JSON. */
function unknownItem(thread: Thread, params: JsonRecord, phase: "started" | "completed"): Draft[] {
  if (phase === "started") return [];
  const shown = rec(params.item);
  const key = thread.keyOf(str(params.turnId) ?? "", `unknown:${str(shown.id) ?? ""}`);
  const parent = thread.child?.spawnKey ?? null;
  const content: DraftPart[] = [{ type: "json", json: shown }];
  thread.turn?.keys.push(key);
  return [{ do: "item.add", item: { key, native_item_id: str(shown.id) ?? null, parent, kind: "unknown", role: null, content } }];
}

export const inTurn =
  (handler: (thread: Thread, params: JsonRecord) => Draft[]): Handler =>
  (params, thread) => ({ drafts: [...implicitTurn(thread, str(params.turnId)), ...handler(thread, params)] });

/** As `inTurn`, for what the model is saying. */
export const inStep = (handler: (thread: Thread, params: JsonRecord) => Draft[]): Handler =>
  inTurn((thread, params) => {
    const drafts = handler(thread, params);
    return drafts.length === 0 ? [] : [...beginStep(thread, str(params.turnId)), ...drafts];
  });

export const messageDelta: Handler = (params, thread, threads) => {
  const { drafts = [] } = inStep((of, what) => textDelta(of, what, "agentMessage"))(params, thread, threads);
  return drafts.length === 1 ? { drafts, repeat: repeatedDelta(thread, params) } : { drafts };
};

export const error: Handler = (params, thread) => {
  if (thread.child !== null) return childError(thread, params);
  return { drafts: errorNotified(thread, params) };
};

/** The failure of a sub-agent is its own affair: it stands among its work, and the turn goes on. */
function childError(thread: Thread, params: JsonRecord): Meaning {
  const note = { name: "subagent_error", detail: { agent: thread.id, ...detailOf(params) } };
  const text = errorData(params.error).message;
  const parent = thread.child?.spawnKey ?? null;
  if (params.willRetry === true || parent === null) return { note };
  const key = `${str(params.turnId) ?? thread.id}/error`;
  const content: DraftPart[] = [{ type: "text", text }];
  return { note, drafts: [{ do: "item.add", item: { key, parent, kind: "system", role: "system", content } }] };
}

const ENDS = new Set(["completed", "interrupted", "failed"]);

export const completedTurn: Handler = (params, thread, threads) => {
  const drafts = turnCompleted(thread, rec(params.turn));
  const left = thread.child === null ? [...threads.descendants(thread)].flatMap(leaveChild) : [];
  const status = str(rec(params.turn).status) ?? "missing";
  return { drafts: [...left, ...drafts], ...(ENDS.has(status) ? {} : { unknown: `turn status ${status}` }) };
};

/** The thread is not there any more, with all that its sub-agents do. That of a sub-agent is named: it is not the session's. `forGood`: nothing brings it back. */
export const gone =
  (name: string, { forGood = false } = {}): Handler =>
  (_, thread, threads) => ({
    drafts: [
      ...[...threads.descendants(thread)].flatMap(threadGone),
      ...threadGone(thread),
      ...(forGood && thread.child === null ? [conversationDeleted("Codex", name)] : []),
    ],
    note: { name, ...(thread.child === null ? {} : { detail: { agent: thread.id } }) },
  });

/** The server repeats the same diff several times a turn. */
export const turnDiff: Handler = (params, thread) => {
  const diff = str(params.diff) ?? "";
  if (diff === thread.lastDiff) return {};
  thread.lastDiff = diff;
  return { note: { name: "turn_diff", detail: { diff } } };
};

/** The guardian decides in the person's place: asked and answered in one. */
export const reviewed: Handler = (params, thread) => {
  const { status, rationale, riskLevel } = rec(params.review);
  const target = str(params.targetItemId);
  const { type, ...input } = rec(params.action);
  const key = `review:${str(params.reviewId) ?? ""}`;
  const approved = status === "approved";
  const itemKey = target === undefined ? null : thread.keyOf(str(params.turnId) ?? "", target);
  return {
    drafts: [
      {
        do: "permission.request",
        key,
        ...reviewedAction(str(type) ?? "action", input, (itemKey && thread.open.get(itemKey)) || undefined),
        input,
        call_id: (itemKey && thread.open.get(itemKey)?.callId) || (target ?? null),
        item: itemKey,
        ...(str(riskLevel) ? { reason: `risk ${str(riskLevel)}` } : {}),
        options: [],
        native: null,
      },
      {
        do: "permission.resolve",
        key,
        status: approved ? "approved" : "denied",
        resolved_by: "policy",
        reply: approved ? "once" : "reject",
        message: str(rationale) ?? str(status) ?? "",
      },
    ],
  };
};

/** In the words in which a person is asked for the same. */
function reviewedAction(type: string, input: JsonRecord, item: NativeItem | undefined): { action: string; tool_name: string } {
  const name = item && toolCall(item.shown, item).name;
  const command = str(input.command);
  if (command !== undefined) return { action: `Run: ${innerCommand(command)}`, tool_name: name ?? "commandExecution" };
  const tool = str(input.tool) ?? str(input.toolName);
  const about = tool ?? changePaths(records(item?.shown.changes)).join(", ");
  return { action: about === "" ? type : `${type}: ${about}`, tool_name: name ?? type };
}

export const reverted: Handler = (_, thread) => {
  const keys = thread.revertBefore === null ? [] : thread.dropFrom(thread.revertBefore);
  thread.revertBefore = null;
  // The next turn may come to the same totals again.
  thread.lastTotals = "";
  const drafts = keys.flatMap((key): Draft[] => [
    { do: "item.remove", key: resultKey(key), reason: "reverted" },
    { do: "item.remove", key, reason: "reverted" },
  ]);
  return { drafts, note: { name: "thread_reverted" } };
};

export const authUrl: Handler = (params) => {
  const url = str(params.authUrl);
  const message = str(params.error) ?? `${str(params.providerId) ?? "provider"}: ${str(params.status) ?? "changed"}`;
  return event({
    do: "event",
    type: "auth.status",
    data: { status: str(params.error) ? "failed" : "in_progress", message, ...(url ? { url } : {}) },
  });
};

export const loginDone: Handler = (params) =>
  event({
    do: "event",
    type: "auth.status",
    data: {
      status: params.success === true ? "ok" : "failed",
      ...(str(params.error) ? { message: str(params.error) ?? "" } : {}),
    },
  });

/** codex 0.166 clears a goal after every resume, though there never was one. */
export const goalCleared: Handler = (_, thread) => {
  const had = thread.goal;
  thread.goal = false;
  return had ? { note: { name: "goal_cleared" } } : {};
};

export const goalUpdated: Handler = (params, thread) => {
  thread.goal = true;
  return { note: { name: "goal_updated", detail: params.goal } };
};

/** Raw items that the model made, and which may have no item of their own. */
const CALLS = new Set(["function_call", "custom_tool_call", "local_shell_call", "tool_search_call"]);

export const rawItem: Handler = (params, thread) => {
  const drafts = rawItemDrafts(thread, params);
  const step = CALLS.has(str(rec(params.item).type) ?? "") ? beginStep(thread, str(params.turnId)) : [];
  return drafts ? { drafts: [...step, ...drafts] } : { unknown: `raw item type ${str(rec(params.item).type) ?? "missing"}` };
};
