// Builders of native messages for the tests, and a replay through the real session code.

import type { UniversalEvent } from "../../../schema/event.ts";
import type { EventDataOf, EventType } from "../../../schema/event-data.ts";
import type { Item } from "../../../schema/item.ts";
import { type Replay, replayTrace, type TraceRow } from "../../../verify/replay.ts";
import type { JsonRecord } from "../../json.ts";
import { ClaudeTranslator } from "./translator.ts";

export const SESSION = "11111111-2222-4333-8444-555555555555";
let serial = 0;
const envelope = () => ({ uuid: `uuid-${++serial}`, session_id: SESSION });

export const sent = (data: unknown): TraceRow => ({ t_ms: 0, dir: "in", data });
export const out = (data: unknown): TraceRow => ({ t_ms: 0, dir: "out", data });
export const err = (data: string): TraceRow => ({ t_ms: 0, dir: "err", data });
export const exit = (code: number | null, signal: string | null = null): TraceRow => ({
  t_ms: 0,
  dir: "exit",
  data: { code, signal },
});

export const user = (content: unknown, more: JsonRecord = {}): TraceRow =>
  sent({ type: "user", message: { role: "user", content }, parent_tool_use_id: null, session_id: "", ...more });
export const init = (more: JsonRecord = {}): TraceRow =>
  out({
    type: "system",
    subtype: "init",
    model: "m",
    permissionMode: "default",
    tools: [],
    mcp_servers: [],
    ...envelope(),
    ...more,
  });
export const system = (subtype: string, more: JsonRecord = {}): TraceRow =>
  out({ type: "system", subtype, ...envelope(), ...more });
export const assistant = (id: string, block: JsonRecord, more: JsonRecord = {}): TraceRow =>
  out({
    type: "assistant",
    message: { id, model: "m", role: "assistant", content: [block], stop_reason: null },
    parent_tool_use_id: null,
    ...envelope(),
    ...more,
  });
export const text = (value: string): JsonRecord => ({ type: "text", text: value });
export const call = (id: string, name: string, input: JsonRecord): JsonRecord => ({ type: "tool_use", id, name, input });
export const toolResult = (id: string, content: unknown, more: JsonRecord = {}, isError = false): TraceRow =>
  out({
    type: "user",
    message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, content, is_error: isError }] },
    parent_tool_use_id: null,
    ...envelope(),
    ...more,
  });
export const stream = (event: JsonRecord, more: JsonRecord = {}): TraceRow =>
  out({ type: "stream_event", event, parent_tool_use_id: null, ...envelope(), ...more });
export const started = (id: string): TraceRow =>
  stream({ type: "message_start", message: { id, model: "m", content: [], usage: { input_tokens: 3, output_tokens: 1 } } });
export const blockStart = (index: number, block: JsonRecord): TraceRow =>
  stream({ type: "content_block_start", index, content_block: block });
export const delta = (index: number, value: JsonRecord): TraceRow => stream({ type: "content_block_delta", index, delta: value });
export const textDelta = (index: number, value: string): TraceRow => delta(index, { type: "text_delta", text: value });
export const stopped = (more: JsonRecord = {}): TraceRow => stream({ type: "message_stop" }, more);
export const result = (more: JsonRecord = {}): TraceRow =>
  out({
    type: "result",
    subtype: "success",
    is_error: false,
    stop_reason: "end_turn",
    terminal_reason: "completed",
    result: "",
    total_cost_usd: 0,
    usage: { input_tokens: 1, output_tokens: 2 },
    modelUsage: {},
    permission_denials: [],
    ...envelope(),
    ...more,
  });
export const ask = (id: string, request: JsonRecord): TraceRow => out({ type: "control_request", request_id: id, request });
export const reply = (id: string, response: JsonRecord): TraceRow =>
  sent({ type: "control_response", response: { subtype: "success", request_id: id, response } });

export type Played = Replay & { events: UniversalEvent[]; items: Item[]; rules: string[] };

/** The rows through translator, scribe and grammar. `items` are the final ones, in the order in which they were completed. */
export function play(...rows: TraceRow[]): Played {
  const replay = replayTrace(() => new ClaudeTranslator(), rows, { location: "claude" });
  const events = replay.sessions[0]?.events ?? [];
  const items = events.flatMap((event) => (event.type === "item.completed" ? [event.data.item] : []));
  const rules = replay.sessions.flatMap((session) => session.violations.map(({ rule, message }) => `${rule} ${message}`));
  return { ...replay, events, items, rules };
}

export function of<T extends EventType>(played: Played, type: T): EventDataOf[T][] {
  return played.events.filter((event) => event.type === type).map((event) => event.data as EventDataOf[T]);
}

export const answers = (played: Played): Item[] =>
  played.items.filter((item) => item.kind === "message" && item.role === "assistant");
