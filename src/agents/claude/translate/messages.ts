// API messages: one item for each, its text and thinking as parts in block order, whether blocks stream or come whole.
// Tool calls of a message are items of their own (tools.ts).
import type { Draft, DraftPart } from "../../../schema/draft.ts";
import type { Repeat, Translation } from "../../contract.ts";
import { arr, isRecord, type JsonRecord, num, rec, str } from "../../json.ts";
import { heartbeat, mapped, noted, unparsed } from "../../translation.ts";
import { mediaOf } from "./media.ts";
import { serverResult } from "./server-tools.ts";
import { ADDRESS, type BlockState, type ClaudeState, type MessageState, toolKey } from "./state.ts";
import { confirmTool, dropTool, startTool, streamArguments } from "./tools.ts";
import { apiUsage, contextOf, usageSoFar } from "./usage.ts";

/** The message with this id, opened if need be. Another one in the same conversation is thereby over. */
function openMessage(state: ClaudeState, scope: string, id: string, drafts: Draft[], again = false): MessageState {
  const current = state.messages.get(scope);
  if (current?.id === id && !again) return current;
  // 2.1.197 does not end a stream that was cut: the next answer shows that the model was asked again.
  if (current && isCut(current)) abandon(state, current, 0, drafts);
  else if (current) closeMessage(state, current, drafts);
  const times = (state.opened.get(id) ?? 0) + 1;
  state.opened.set(id, times);
  const message: MessageState = {
    id,
    // A background agent's message may go on after the turn that showed its beginning: what comes later is an item of its own.
    key: times === 1 ? `msg:${id}` : `msg:${id}:${times}`,
    scope,
    parent: scope === "" ? null : toolKey(state, scope),
    streamed: false,
    parts: [],
    blocks: new Map(),
    frames: new Map(),
    tools: new Set(),
    aborted: false,
    retracted: false,
    finishReason: null,
    usage: null,
  };
  state.messages.set(scope, message);
  if (scope === "") drafts.push({ do: "step.start", key: message.key });
  drafts.push({
    do: "item.start",
    item: { key: message.key, native_item_id: id, parent: message.parent, kind: "message", role: "assistant" },
  });
  return message;
}

export function closeMessage(state: ClaudeState, message: MessageState, drafts: Draft[]): void {
  state.messages.delete(message.scope);
  if (message.retracted) drafts.push({ do: "item.remove", key: message.key, reason: "retracted by the agent" });
  else
    drafts.push({
      do: "item.complete",
      key: message.key,
      content: message.parts,
      status: message.aborted ? "failed" : "completed",
    });
  if (message.parts.length > 0 && !message.retracted) state.shown = true;
  const { key, frames, tools } = message;
  if (!message.retracted) for (const uuid of frames.keys()) state.recent.set(uuid, { key, frames, tools });
  if (message.scope !== "") return;
  const usage = apiUsage(message.usage);
  if (usage) state.contextUsed = contextOf(usage);
  drafts.push({
    do: "step.end",
    key: message.key,
    ...(message.finishReason === null ? {} : { finish_reason: message.finishReason }),
    ...(usage === null ? {} : { usage }),
  });
}

/** Something of it was streamed and never came whole. */
const isCut = ({ blocks }: MessageState): boolean =>
  [...blocks.values()].some(({ part, tool, confirmed }) => !confirmed && (part !== null || tool !== null));

/** Closes every message on its way, because the turn ends. */
export function closeMessages(state: ClaudeState, drafts: Draft[]): void {
  for (const message of [...state.messages.values()]) closeMessage(state, message, drafts);
}

/** A `stream_event`. */
export function streamEvent(state: ClaudeState, frame: JsonRecord): Translation {
  const event = rec(frame.event);
  const kind = str(event.type) ?? "";
  const type = `stream_event/${kind}`;
  const scope = state.scopeOf(frame);
  const drafts: Draft[] = [];
  if (kind === "message_start") {
    const start = rec(event.message);
    const id = str(start.id) ?? str(frame.api_message_id) ?? state.newKey("unnamed");
    const before = state.messages.get(scope);
    // Some providers give each answer the same id.
    const message = openMessage(state, scope, id, drafts, before !== undefined && isCut(before));
    message.streamed = true;
    message.usage = usageSoFar(null, start.usage);
    return mapped(ADDRESS, type, drafts);
  }
  if (kind === "ping") return heartbeat(ADDRESS, type);
  if (kind === "error") return noted(ADDRESS, type, "stream_error", event.error);
  if (!OF_A_MESSAGE.has(kind)) return unparsed(ADDRESS, "stream_event/unknown", `unknown stream event ${kind}`);
  // 2.1.197 has no api_message_id: the message that streams in this conversation is meant.
  const message = state.messages.get(scope);
  if (!message) return mapped(ADDRESS, type);
  const index = num(event.index) ?? 0;
  switch (kind) {
    case "content_block_start":
      startBlock(state, message, index, rec(event.content_block), drafts);
      return mapped(ADDRESS, type, drafts);
    case "content_block_delta":
      return blockDelta(state, message, index, rec(event.delta), type);
    case "content_block_stop":
      return mapped(ADDRESS, type);
    case "message_delta":
      message.finishReason = str(rec(event.delta).stop_reason) ?? message.finishReason;
      message.usage = usageSoFar(message.usage, event.usage);
      return mapped(ADDRESS, type);
    default:
      endStream(state, message, frame, drafts);
      return mapped(ADDRESS, type, drafts);
  }
}

