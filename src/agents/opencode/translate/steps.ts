// Calls of the model inside a message: where one begins, is tried again, or gives way to a compaction. How a step ends stands with turns.
import type { Draft, DraftPart } from "../../../schema/draft.ts";
import { int, type JsonRecord, rec, str } from "../../json.ts";
import { ASKED_AGAIN, retrying } from "../../translation.ts";
import { removeTool } from "./removal.ts";
import { contentOf, type Message, type Session } from "./state.ts";
import { endStep } from "./turns.ts";

/** A retry in mid-stream starts a second step in the same message; the first one never ends, and what it said was cut. */
export function stepStart(session: Session, message: Message): Draft[] {
  if (message.done) return [];
  const before = [...(message.stepOpen === null ? [] : cutTry(session, message)), ...endStep(message, "retry", null)];
  message.steps += 1;
  message.stepOpen = `step:${message.id}:${message.steps}`;
  return [...before, { do: "step.start", key: message.stepOpen }];
}

/** U17: what a try that failed said is void, unless a call of it runs already; the next try begins another message. */
function cutTry(session: Session, message: Message): Draft[] {
  const calls = [...message.parts.values()].filter((part) => part.kind === "tool");
  const asked = calls.filter(({ open, pending }) => open && pending);
  for (const part of asked) part.open = false;
  const void_ = asked.length === calls.length;
  const said = message.started && message.slots.length > 0;
  const gone: Draft[] = [
    ...asked.flatMap((part) => removeTool(part, ASKED_AGAIN)),
    ...(void_ && (said || asked.length > 0) ? [{ do: "item.remove", key: message.key, reason: ASKED_AGAIN } as const] : []),
    ...(!void_ && said
      ? [{ do: "item.complete", key: message.key, content: contentOf(message), status: "failed" } as const]
      : []),
  ];
  message.key = `${message.key}:${session.turns}:${message.steps}`;
  message.started = false;
  for (const part of message.slots) part.closed = true;
  message.slots = [];
  return gone;
}

export function retryPart(session: Session, native: JsonRecord): Draft[] {
  if (session.turn) session.turn.retrying = true;
  return [retrying(str(rec(rec(native.error).data).message), int(native.attempt))];
}

/** Compaction begins. An overflow that led to it is not a failure. */
export function compactionPart(root: Session, message: Message, native: JsonRecord): Draft[] {
  const trigger = native.auto === true ? "auto" : "manual";
  if (root.turn) {
    root.turn.compacting = trigger;
    root.turn.held = null;
  }
  const detail = native.overflow === true ? "the context overflowed" : undefined;
  const content: DraftPart[] = [{ type: "text", text: "/compact" }];
  // 1.18: the message that asks for a compaction has no text of its own.
  const asked: Draft = {
    do: "item.add",
    item: { key: `${message.key}:compact`, native_item_id: message.id, kind: "message", role: "user", content },
  };
  const begun: Draft = { do: "status", status: { status: "compacting", ...(detail === undefined ? {} : { detail }) } };
  return trigger === "manual" && message.role === "user" ? [asked, begun] : [begun];
}
