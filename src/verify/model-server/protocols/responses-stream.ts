// OpenAI Responses: answers written, whole or as the documented sequence of events.

import { type JsonObject, stringOf } from "../json.ts";
import type { Reply, ReplyBlock, ReplyTool } from "../reply.ts";
import type { Frame } from "./protocol.ts";

type Emit = (type: string, fields: JsonObject, content?: boolean) => void;

/** `response.created`, `response.in_progress`, the items, and `response.completed` or `response.incomplete`; numbered throughout. */
export function responseFrames(reply: Reply): Frame[] {
  const { frames, emit } = sequence();
  emit("response.created", { response: shell(reply, "in_progress", []) });
  emit("response.in_progress", { response: shell(reply, "in_progress", []) });
  const output: JsonObject[] = [];
  reply.blocks.forEach((block, at) => {
    if (block.type === "native_event") {
      frames.push({ ...(block.event === undefined ? {} : { event: block.event }), data: block.data });
      return;
    }
    const item = finished(block, itemId(reply, block, at));
    const index = output.length;
    emit("response.output_item.added", { output_index: index, item: started(item) });
    stream(block, stringOf(item.id), index, item, emit);
    emit("response.output_item.done", { output_index: index, item });
    output.push(item);
  });
  const status = statusOf(reply);
  emit(`response.${status}`, { response: ended(reply, status, output) });
  return frames;
}

export function responseBody(reply: Reply): JsonObject {
  const output = reply.blocks.flatMap((block, at) =>
    block.type === "native_event" ? [] : [finished(block, itemId(reply, block, at))],
  );
  return ended(reply, statusOf(reply), output);
}

/** `response.failed` with a code: the way this protocol reports most failures, after a good HTTP status. */
export function responseFailed(reply: Reply, code: string, message: string): Frame[] {
  const { frames, emit } = sequence();
  emit("response.created", { response: shell(reply, "in_progress", []) });
  emit("response.failed", { response: { ...shell(reply, "failed", []), error: { code, message } } });
  return frames;
}

function sequence(): { frames: Frame[]; emit: Emit } {
  const frames: Frame[] = [];
  let number = 0;
  const emit: Emit = (type, fields, content = false) => {
    frames.push({ event: type, data: { type, sequence_number: number++, ...fields }, content });
  };
  return { frames, emit };
}

/** Every key of the specification's response resource. What a request may set is answered with its default: nothing of it changes a script. */
function shell(reply: Reply, status: string, output: JsonObject[]): JsonObject {
  return {
    id: reply.id,
    object: "response",
    created_at: reply.created,
    completed_at: status === "completed" ? reply.created : null,
    status,
    error: null,
    incomplete_details: null,
    instructions: null,
    model: reply.model,
    output,
    tools: [],
    tool_choice: "auto",
    parallel_tool_calls: true,
    truncation: "disabled",
    text: { format: { type: "text" } },
    top_p: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    top_logprobs: 0,
    temperature: 1,
    reasoning: null,
    max_output_tokens: null,
    max_tool_calls: null,
    previous_response_id: null,
    store: false,
    background: false,
    service_tier: "default",
    safety_identifier: null,
    prompt_cache_key: null,
    usage: null,
    metadata: {},
  };
}

function statusOf(reply: Reply): "completed" | "incomplete" {
  const cut = reply.stop === "max_tokens" || reply.stop === "content_filter" || reply.stop === "context_window";
  return cut || reply.native_stop !== undefined ? "incomplete" : "completed";
}

function ended(reply: Reply, status: "completed" | "incomplete", output: JsonObject[]): JsonObject {
  const reason = reply.native_stop ?? (reply.stop === "content_filter" ? "content_filter" : "max_output_tokens");
  const { usage } = reply;
  return {
    ...shell(reply, status, output),
    incomplete_details: status === "incomplete" ? { reason } : null,
    usage: {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: usage.cache_read },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: usage.reasoning },
      total_tokens: usage.input + usage.output,
    },
  };
}

type ItemBlock = Exclude<ReplyBlock, { type: "native_event" }>;

const PREFIXES: Record<ItemBlock["type"], string> = {
  text: "msg",
  refusal: "msg",
  thinking: "rs",
  redacted_thinking: "rs",
  tool: "fc",
  server_tool: "ws",
  native: "item",
};

const itemId = (reply: Reply, block: ItemBlock, at: number): string => `${PREFIXES[block.type]}_${reply.id}_${at}`;
const hidden = Buffer.from("scripted hidden reasoning").toString("base64");