const OF_A_MESSAGE = new Set([
  "content_block_start",
  "content_block_delta",
  "content_block_stop",
  "message_delta",
  "message_stop",
]);

const isCall = (type: string): boolean => type === "tool_use" || type === "server_tool_use" || type === "mcp_tool_use";

function startBlock(state: ClaudeState, message: MessageState, index: number, block: JsonRecord, drafts: Draft[]): void {
  const type = str(block.type) ?? "unknown";
  const entry: BlockState = { type, part: null, tool: null, confirmed: false };
  message.blocks.set(index, entry);
  if (isCall(type)) {
    const id = str(block.id) ?? `${message.id}:${index}`;
    entry.tool = state.nameCall(message.scope, id, message.key);
    startTool(state, message, entry.tool, { ...block, id }, true, drafts);
  } else if (type === "redacted_thinking") {
    entry.part = addPart(message, { type: "reasoning", text: "", visibility: "private" });
  }
}

function blockDelta(state: ClaudeState, message: MessageState, index: number, delta: JsonRecord, type: string): Translation {
  const kind = str(delta.type) ?? "unknown";
  const drafts: Draft[] = [];
  const block = message.blocks.get(index) ?? unannounced(message, index, kind);
  switch (kind) {
    case "text_delta":
      say(message, block, "text", str(delta.text) ?? "", drafts);
      break;
    case "thinking_delta":
      say(message, block, "reasoning", str(delta.thinking) ?? "", drafts);
      break;
    case "input_json_delta":
      if (block.tool) streamArguments(state, block.tool, str(delta.partial_json) ?? "", drafts);
      break;
    case "signature_delta":
    case "citations_delta":
      break;
    default:
      // The whole block follows in an `assistant` message, so nothing is lost with a delta we do not know.
      return noted(ADDRESS, `${type}:unknown`, "unknown_delta", delta);
  }
  const translation = mapped(ADDRESS, `${type}:${kind}`, drafts);
  const said = block.part === null ? undefined : message.parts[block.part];
  if (said?.type === "text" && kind === "text_delta") translation.repeat = repeated(said, "text");
  if (said?.type === "reasoning" && kind === "thinking_delta") translation.repeat = repeated(said, "thinking");
  return translation;
}

/** The next pieces of a block add to the same part. Each has a `uuid` of its own, which nothing refers to. */
const repeated = (part: { text: string }, name: "text" | "thinking"): Repeat => ({
  path: ["event", "delta", name],
  ignored: [["uuid"]],
  say: (text) => {
    if (text === "") return false;
    part.text += text;
    return true;
  },
});

function unannounced(message: MessageState, index: number, delta: string): BlockState {
  const type = delta === "thinking_delta" ? "thinking" : delta === "input_json_delta" ? "tool_use" : "text";
  const entry: BlockState = { type, part: null, tool: null, confirmed: false };
  message.blocks.set(index, entry);
  return entry;
}

function addPart(message: MessageState, part: DraftPart): number {
  message.parts.push(part);
  return message.parts.length - 1;
}

/** A part begins with its first text: the empty blocks some models send never become one. */
function say(message: MessageState, block: BlockState, type: "text" | "reasoning", text: string, drafts: Draft[]): void {
  if (text === "") return;
  block.part ??= addPart(message, type === "text" ? { type, text: "" } : { type, text: "", visibility: "public" });
  const part = message.parts[block.part];
  if (part && (part.type === "text" || part.type === "reasoning")) part.text += text;
  drafts.push({ do: "item.delta", key: message.key, part_type: type, delta: text, part_index: block.part });
}

