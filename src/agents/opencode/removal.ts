// Items that go and may come back: removed messages and parts, revert, unrevert.
import type { Draft, DraftPart } from "../../schema/draft.ts";
import { isRecord, type JsonRecord, str, toJson } from "../json.ts";
import { contentOf, type Message, type Session, type ToolPart } from "./state.ts";

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
    item: {
      key: message.key,
      native_item_id: message.id,
      parent: session.parentCall,
      kind: message.system ? "system" : "message",
      role: message.system ? "system" : message.role,
      content: contentOf(message),
    },
    status: message.failed ? "failed" : "completed",
  };
}

export function messageRemoved(session: Session, id: string | undefined): Draft[] {
  const message = id === undefined ? undefined : session.messages.get(id);
  if (!message || message.removed) return [];
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
  if (part.kind === "tool") return removeTool(part, "removed");
  if (!message.slots.includes(part)) return [];
  message.slots = message.slots.filter((slot) => slot !== part);
  if (!message.done) return [{ do: "item.update", key: message.key, content: contentOf(message) }];
  return replaceMessage(session, message, "a part was removed");
}

const removeTool = (part: ToolPart, reason: string): Draft[] => [
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
      // Only its parts from there on go, and these are said one by one when it happens.
      if (partId !== undefined) continue;
    }
    if (!reached || message.hidden || message.removed) continue;
    drafts.unshift(...hideItems(message, "reverted"));
    message.hidden = true;
    message.done = true;
  }
  return drafts;
}

function bringBack(session: Session): Draft[] {
  const drafts: Draft[] = [];
  for (const message of session.messages.values()) {
    if (!message.hidden) continue;
    message.hidden = false;
    if (message.removed) continue;
    message.generation += 1;
    message.key = `msg:${message.id}#${message.generation}`;
    if (message.started) drafts.push(addMessage(session, message));
    for (const part of message.parts.values()) if (part.kind === "tool") drafts.push(...addTool(message, part));
  }
  return drafts;
}

function addTool(message: Message, part: ToolPart): Draft[] {
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
