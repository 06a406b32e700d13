// Chunks of text, thoughts and other blocks as message items. A message ends where the next begins: ACP v1 has no end of a message.
// Texts that are not the model's (mode changes, warnings, faults in disguise) are distinguished here, by quirks.

import type { Draft, DraftPart } from "../../../schema/draft.ts";
import type { SpeakerRole } from "../../../schema/item.ts";
import { arr, isRecord, type JsonRecord, num, rec, records, str } from "../../json.ts";
import { ASKED_AGAIN } from "../../translation.ts";
import { blockPart, blockParts, textOfParts } from "./blocks.ts";
import { modeChanged } from "./config.ts";
import { type Meaning, means, notes, unknown } from "./meaning.ts";
import { type DisguisedError, PLAIN } from "./quirks.ts";
import type { OpenMessage, SessionState, Surroundings } from "./session-state.ts";
import { stepUsage } from "./usage.ts";

export type ChunkKind = "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk";

export function onChunk(
  state: SessionState,
  around: Surroundings,
  kind: ChunkKind,
  update: JsonRecord,
  child: string | null,
): Meaning {
  const block = rec(update.content);
  const meta = rec(update._meta);
  const messageId = str(update.messageId) ?? null;
  const part = blockPart(block);
  if (part === null)
    return unknown(
      `content block ${str(block.type) ?? "without type"}`,
      strangePart(state, kind, messageId, update.content, child),
    );
  if (kind === "user_message_chunk") return means(onUserPart(state, messageId, part, child));
  if (part.type !== "text") return means([...flushHeld(state), ...addPart(state, "assistant", messageId, part, child)]);
  if (part.text === "") return means(onEmptyChunk(state, around, meta));
  const meaning = onSaid(state, around, kind, part.text, messageId, meta, child);
  if (!isRecord(meta.usage)) return meaning;
  const drafts = [...meaning.drafts, ...answerUsage(state, meta.usage)];
  return meaning.kind === "mapped" ? means(drafts) : { ...meaning, drafts };
}

/** What nobody understands is shown as it came, in its place in the message. */
function strangePart(state: SessionState, kind: ChunkKind, id: string | null, json: unknown, child: string | null): Draft[] {
  if ((json ?? null) === null) return [];
  const part: DraftPart = { type: "json", json };
  if (kind === "user_message_chunk") return onUserPart(state, id, part, child);
  return [...flushHeld(state), ...addPart(state, "assistant", id, part, child)];
}

function onSaid(
  state: SessionState,
  around: Surroundings,
  kind: ChunkKind,
  said: string,
  messageId: string | null,
  meta: JsonRecord,
  child: string | null,
): Meaning {
  if (kind === "agent_thought_chunk") {
    const prefix = around.quirks.thoughtPrefix;
    const text = prefix !== undefined && said.startsWith(prefix) ? said.slice(prefix.length) : said;
    // A piece with a heading begins a new thought.
    const apart = /^\*\*[^*\n]+\*\*/.test(text) && state.message?.parts.at(-1)?.type === "reasoning";
    return means([...flushHeld(state), ...addThought(state, messageId, apart ? `\n\n${text}` : text, child)]);
  }
  return onText(state, around, said, messageId, meta, child);
}

function onText(
  state: SessionState,
  around: Surroundings,
  text: string,
  messageId: string | null,
  meta: JsonRecord,
  child: string | null,
): Meaning {
  const sign = signOf(state, around, text, messageId);
  if (sign?.of === "mode") return means(modeChanged(state, around, sign.mode));
  if (sign?.of === "notice") return notes("agent_text", { text }, flushHeld(state));
  if (isRecord(meta.contextCompression)) return onCompression(state, text, meta.contextCompression);
  const source = str(meta.source);
  // qwen 0.24: the end of a background task is reported as a text chunk, twice; it is no message of the model.
  if (source === "background_task_completed" || source === "background_notification")
    return notes("background_task", { text, ...rec(meta.backgroundTask) });
  if (sign?.of === "compaction") return means([...flushHeld(state), ...compacted(state)]);
  // What nobody will decide about is the model's: outside of a turn, and in a sub-agent.
  if (sign?.of === "fault" && state.turn !== "none" && child === null) {
    const before = state.held ? flushHeld(state) : [];
    state.held = { text, messageId, fault: sign.fault };
    return means(before);
  }
  // Nothing is held back, nearly always.
  if (state.held === null) return repeatable(state, around, addText(state, messageId, text, child));
  return means([...flushHeld(state), ...addText(state, messageId, text, child)]);
}

