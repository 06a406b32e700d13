// Native messages for tests, in the shape the real builds write them.

import type { Draft, DraftOf } from "../../../schema/draft.ts";
import type { NativeMessage, Translation } from "../../contract.ts";
import type { AmpTranslator } from "./translator.ts";

export const THREAD = "T-00000000-0000-4000-8000-000000000001";

const out = (data: unknown): NativeMessage => ({ dir: "out", data });

export const init = (more: Record<string, unknown> = {}): NativeMessage =>
  out({
    type: "system",
    subtype: "init",
    cwd: "/workspace",
    session_id: THREAD,
    tools: ["Bash", "Read"],
    mcp_servers: [],
    ...more,
  });

export const echo = (text: string): NativeMessage => user([{ type: "text", text }]);

export const user = (content: unknown, parent: string | null = null): NativeMessage =>
  out({ type: "user", message: { role: "user", content }, parent_tool_use_id: parent, session_id: THREAD });

export const toolResult = (id: string, content: unknown, is_error = false): NativeMessage =>
  user([{ type: "tool_result", tool_use_id: id, content, is_error }]);

export const usage = {
  input_tokens: 100,
  cache_creation_input_tokens: 7,
  cache_read_input_tokens: 11,
  output_tokens: 20,
  max_tokens: 168000,
  service_tier: "standard",
};

export const assistant = (content: unknown[], stop_reason: string | null, parent: string | null = null): NativeMessage =>
  out({
    type: "assistant",
    message: { type: "message", role: "assistant", content, stop_reason, usage },
    parent_tool_use_id: parent,
    session_id: THREAD,
  });

export const answer = (text: string): NativeMessage => assistant([{ type: "text", text }], "end_turn");

export const call = (id: string, name: string, input: unknown): NativeMessage =>
  assistant([{ type: "tool_use", id, name, input }], "tool_use");

export const success = (result: string): NativeMessage =>
  out({ type: "result", subtype: "success", duration_ms: 5, is_error: false, num_turns: 1, result, session_id: THREAD });

export const failure = (error: string): NativeMessage =>
  out({
    type: "result",
    subtype: "error_during_execution",
    duration_ms: 5,
    is_error: true,
    num_turns: 0,
    error,
    session_id: THREAD,
  });

export const exit = (code: number | null, signal: string | null = null): NativeMessage => ({
  dir: "exit",
  data: { code, signal },
});

export const sent = (text: string, more: Record<string, unknown> = {}): NativeMessage => ({
  dir: "in",
  data: { type: "user", ...more, message: { role: "user", content: [{ type: "text", text }] } },
});

export const line = (text: string): NativeMessage => out(text);
export const stderr = (text: string): NativeMessage => ({ dir: "err", data: text });

export const play = (translator: AmpTranslator, ...messages: NativeMessage[]): Translation[] =>
  messages.flatMap((message) => translator.translate(message));

export const draftsOf = (translations: Translation[]): Draft[] => translations.flatMap(({ drafts }) => drafts);

export const of = <D extends Draft["do"]>(translations: Translation[], kind: D): DraftOf<D>[] =>
  draftsOf(translations).filter((draft): draft is DraftOf<D> => draft.do === kind);