function finished(block: ItemBlock, id: string): JsonObject {
  switch (block.type) {
    case "text":
      return {
        id,
        type: "message",
        status: "completed",
        role: "assistant",
        content: [{ type: "output_text", text: block.pieces.join(""), annotations: [], logprobs: [] }],
        ...(block.phase === undefined ? {} : { phase: block.phase }),
      };
    case "refusal":
      return {
        id,
        type: "message",
        status: "completed",
        role: "assistant",
        content: [{ type: "refusal", refusal: block.pieces.join("") }],
      };
    case "thinking": {
      const text = block.pieces.join("");
      return {
        id,
        type: "reasoning",
        summary: block.style === "raw" ? [] : [{ type: "summary_text", text }],
        ...(block.style === "summary" ? {} : { content: [{ type: "reasoning_text", text }] }),
        encrypted_content: hidden,
      };
    }
    case "redacted_thinking":
      return { id, type: "reasoning", summary: [], encrypted_content: hidden };
    case "tool":
      return toolItem(block, id);
    case "server_tool":
      return { id, type: "web_search_call", status: "completed", action: { type: "search", query: block.query } };
    case "native":
      return { id, ...block.value };
    default:
      return block satisfies never;
  }
}

function toolItem(block: ReplyTool, id: string): JsonObject {
  const text = block.pieces.join("");
  const shared = { id, status: "completed", call_id: block.id, name: block.name };
  if (block.custom) return { ...shared, id: id.replace(/^fc/, "ctc"), type: "custom_tool_call", input: text };
  return {
    ...shared,
    type: "function_call",
    arguments: text,
    ...(block.namespace === undefined ? {} : { namespace: block.namespace }),
  };
}

/** The item as it is announced: nothing in it yet. */
function started(item: JsonObject): JsonObject {
  const empty: JsonObject = { ...item };
  if ("status" in item) empty.status = "in_progress";
  if (item.type === "message") empty.content = [];
  if (item.type === "reasoning") {
    empty.summary = [];
    delete empty.content;
  }
  if (item.type === "function_call") empty.arguments = "";
  if (item.type === "custom_tool_call") empty.input = "";
  return empty;
}

function stream(block: ItemBlock, item_id: string, output_index: number, item: JsonObject, emit: Emit): void {
  const at = { item_id, output_index };
  switch (block.type) {
    case "text":
    case "refusal":
      streamMessage(block, at, emit);
      return;
    case "thinking":
      if (block.style !== "raw") streamSummary(block.pieces, at, emit);
      if (block.style !== "summary") streamRawReasoning(block.pieces, at, emit);
      return;
    case "tool": {
      const [kind, field] = block.custom ? ["custom_tool_call_input", "input"] : ["function_call_arguments", "arguments"];
      for (const delta of block.pieces) emit(`response.${kind}.delta`, { ...at, delta }, true);
      emit(`response.${kind}.done`, { ...at, [field ?? "arguments"]: item[field ?? "arguments"] });
      return;
    }
    case "server_tool":
      emit("response.web_search_call.in_progress", at);
      emit("response.web_search_call.searching", at, true);
      emit("response.web_search_call.completed", at);
      return;
    case "redacted_thinking":
    case "native":
      return;
    default:
      block satisfies never;
  }
}

type At = { readonly item_id: string; readonly output_index: number };

function streamMessage(block: Extract<ItemBlock, { type: "text" | "refusal" }>, at: At, emit: Emit): void {
  const place = { ...at, content_index: 0 };
  const text = block.pieces.join("");
  const part = (value: string): JsonObject =>
    block.type === "text"
      ? { type: "output_text", text: value, annotations: [], logprobs: [] }
      : { type: "refusal", refusal: value };
  const [kind, field] = block.type === "text" ? (["output_text", "text"] as const) : (["refusal", "refusal"] as const);
  emit("response.content_part.added", { ...place, part: part("") });
  for (const delta of block.pieces) emit(`response.${kind}.delta`, { ...place, delta }, true);
  emit(`response.${kind}.done`, { ...place, [field]: text });
  emit("response.content_part.done", { ...place, part: part(text) });
}

function streamSummary(pieces: readonly string[], at: At, emit: Emit): void {
  const place = { ...at, summary_index: 0 };
  const text = pieces.join("");
  emit("response.reasoning_summary_part.added", { ...place, part: { type: "summary_text", text: "" } });
  for (const delta of pieces) emit("response.reasoning_summary_text.delta", { ...place, delta }, true);
  emit("response.reasoning_summary_text.done", { ...place, text });
  emit("response.reasoning_summary_part.done", { ...place, part: { type: "summary_text", text } });
}

function streamRawReasoning(pieces: readonly string[], at: At, emit: Emit): void {
  const place = { ...at, content_index: 0 };
  for (const delta of pieces) emit("response.reasoning_text.delta", { ...place, delta }, true);
  emit("response.reasoning_text.done", { ...place, text: pieces.join("") });
}