/** Where the text of a chunk is. */
const CHUNK_TEXT = ["params", "update", "content", "text"];

/** More of a message that is open: its next texts are translated by adding them, unless they are a sign of something else. */
function repeatable(state: SessionState, around: Surroundings, drafts: Draft[]): Meaning {
  const { message } = state;
  const part = message?.parts.at(-1);
  if (drafts.length !== 1 || message === null || part?.type !== "text") return means(drafts);
  message.repeat ??= {
    path: CHUNK_TEXT,
    say: (text) => {
      const { parts, native } = message;
      const last = parts.at(-1);
      const goesOn = text !== "" && state.message === message && state.held === null && !state.blockBoundary;
      if (!goesOn || last?.type !== "text" || signOf(state, around, text, native) !== null) return false;
      last.text += text;
      return true;
    },
  };
  return { kind: "mapped", drafts, repeat: message.repeat };
}

/** What a text is by the quirks of its agent, when it is not the model's. */
type Sign =
  | { of: "mode"; mode: string }
  | { of: "notice" }
  | { of: "compaction" }
  | { of: "fault"; fault: DisguisedError["fault"] };

function signOf(state: SessionState, around: Surroundings, text: string, messageId: string | null): Sign | null {
  const { quirks } = around;
  if (quirks === PLAIN) return null;
  const mode = quirks.modeText?.exec(text)?.[1];
  if (mode !== undefined) return { of: "mode", mode };
  if (quirks.noticeTexts?.some((pattern) => pattern.test(text))) return { of: "notice" };
  if (quirks.compactedText?.test(text)) return { of: "compaction" };
  const fault = disguise(state, around, text, messageId);
  return fault === null ? null : { of: "fault", fault };
}

/** What an agent says in answer to a command of its own (`/status`) is what was asked for. */
function disguise(
  state: SessionState,
  around: Surroundings,
  text: string,
  messageId: string | null,
): DisguisedError["fault"] | null {
  const { disguisedErrors } = around.quirks;
  if (disguisedErrors === undefined || state.current?.text.startsWith("/")) return null;
  const found = disguisedErrors.find((sign) => {
    if (sign.messageId === "absent" && messageId !== null) return false;
    if (sign.messageId === "uuid" && (messageId === null || !UUID.test(messageId))) return false;
    return sign.pattern.test(text);
  });
  return found?.fault ?? null;
}
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-/i;

function onCompression(state: SessionState, text: string, compression: JsonRecord): Meaning {
  const phase = str(compression.phase);
  if (phase === "progress") return means([{ do: "status", status: { status: "compacting", detail: text } }]);
  return means([
    {
      do: "event",
      type: "session.compacted",
      data: { trigger: state.current?.text.startsWith("/") ? "manual" : "auto", summary: text },
    },
    { do: "status", status: { status: "running" } },
  ]);
}

const compacted = (state: SessionState): Draft[] => [
  { do: "event", type: "session.compacted", data: { trigger: state.current?.text.startsWith("/compact") ? "manual" : "auto" } },
];

/** The text turned out to be the model's own after all. */
export function flushHeld(state: SessionState): Draft[] {
  const { held } = state;
  if (held === null) return [];
  state.held = null;
  return addText(state, held.messageId, held.text, null);
}

function onEmptyChunk(state: SessionState, around: Surroundings, meta: JsonRecord): Draft[] {
  // qwen 0.24: an empty chunk with the usage ends each message of the model.
  if (isRecord(meta.usage)) return answerUsage(state, meta.usage);
  if (around.quirks.emptyChunkOpensBlock) state.blockBoundary = true;
  return [];
}

/** It comes with the last piece of an answer of the model. */
const answerUsage = (state: SessionState, usage: JsonRecord): Draft[] => [
  ...flushHeld(state),
  ...closeMessage(state),
  ...stepUsage(state, usage),
];

