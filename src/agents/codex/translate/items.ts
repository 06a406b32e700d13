// The life of native items: start, deltas, end. Knows which universal items they become and under which keys; what is in them is said by
// `message-items.ts`, `tool-items.ts` and `subagents.ts`.
import type { Draft, DraftPart, ItemKey } from "../../../schema/draft.ts";
import type { Repeat } from "../../contract.ts";
import { type JsonRecord, num, rec, records, str, toJson } from "../../json.ts";
import { ASKED_AGAIN } from "../../translation.ts";
import { messageItem } from "./message-items.ts";
import { type NativeItem, newItem, type Thread } from "./thread.ts";
import { isTool, toolCall, toolOutcome } from "./tool-items.ts";
import { innerCommand } from "./tool-kinds.ts";

export const resultKey = (key: ItemKey): ItemKey => `${key}:result`;
const progressKey = (key: ItemKey): ItemKey => `${key}:progress`;

/** Where an item hangs: a sub-agent's under the call that spawned it, a tool under the message of its model response. */
const parentOf = (thread: Thread, turnId: string, type: string): ItemKey | null =>
  isTool(type) ? thread.toolParent(turnId) : (thread.child?.spawnKey ?? null);

/** What the model writes: one message from its reasoning to its text. */
const isAnswer = (type: string): boolean => type === "agentMessage" || type === "reasoning";

/** The open native item, or a new one. An id that comes again after its end is another item. */
export function openItem(thread: Thread, turnId: string, item: JsonRecord, fallbackType: string): NativeItem {
  const id = str(item.id) ?? "";
  let key = thread.keyOf(turnId, id);
  const open = thread.open.get(key);
  if (open) return open;
  if (thread.isClosed(key)) {
    thread.nextGeneration(turnId, id);
    key = thread.keyOf(turnId, id);
  }
  const type = str(item.type) ?? fallbackType;
  const twin = thread.openIds.has(id);
  if (!twin) thread.openIds.set(id, key);
  const parent = parentOf(thread, turnId, type);
  const callId = twin ? key : id;
  const native = newItem({ key, id, callId, type, turnId, parent, shown: item, callsBefore: thread.calls });
  thread.open.set(key, native);
  thread.turn?.keys.push(key);
  if (isTool(type)) {
    thread.toolItems++;
    thread.calls++;
  }
  return native;
}

export function itemStarted(thread: Thread, params: JsonRecord): Draft[] {
  const item = rec(params.item);
  const native = openItem(thread, str(params.turnId) ?? "", item, "unknown");
  native.shown = item;
  if (native.type === "commandExecution" && str(item.processId) !== undefined) native.running = true;
  return [...supersede(thread, native), ...announce(thread, native, item), ...skillsRead(item)];
}

/** Codex has no tool for skills: its model reads the SKILL.md of one that it uses, and Codex itself counts that as a use. */
function skillsRead(item: JsonRecord): Draft[] {
  return records(item.commandActions).flatMap((action): Draft[] => {
    const [, name] = action.type === "read" ? (/([^/]+)\/SKILL\.md$/.exec(str(action.path) ?? "") ?? []) : [];
    return name === undefined ? [] : [{ do: "event", type: "skill.invoked", data: { name, mode: "auto" } }];
  });
}

/**
 * codex 0.166 never completes a message cut by a lost stream, a steer or a review: the next thing the model says in that thread ends it.
 */
function supersede(thread: Thread, next: NativeItem): Draft[] {
  if (!isAnswer(next.type)) return [];
  return [...thread.open.values()]
    .filter((native) => native !== next && isAnswer(native.type))
    .flatMap((native) => closeCut(thread, native));
}

/** U17: what the model was writing when its stream was lost is void; codex 0.166 never completes it. */
export function askedAgain(thread: Thread): Draft[] {
  const cut = [...thread.open.values()].filter(({ type }) => isAnswer(type));
  for (const native of cut) thread.close(native);
  if (cut.length > 0) Object.assign(thread, { answer: null, message: null });
  return [...new Set(cut.map(({ item }) => item))].map((key) => ({ do: "item.remove", key, reason: ASKED_AGAIN }));
}

