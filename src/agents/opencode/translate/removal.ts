// Items that go and may come back: removed messages and parts, revert, unrevert.
import type { Draft, DraftPart } from "../../../schema/draft.ts";
import { isRecord, type JsonRecord, str, toJson } from "../../json.ts";
import { contentOf, itemOf, type Message, type Session } from "./state.ts";
import type { ToolPart } from "./tool-part.ts";

/** A finished item cannot change: the old one goes, one with the present content comes. */
export function replaceMessage(session: Session, message: Message, reason: string): Draft[] {
  const gone: Draft = { do: "item.remove", key: message.key, reason };
  message.generation += 1;
  message.key = `msg:${message.id}#${message.generation}`;
  return [gone, addMessage(session, message)];
}

function addMessage(session: Session, message: Message): Draft {
  return {
    do: "item.add",
    item: { ...itemOf(session, message), content: contentOf(message) },
    status: message.failed ? "failed" : "completed",
  };
}

export function messageRemoved(session: Session, id: string | undefined): Draft[] {
  const message = id === undefined ? undefined : session.messages.get(id);
  // One that an earlier process reported has the same key.
  if (!message) return id === undefined ? [] : [{ do: "item.remove", key: `msg:${id}`, reason: "removed" }];
  if (message.removed) return [];
  const drafts = message.hidden ? [] : hideItems(message, "removed");
  message.removed = true;
  message.done = true;
  return drafts;
}

export function partRemoved(session: Session, messageId: string | undefined, id: string | undefined): Draft[] {
  const message = messageId === undefined ? undefined : session.messages.get(messageId);
  const part = id === undefined ? undefined : message?.parts.get(id);
  if (!message || !part || id === undefined) return [];
  message.parts.delete(id);
  if (message.hidden || message.removed) return [];
  if (part.kind === "tool") return part.hidden ? [] : removeTool(part, "removed");
  if (!message.slots.includes(part)) return [];
  message.slots = message.slots.filter((slot) => slot !== part);
  if (!message.done) return [{ do: "item.update", key: message.key, content: contentOf(message) }];
  return replaceMessage(session, message, "a part was removed");
}

export const removeTool = (part: ToolPart, reason: string): Draft[] => [
  ...(part.resultStarted ? [{ do: "item.remove", key: part.resultKey, reason } as const] : []),
  { do: "item.remove", key: part.callKey, reason },
];

function hideItems(message: Message, reason: string): Draft[] {
  const drafts: Draft[] = [];
  for (const part of [...message.parts.values()].reverse()) {
    if (part.kind === "tool") drafts.push(...removeTool(part, reason));
    else if (part.type === "synthetic") drafts.push({ do: "item.remove", key: `sys:${part.id}`, reason });
  }
  if (message.started) drafts.push({ do: "item.remove", key: message.key, reason });
  return drafts;
}

/**
 * The session's revert mark. OpenCode only marks: the messages go at the next prompt, or come back with unrevert. Readers want to see them
 * gone at once.
 */
export function revertMark(session: Session, revert: unknown): Draft[] {
  const mark = isRecord(revert) ? toJson([revert.messageID, revert.partID]) : "";
  if (mark === session.revert) return [];
  const drafts = session.revert === "" ? [] : bringBack(session);
  session.revert = mark;
  return isRecord(revert) ? [...drafts, ...hideFrom(session, revert)] : drafts;
}

function hideFrom(session: Session, revert: JsonRecord): Draft[] {
  const drafts: Draft[] = [];
  const partId = str(revert.partID);
  let reached = false;
  for (const message of session.messages.values()) {
    if (message.id === revert.messageID) {
      reached = true;
      if (partId !== undefined) {
        drafts.unshift(...hideTools(message, partId));
        continue;
      }
    }
    if (!reached || message.hidden || message.removed) continue;
    drafts.unshift(...hideItems(message, "reverted"));
    message.hidden = true;
    message.done = true;
  }
  return drafts;
}

/** Of the message itself only the calls from that part on go at once; its text is said to be gone when it is. */
function hideTools(message: Message, from: string): Draft[] {
  const drafts: Draft[] = [];
  let reached = false;
  for (const part of message.parts.values()) {
    reached ||= part.id === from;
    if (!reached || part.kind !== "tool") continue;
    part.hidden = true;
    drafts.unshift(...removeTool(part, "reverted"));
  }
  return drafts;
}

function bringBack(session: Session): Draft[] {
  const drafts: Draft[] = [];
  for (const message of session.messages.values()) {
    if (!message.hidden) {
      drafts.push(...bringBackTools(message));
      continue;
    }
    message.hidden = false;
    if (message.removed) continue;
    message.generation += 1;
    message.key = `msg:${message.id}#${message.generation}`;
    if (message.started) drafts.push(addMessage(session, message));
    for (const part of message.parts.values()) if (part.kind === "tool") drafts.push(...addTool(message, part));
  }
  return drafts;
}

function bringBackTools(message: Message): Draft[] {
  const hidden = [...message.parts.values()].filter((part) => part.kind === "tool").filter((part) => part.hidden);
  if (hidden.length > 0) message.generation += 1;
  return hidden.flatMap((part) => addTool(message, part));
}

function addTool(message: Message, part: ToolPart): Draft[] {
  part.hidden = false;
  part.callKey = `call:${part.id}#${message.generation}`;
  part.resultKey = `result:${part.id}#${message.generation}`;
  const item = (key: string, kind: "tool_call" | "tool_result", content: DraftPart[]): Draft => ({
    do: "item.add",
    item: { key, native_item_id: part.id, parent: message.key, kind, role: kind === "tool_call" ? "assistant" : "tool", content },
    status: part.failed ? "failed" : "completed",
  });
  if (!part.result) {
    part.resultStarted = false;
    return [item(part.callKey, "tool_call", part.call)];
  }
  return [item(part.callKey, "tool_call", part.call), item(part.resultKey, "tool_result", part.result)];
}
