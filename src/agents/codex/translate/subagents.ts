// Sub-agents: threads of their own on the same connection, shown as items under the call that spawned them.
import type { Draft, ItemKey } from "../../../schema/draft.ts";
import { type JsonRecord, rec, str } from "../../json.ts";
import { openItem, resultKey } from "./items.ts";
import type { NativeItem, Thread } from "./thread.ts";
import { strings } from "./wire.ts";

/** Which threads an item says are children of its thread, and under which item. */
export function childrenOf(thread: Thread, params: JsonRecord): { ids: string[]; spawnKey: string | null } {
  const item = rec(params.item);
  const key = thread.keyOf(str(params.turnId) ?? "", str(item.id) ?? "");
  if (item.type === "collabAgentToolCall" && item.tool === "spawnAgent")
    return { ids: strings(item.receiverThreadIds), spawnKey: key };
  if (item.type !== "subAgentActivity") return { ids: [], spawnKey: null };
  const id = str(item.agentThreadId);
  return { ids: id === undefined ? [] : [id], spawnKey: item.kind === "started" ? key : null };
}

/** A spawn that is running and has not said yet which thread it made. `taken`: spawns that another thread was given to. */
export function openSpawn(thread: Thread, taken: ReadonlySet<ItemKey | null>): NativeItem | undefined {
  const spawns = [...thread.open.values()].filter(
    ({ type, shown }) =>
      type === "collabAgentToolCall" && shown.tool === "spawnAgent" && strings(shown.receiverThreadIds).length === 0,
  );
  return spawns.find(({ key }) => !taken.has(key)) ?? spawns[0];
}

const spawnOf = (thread: Thread, agent: string | undefined): NativeItem | undefined =>
  [...thread.open.values()].find(
    ({ type, shown }) => type === "subAgentActivity" && shown.kind === "started" && shown.agentThreadId === agent,
  );

/**
 * Multi-agent v2 has no spawn call with an end: its `started` activity is the call, its `completed` or `interrupted` activity the result.
 * Start and completion of the activity item itself come back to back and say the same thing.
 */
export function activity(thread: Thread, params: JsonRecord, phase: "started" | "completed", child: Thread | undefined): Draft[] {
  const item = rec(params.item);
  const agent = str(item.agentThreadId);
  if (item.kind === "started") return phase === "started" ? spawn(thread, params, item) : completedOnly(thread, params, item);
  const parent = child?.child?.spawnKey ?? null;
  if (phase === "completed") return endMark(thread, params, item, parent);
  const running = item.kind === "interacted" ? undefined : spawnOf(thread, agent);
  const mark = startMark(thread, params, item, parent);
  return running ? [...spawnEnd(thread, running, child, item.kind === "completed"), ...mark] : mark;
}

function spawn(thread: Thread, params: JsonRecord, item: JsonRecord): Draft[] {
  const native = openItem(thread, str(params.turnId) ?? "", item, "subAgentActivity");
  native.shown = item;
  native.announced = true;
  native.parent = thread.toolParent(native.turnId);
  const facts = {
    agent_path: item.agentPath,
    agent_thread_id: item.agentThreadId,
    model: item.model,
    reasoning_effort: item.reasoningEffort,
  };
  return [
    {
      do: "item.start",
      item: {
        key: native.key,
        native_item_id: native.id,
        parent: native.parent,
        kind: "tool_call",
        role: "assistant",
        content: [
          {
            type: "tool_call",
            name: "spawnAgent",
            arguments: JSON.stringify(facts),
            call_id: native.callId,
            tool_kind: "subagent",
            title: str(item.agentPath) ?? "sub-agent",
          },
        ],
      },
    },
  ];
}

/** A `started` activity whose own start was not seen, as after joining a running thread. */
function completedOnly(thread: Thread, params: JsonRecord, item: JsonRecord): Draft[] {
  const key = thread.keyOf(str(params.turnId) ?? "", str(item.id) ?? "");
  return thread.open.has(key) || thread.isClosed(key) ? [] : spawn(thread, params, item);
}

/** An agent whose turn failed has failed, whatever the word for its end is. */
function spawnEnd(thread: Thread, native: NativeItem, child: Thread | undefined, completed: boolean): Draft[] {
  thread.close(native);
  const failure = child?.failure ?? null;
  const failed = !completed || failure !== null;
  const status = failed ? "failed" : "completed";
  return [
    { do: "item.complete", key: native.key, status },
    {
      do: "item.add",
      item: {
        key: resultKey(native.key),
        native_item_id: native.id,
        parent: native.parent,
        kind: "tool_result",
        role: "tool",
        content: [
          {
            type: "tool_result",
            call_id: native.callId,
            output: failure ?? child?.lastText ?? "",
            ...(failed ? { is_error: true } : {}),
          },
        ],
      },
      status,
    },
  ];
}

/** What became of a sub-agent stands under the call that made it. */
function startMark(thread: Thread, params: JsonRecord, item: JsonRecord, parent: ItemKey | null): Draft[] {
  const native = openItem(thread, str(params.turnId) ?? "", item, "subAgentActivity");
  native.announced = true;
  return [
    {
      do: "item.start",
      item: {
        key: native.key,
        native_item_id: native.id,
        parent,
        kind: "status",
        role: null,
        content: [{ type: "status", label: `Sub-agent ${str(item.kind) ?? "changed"}`, detail: str(item.agentPath) ?? null }],
      },
    },
  ];
}

function endMark(thread: Thread, params: JsonRecord, item: JsonRecord, parent: ItemKey | null): Draft[] {
  const key = thread.keyOf(str(params.turnId) ?? "", str(item.id) ?? "");
  if (thread.isClosed(key)) return [];
  const start = thread.open.has(key) ? [] : startMark(thread, params, item, parent);
  const native = thread.open.get(key);
  if (native) thread.close(native);
  return [...start, { do: "item.complete", key }];
}