const addText = (state: SessionState, id: string | null, text: string, child: string | null): Draft[] =>
  append(state, "assistant", id, { type: "text", text }, child);

const addThought = (state: SessionState, id: string | null, text: string, child: string | null): Draft[] =>
  append(state, "assistant", id, { type: "reasoning", text, visibility: "public" }, child);

function append(
  state: SessionState,
  role: SpeakerRole,
  id: string | null,
  part: DraftPart & { type: "text" | "reasoning" },
  child: string | null,
): Draft[] {
  const { type, text } = part;
  if (state.blockBoundary && state.message?.parts.at(-1)?.type === type) {
    state.blockBoundary = false;
    const closed = closeMessage(state);
    return [...closed, ...append(state, role, id, part, child)];
  }
  state.blockBoundary = false;
  const { message, drafts, joins } = openMessage(state, role, id, child);
  const last = message.parts.at(-1);
  if (last !== undefined && last.type === type && !joins) last.text += text;
  else message.parts.push(part);
  drafts.push({ do: "item.delta", key: message.key, part_type: type, delta: text, part_index: message.parts.length - 1 });
  return drafts;
}

function addPart(state: SessionState, role: SpeakerRole, id: string | null, part: DraftPart, child: string | null): Draft[] {
  const { message, drafts } = openMessage(state, role, id, child);
  message.parts.push(part);
  drafts.push({ do: "item.update", key: message.key, content: message.parts.map((each) => ({ ...each })) });
  return drafts;
}

function openMessage(
  state: SessionState,
  role: SpeakerRole,
  id: string | null,
  child: string | null,
): { message: OpenMessage; drafts: Draft[]; joins?: true } {
  const open = state.message;
  const same = open !== null && open.role === role && open.child === child;
  if (same && open.native === id) return { message: open, drafts: [] };
  // Thoughts begin the answer that follows them, though codex-acp and opencode give them an id of their own.
  if (same && role === "assistant" && open.parts.length > 0 && open.parts.every((part) => part.type === "reasoning")) {
    open.native = id;
    const named: Draft[] = id === null ? [] : [{ do: "item.update", key: open.key, native_item_id: id }];
    return { message: open, drafts: named, joins: true };
  }
  const drafts = [...settleEcho(state, role), ...closeMessage(state)];
  state.messages += 1;
  const message: OpenMessage = { key: state.key(`msg:${state.messages}`), native: id, role, parts: [], child };
  state.message = message;
  if (role === "assistant") state.silent = false;
  if (role === "assistant" && child === null) state.origin = message.key;
  drafts.push({ do: "item.start", item: { key: message.key, native_item_id: id, parent: child, kind: "message", role } });
  return { message, drafts };
}

/** Ends the open message; it is what its fragments made of it. */
/** `cut`: it did not come to its end by itself. */
export function closeMessage(state: SessionState, cut = false): Draft[] {
  const { message } = state;
  if (message === null) return [];
  state.message = null;
  if (message.role === "assistant") state.lastText = textOfParts(message.parts);
  if (message.native !== null) state.ended.set(message.native, textOfParts(message.parts));
  return [{ do: "item.complete", key: message.key, ...(cut ? { status: "failed" as const } : {}) }];
}

/** U17: what was said of an answer that is asked for again. */
export function dropMessage(state: SessionState): Draft[] {
  const { message } = state;
  if (message?.role !== "assistant" || message.child !== null) return [];
  state.message = null;
  if (state.origin === message.key) state.origin = null;
  return [{ do: "item.remove", key: message.key, reason: ASKED_AGAIN }];
}

/** An agent that announced no echo, or sends none: the user's message is what we sent. */
export function settleEcho(state: SessionState, next: SpeakerRole): Draft[] {
  const waiting = state.awaitingEcho;
  if (waiting === null || next === "user") return [];
  state.awaitingEcho = null;
  return [userItem(state, waiting.parts)];
}

export function userItem(state: SessionState, parts: DraftPart[]): Draft {
  state.messages += 1;
  const key = state.key(`msg:${state.messages}`);
  return { do: "item.add", item: { key, native_item_id: null, kind: "message", role: "user", content: parts }, synthetic: true };
}