/** Ends an item that the server will not end any more. An answer of which nothing was written never was one. */
export function closeCut(thread: Thread, native: NativeItem): Draft[] {
  thread.close(native);
  if (thread.answer?.key === native.item) thread.answer = null;
  if (isUnwritten(thread, native)) return [{ do: "item.remove", key: native.item, reason: "nothing was written" }];
  const drafts: Draft[] = [{ do: "item.complete", key: native.item, status: "failed", synthetic: true }];
  if (native.isTask)
    drafts.push({ do: "task.end", key: native.key, status: "failed", error: "Codex says nothing of it any more" });
  if (native.resultStarted) drafts.push({ do: "item.complete", key: resultKey(native.key), status: "failed", synthetic: true });
  return drafts;
}

/** No text came, and no call hangs under it. */
const isUnwritten = (thread: Thread, { type, streamed, shown, item, key, callsBefore }: NativeItem): boolean =>
  isAnswer(type) && streamed === "" && !str(shown.text) && item === key && thread.calls === callsBefore;

export function announce(thread: Thread, native: NativeItem, item: JsonRecord): Draft[] {
  const first = !native.announced;
  native.announced = true;
  const base = { key: native.key, native_item_id: native.id, ...(native.parent === null ? {} : { parent: native.parent }) };
  if (isTool(native.type))
    return [
      ...(first ? endAnswer(thread) : []),
      { do: "item.start", item: { ...base, kind: "tool_call", role: "assistant", content: [toolCall(item, native)] } },
    ];
  if (native.type === "contextCompaction") {
    if (!first) return [];
    thread.compactionTold = false;
    return [{ do: "status", status: { status: "compacting" } }];
  }
  const message = messageItem(native.type);
  if (!message || !first) return [];
  if (isAnswer(native.type) && thread.answer)
    return join(thread.answer, native, message.start(item, native, thread).content ?? []);
  if (isAnswer(native.type)) {
    thread.message = native.key;
    thread.answer = { key: native.key, parts: [] };
  }
  return [{ do: "item.start", item: { ...base, ...message.start(item, native, thread) } }];
}

/** Text that follows reasoning is of the same message, which has the native id of its text. */
function join(answer: { key: ItemKey; parts: DraftPart[] }, native: NativeItem, content: DraftPart[]): Draft[] {
  native.item = answer.key;
  native.base = answer.parts.length;
  const update: Draft = {
    do: "item.update",
    key: answer.key,
    ...(native.type === "agentMessage" ? { native_item_id: native.id } : {}),
    ...(content.length > 0 ? { content: [...answer.parts, ...content] } : {}),
  };
  return native.type === "agentMessage" || content.length > 0 ? [update] : [];
}

/** Ends a message of which nothing is being written any more: the model went on to something else. */
export function endAnswer(thread: Thread, status: "completed" | "failed" = "completed"): Draft[] {
  const { answer } = thread;
  if (!answer || [...thread.open.values()].some(({ type }) => isAnswer(type))) return [];
  thread.answer = null;
  return [{ do: "item.complete", key: answer.key, content: answer.parts, status }];
}

export function itemCompleted(thread: Thread, params: JsonRecord): Draft[] {
  const item = rec(params.item);
  const turnId = str(params.turnId) ?? "";
  // The end of something we closed already, because its turn was over: nothing new.
  if (thread.isClosed(thread.keyOf(turnId, str(item.id) ?? ""))) return [];
  const native = openItem(thread, turnId, item, "unknown");
  const drafts = native.announced ? [] : announce(thread, native, item);
  thread.close(native);
  if (isTool(native.type)) return [...drafts, ...toolEnd(native, item)];
  if (native.type === "contextCompaction") return [...drafts, ...compacted(thread)];
  const message = messageItem(native.type);
  if (!message) return drafts;
  const { content, more } = message.complete(item, native, thread);
  if (isAnswer(native.type)) return [...drafts, ...answerPart(thread, native, content ?? []), ...(more ?? [])];
  return [...drafts, { do: "item.complete", key: native.key, ...(content ? { content } : {}) }, ...(more ?? [])];
}

