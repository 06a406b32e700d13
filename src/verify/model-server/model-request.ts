// What the server understands of a request, whichever protocol carried it: the history the model sees and the tools it is offered.

import type { JsonObject } from "./json.ts";

export type ProtocolName = "anthropic" | "responses" | "chat" | "gemini";

/** The history in order. One model answer may be several assistant entries in a row (the Responses protocol has one for each item). */
export type HistoryEntry =
  | { readonly role: "system"; readonly text: string }
  | { readonly role: "user"; readonly text: string; readonly images: number }
  | { readonly role: "assistant"; readonly text: string; readonly calls: readonly SeenCall[] }
  | { readonly role: "tool"; readonly call_id: string; readonly text: string; readonly is_error: boolean };

export interface SeenCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface OfferedTool {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly schema: JsonObject;
}

/** Which tools the client lets the model call (null: all), and whether it must call one. */
export interface ToolChoice {
  readonly only: readonly string[] | null;
  readonly must: boolean;
}

export interface ModelRequest {
  readonly protocol: ProtocolName;
  readonly model: string;
  readonly stream: boolean;
  /** The stream is a JSON array instead of server-sent events (Gemini without `alt=sse`). */
  readonly as_array: boolean;
  readonly usage_chunk: boolean;
  readonly system: string;
  readonly history: readonly HistoryEntry[];
  readonly tools: readonly OfferedTool[];
  /** The one tool the client insists on. */
  readonly forced_tool: string | undefined;
  readonly choice?: ToolChoice;
  /** The schema the answer's text must follow. */
  readonly json_schema: JsonObject | undefined;
  /** What the client calls its session, if it says so. */
  readonly session: string | undefined;
}

/** The bare facts of an HTTP call that parsing needs. */
export interface HttpCall {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: JsonObject;
}

/** About how many tokens the history is: four characters each. */
export function estimateTokens(request: ModelRequest): number {
  const texts = [request.system, ...request.history.map((entry) => entry.text)];
  return Math.max(1, Math.ceil(texts.reduce((sum, text) => sum + text.length, 0) / 4));
}

export const lastUserText = (request: ModelRequest): string => {
  const entry = request.history.findLast((one) => one.role === "user" && one.text !== "");
  return entry?.text ?? "";
};