/** Why nothing more was said. */
export function refusalItem(state: SessionState, text: string): Draft {
  state.messages += 1;
  const key = state.key(`msg:${state.messages}`);
  return {
    do: "item.add",
    item: { key, native_item_id: null, kind: "message", role: "assistant", content: [{ type: "refusal", text }] },
  };
}

/** v2 echoes the message; an agent that echoes in v1 repeats what is known. */
function onUserPart(state: SessionState, id: string | null, part: DraftPart, child: string | null): Draft[] {
  if (state.awaitingEcho === null && state.message?.role !== "user") {
    const known = state.current?.text ?? "";
    if (part.type !== "text" || part.text === "" || known.includes(part.text)) return [];
  }
  state.awaitingEcho = null;
  if (part.type !== "text") return addPart(state, "user", id, part, child);
  return append(state, "user", id, { ...part }, child);
}

/** v2: a whole message at once. Empty content only announces chunks that follow. */
export function onWholeMessage(
  state: SessionState,
  kind: "agent_message" | "agent_thought" | "user_message",
  update: JsonRecord,
  child: string | null,
): Meaning {
  const id = str(update.messageId) ?? null;
  const parts = blockParts(update.content);
  const strange = records(update.content).filter((block) => blockPart(block) === null);
  const drafts = wholeMessage(state, kind, id, parts, child);
  if (strange.length === 0) return means(drafts);
  return unknown(strange.map((block) => `content block ${str(block.type) ?? "without type"}`).join(", "), drafts);
}

function wholeMessage(state: SessionState, kind: string, id: string | null, parts: DraftPart[], child: string | null): Draft[] {
  if (parts.length === 0) return [];
  if (kind === "user_message") return onWholeUserMessage(state, id, parts, child);
  if (state.message?.native === id) return replaceOpen(state, kind, parts);
  if (kind === "agent_message" && id !== null && state.ended.get(id) === textOfParts(parts)) return [];
  const drafts = flushHeld(state);
  for (const part of parts) {
    if (part.type !== "text") drafts.push(...addPart(state, "assistant", id, part, child));
    else if (kind === "agent_thought") drafts.push(...addThought(state, id, part.text, child));
    else drafts.push(...addText(state, id, part.text, child));
  }
  return drafts;
}

function onWholeUserMessage(state: SessionState, id: string | null, parts: DraftPart[], child: string | null): Draft[] {
  const echoed = state.awaitingEcho !== null;
  state.awaitingEcho = null;
  if (!echoed && child === null && (state.current?.text ?? "").includes(textOfParts(parts))) return [];
  state.messages += 1;
  const key = state.key(`msg:${state.messages}`);
  return [
    ...closeMessage(state),
    { do: "item.add", item: { key, native_item_id: id, parent: child, kind: "message", role: "user", content: parts } },
  ];
}

function replaceOpen(state: SessionState, kind: string, parts: DraftPart[]): Draft[] {
  const { message } = state;
  if (message === null) return [];
  const replaces = kind === "agent_thought" ? "reasoning" : "text";
  const kept = message.parts.filter((part) => part.type !== replaces);
  message.parts = [
    ...kept,
    ...parts.map(
      (part): DraftPart =>
        kind === "agent_thought" && part.type === "text" ? { type: "reasoning", text: part.text, visibility: "public" } : part,
    ),
  ];
  return [{ do: "item.update", key: message.key, content: message.parts.map((each) => ({ ...each })) }];
}

/** Messages between sessions of a team (a parent and its sub-agents). */
export function onSessionMessage(state: SessionState, update: JsonRecord, chunk: boolean): Meaning {
  const blocks = chunk ? [update.content] : arr(update.content);
  const text = textOfParts(blockParts(blocks));
  const id = str(update.messageId) ?? "";
  const known = state.letters.get(id);
  const letter = {
    from: str(update.senderSessionId) ?? known?.from ?? "",
    to: str(update.recipientSessionId) ?? known?.to ?? "",
  };
  state.letters.set(id, letter);
  const data = {
    ...letter,
    text,
    metadata: {
      message_id: str(update.messageId) ?? null,
      ...(chunk ? { chunk: true } : {}),
      ...(num(update.index) === undefined ? {} : { index: update.index }),
    },
  };
  return means([{ do: "event", type: "team.message", data }]);
}