/** codex 0.166 says what a review is about in its answer to our request, and again when the review has begun. */
export function itemsOfAnswer(thread: Thread, turnId: string, turn: JsonRecord): Draft[] {
  return records(turn.items).flatMap((item) => {
    if (item.type !== "userMessage") return [];
    thread.saidByAnswer = toJson(item.content);
    return itemCompleted(thread, { turnId, item });
  });
}

/** U18: it is no item, though Codex calls it one. */
function compacted(thread: Thread): Draft[] {
  if (thread.compactionTold) return [];
  thread.compactionTold = true;
  const trigger = thread.compactRequested ? "manual" : "auto";
  thread.compactRequested = false;
  const before = thread.contextUsed;
  return [{ do: "event", type: "session.compacted", data: { trigger, ...(before === null ? {} : { pre_tokens: before }) } }];
}

/** `thread/compacted`, by which older versions report what the item reports too. */
export function compactedBefore(thread: Thread): Draft[] {
  const told = thread.compactionTold || [...thread.open.values()].some(({ type }) => type === "contextCompaction");
  return told ? [] : compacted(thread);
}

/** Reasoning leaves its message open for the text that follows; the text ends it. */
function answerPart(thread: Thread, native: NativeItem, content: DraftPart[]): Draft[] {
  const parts = [...(thread.answer?.parts.slice(0, native.base) ?? []), ...content];
  if (native.type === "reasoning" && thread.answer?.key === native.item) {
    thread.answer.parts = parts;
    return [{ do: "item.update", key: native.item, content: parts }];
  }
  if (thread.answer?.key === native.item) thread.answer = null;
  return [{ do: "item.complete", key: native.item, content: parts }];
}

function toolEnd(native: NativeItem, item: JsonRecord): Draft[] {
  const { parts, failed } = toolOutcome(item, native);
  const status = failed ? "failed" : "completed";
  const key = resultKey(native.key);
  return [
    { do: "item.complete", key: native.key, content: [toolCall(item, native)], status },
    native.resultStarted
      ? { do: "item.complete", key, content: parts, status }
      : { do: "item.add", item: { ...resultItem(native), content: parts }, status },
    { do: "item.complete", key: progressKey(native.key), status },
    ...taskEnd(native, item),
  ];
}

/** From now on the command is a task too: what it wrote so far, what it writes, and its end. */
export function toBackground(native: NativeItem): Draft[] {
  if (native.type !== "commandExecution" || native.isTask) return [];
  native.isTask = true;
  const { command, cwd, processId } = native.shown;
  const start: Draft = {
    do: "task.start",
    key: native.key,
    tool_name: "commandExecution",
    command: innerCommand(str(command) ?? ""),
    ...(typeof cwd === "string" ? { cwd } : {}),
    ...(typeof processId === "string" ? { native: { processId } } : {}),
  };
  return native.streamed === "" ? [start] : [start, { do: "task.output", key: native.key, text: native.streamed }];
}

function taskEnd(native: NativeItem, item: JsonRecord): Draft[] {
  if (!native.isTask) return [];
  const { key, streamed } = native;
  // Output written before Codex watched the command has no delta: what the end adds to the deltas is its tail.
  const whole = str(item.aggregatedOutput) ?? streamed;
  const exit = num(item.exitCode);
  // codex 0.166 says -1 of a command that it ended itself.
  const status = exit === undefined || exit < 0 ? "stopped" : "exited";
  return [
    ...(whole.startsWith(streamed) && whole.length > streamed.length
      ? [{ do: "task.output", key, text: whole.slice(streamed.length) } as const]
      : []),
    { do: "task.end", key, status, ...(status === "exited" && exit !== undefined ? { exit_code: Math.trunc(exit) } : {}) },
  ];
}

const resultItem = (native: NativeItem) => ({
  key: resultKey(native.key),
  native_item_id: native.id,
  ...(native.parent === null ? {} : { parent: native.parent }),
  kind: "tool_result" as const,
  role: "tool" as const,
});