/** The stream is over. What it abandoned (an interrupt, a cut connection) natively never existed. */
function endStream(state: ClaudeState, message: MessageState, frame: JsonRecord, drafts: Draft[]): void {
  const abandoned = num(rec(frame.abandoned_blocks).from_block_index);
  if (abandoned !== undefined) abandon(state, message, abandoned, drafts);
  else closeMessage(state, message, drafts);
}

function abandon(state: ClaudeState, message: MessageState, from: number, drafts: Draft[]): void {
  const blocks = message.parts.length + message.tools.size;
  for (const [index, block] of message.blocks) {
    // 2.1.325 counts from the first block that has no `assistant` message; one that has it stays.
    if (index < from || block.confirmed) continue;
    if (block.tool) {
      dropTool(state, block.tool, drafts);
      message.tools.delete(block.tool);
    }
    if (block.part !== null) message.parts.splice(block.part, 1);
    if (block.part !== null)
      for (const other of message.blocks.values()) if (other.part !== null && other.part > block.part) other.part -= 1;
    block.part = null;
  }
  const left = message.parts.length + message.tools.size;
  if (left === 0) message.retracted = true;
  else if (left < blocks) message.aborted = true;
  closeMessage(state, message, drafts);
}

/** The content blocks of an `assistant` frame. */
export function assistantBlocks(state: ClaudeState, frame: JsonRecord, drafts: Draft[]): void {
  const api = rec(frame.message);
  const id = str(api.id) ?? str(frame.uuid) ?? state.newKey("unnamed");
  const message = openMessage(state, state.scopeOf(frame), id, drafts);
  if (frame.aborted === true) message.aborted = true;
  message.finishReason = str(api.stop_reason) ?? message.finishReason;
  // Only an answer that came whole says here why it ended, and what it took; otherwise these are the counts of its start.
  if (str(api.stop_reason) !== undefined) message.usage = usageSoFar(message.usage, api.usage);
  const uuid = str(frame.uuid);
  const content = typeof api.content === "string" ? [{ type: "text", text: api.content }] : arr(api.content);
  for (const block of content) {
    if (!isRecord(block)) continue;
    const made = wholeBlock(state, message, block, drafts);
    if (uuid) message.frames.set(uuid, [...(message.frames.get(uuid) ?? []), ...(made === null ? [] : [made])]);
  }
}

/** A block that came whole. Returns its part, or the id of the call that it is. */
function wholeBlock(state: ClaudeState, message: MessageState, block: JsonRecord, drafts: Draft[]): number | string | null {
  const type = str(block.type) ?? "unknown";
  if (isCall(type)) {
    const id = str(block.id) ?? `${message.id}:${message.tools.size}`;
    const name = state.nameCall(message.scope, id, message.key);
    for (const entry of message.blocks.values()) if (entry.tool === name) entry.confirmed = true;
    if (state.tools.has(name)) confirmTool(state, message, name, block, drafts);
    else startTool(state, message, name, { ...block, id }, false, drafts);
    return name;
  }
  const entry = streamedBlock(message, type);
  if (entry) entry.confirmed = true;
  if (type.endsWith("_tool_result")) {
    serverResult(state, message, block, drafts);
    return null;
  }
  const part = partOf(block, type);
  const citations = arr(block.citations);
  if (citations.length > 0)
    drafts.push({
      do: "event",
      type: "agent.notice",
      data: { name: "citations", detail: { native_item_id: message.id, citations } },
    });
  if (part === null) return entry?.part ?? null;
  const index = entry?.part ?? addPart(message, part);
  if (entry) entry.part = index;
  message.parts[index] = part;
  drafts.push({ do: "item.update", key: message.key, content: [...message.parts] });
  return index;
}

/** The streamed block this whole one repeats: `assistant` comes before the block's own `content_block_stop`, so it is the newest. */
function streamedBlock(message: MessageState, type: string): BlockState | undefined {
  return [...message.blocks.values()].reverse().find((block) => block.type === type && !block.confirmed);
}

/** Null: nothing to show. */
function partOf(block: JsonRecord, type: string): DraftPart | null {
  switch (type) {
    case "text": {
      const text = str(block.text) ?? "";
      return text === "" ? null : { type: "text", text };
    }
    case "thinking": {
      const text = str(block.thinking) ?? "";
      return { type: "reasoning", text, visibility: text === "" ? "private" : "public" };
    }
    case "redacted_thinking":
      return { type: "reasoning", text: "", visibility: "private" };
    case "image":
    case "document":
      return mediaOf(block) ?? { type: "json", json: block };
    default:
      return { type: "json", json: block };
  }
}