/** A piece that comes after the end of its item begins no other one: only a start does. */
const isOver = (thread: Thread, { turnId, itemId }: JsonRecord): boolean =>
  thread.isClosed(thread.keyOf(str(turnId) ?? "", str(itemId) ?? ""));

/** Text of a message, a plan, or reasoning. */
export function textDelta(thread: Thread, params: JsonRecord, type: "agentMessage" | "plan" | "reasoning"): Draft[] {
  const delta = str(params.delta) ?? "";
  if (isOver(thread, params)) return [];
  const native = openItem(thread, str(params.turnId) ?? "", { id: params.itemId, type }, type);
  const start = native.announced ? [] : announce(thread, native, { id: params.itemId, type });
  native.streamed += delta;
  return [
    ...start,
    {
      do: "item.delta",
      key: native.item,
      part_type: type === "reasoning" ? "reasoning" : "text",
      delta,
      part_index: native.base + (type === "reasoning" ? slotOf(native, params) : 0),
      // Summaries are meant to be shown, raw reasoning is the model's own.
      ...(type === "reasoning" && num(params.summaryIndex) === undefined ? { visibility: "private" as const } : {}),
    },
  ];
}

/** The next deltas of a message add to the same item. `emittedAtMs` is of no importance to anybody. */
export function repeatedDelta(thread: Thread, params: JsonRecord): Repeat {
  const native = openItem(thread, str(params.turnId) ?? "", { id: params.itemId, type: "agentMessage" }, "agentMessage");
  return {
    path: ["params", "delta"],
    ignored: [["emittedAtMs"]],
    say: (text) => {
      native.streamed += text;
      return true;
    },
  };
}

/** Summary and raw text of one reasoning item may come mixed: parts stand in the order in which they first appeared. */
function slotOf(native: NativeItem, params: JsonRecord): number {
  const summary = num(params.summaryIndex);
  const slot = summary === undefined ? `c${num(params.contentIndex) ?? 0}` : `s${summary}`;
  const at = native.slots.indexOf(slot);
  return at >= 0 ? at : native.slots.push(slot) - 1;
}

/** Output of a command, or of a patch. */
export function outputDelta(thread: Thread, params: JsonRecord, type: "commandExecution" | "fileChange"): Draft[] {
  const delta = str(params.delta) ?? "";
  if (isOver(thread, params)) return [];
  const native = openItem(thread, str(params.turnId) ?? "", { id: params.itemId, type }, type);
  const drafts = native.announced ? [] : announce(thread, native, native.shown);
  native.streamed += delta;
  native.running = type === "commandExecution";
  if (!native.resultStarted) {
    native.resultStarted = true;
    drafts.push({
      do: "item.start",
      item: { ...resultItem(native), content: [{ type: "tool_result", call_id: native.callId, output: "" }] },
    });
  }
  drafts.push({ do: "item.delta", key: resultKey(native.key), part_type: "tool_output", delta, part_index: 0 });
  if (native.isTask) drafts.push({ do: "task.output", key: native.key, text: delta });
  return drafts;
}

/** What an MCP server says of a call that runs: a status under the call. */
export function mcpProgress(thread: Thread, params: JsonRecord): Draft[] {
  const message = str(params.message) ?? "";
  if (isOver(thread, params)) return [];
  const item = { id: params.itemId, type: "mcpToolCall" };
  const native = openItem(thread, str(params.turnId) ?? "", item, "mcpToolCall");
  const label = toolCall(native.shown, native).title ?? "";
  return [
    ...(native.announced ? [] : announce(thread, native, native.shown)),
    {
      do: "item.start",
      item: {
        key: progressKey(native.key),
        parent: native.key,
        kind: "status",
        role: null,
        content: [{ type: "status", label, detail: message }],
      },
    },
  ];
}

/** codex 0.166 (apply_patch_streaming_events): comes before the item's start, with relative paths. */
export function patchUpdated(thread: Thread, params: JsonRecord): Draft[] {
  const item = { id: params.itemId, type: "fileChange", changes: records(params.changes), status: "inProgress" };
  const native = openItem(thread, str(params.turnId) ?? "", item, "fileChange");
  native.shown = item;
  return announce(thread, native, item);
}
