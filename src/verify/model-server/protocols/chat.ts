// OpenAI Chat Completions: requests read, answers written (https://platform.openai.com/docs/api-reference/chat).
// `reasoning_content` is not OpenAI's own; the compatible servers agents talk to send it.

import type { Stop } from "../../../agents/scenario.ts";
import { type JsonObject, objectOf, objectsOf, stringOf, textOf } from "../json.ts";
import type { HistoryEntry, HttpCall, ModelRequest } from "../model-request.ts";
import type { Reply, ReplyBlock, ReplyTool } from "../reply.ts";
import { openaiError } from "./openai-error.ts";
import type { Frame, Protocol } from "./protocol.ts";

const STOPS: Record<Stop, string> = {
  end: "stop",
  tool: "tool_calls",
  max_tokens: "length",
  refusal: "stop",
  content_filter: "content_filter",
  pause: "stop",
  stop_sequence: "stop",
  context_window: "length",
  malformed_call: "tool_calls",
};

export const chat: Protocol = {
  name: "chat",
  callPrefix: "call",
  replyPrefix: "chatcmpl",
  parse,
  frames,
  body,
  error: openaiError,
  streamError: (type, message) => [{ data: openaiError(500, message, type ?? "server_error") }],
  failed: (_reply, code, message) => [{ data: openaiError(500, message, code) }],
  overflow: () => ({
    status: 400,
    body: {
      error: {
        message: "This model's maximum context length is 128000 tokens. However, your messages resulted in 250000 tokens.",
        type: "invalid_request_error",
        param: "messages",
        code: "context_length_exceeded",
      },
    },
  }),
};

function parse(call: HttpCall): ModelRequest {
  const { body: sent } = call;
  const messages = objectsOf(sent.messages);
  const isSystem = (message: JsonObject): boolean => message.role === "system" || message.role === "developer";
  const format = objectOf(sent.response_format);
  const schema = format.type === "json_schema" ? objectOf(objectOf(format.json_schema).schema) : undefined;
  const forced = stringOf(objectOf(objectOf(sent.tool_choice).function).name);
  return {
    protocol: "chat",
    model: stringOf(sent.model) || "scripted-model",
    stream: sent.stream === true,
    as_array: false,
    usage_chunk: objectOf(sent.stream_options).include_usage === true,
    system: messages
      .filter(isSystem)
      .map((message) => textOf(message.content))
      .join("\n"),
    history: messages.filter((message) => !isSystem(message)).map(entry),
    tools: objectsOf(sent.tools).map((tool) => {
      const described = objectOf(tool.function);
      return { name: stringOf(described.name), namespace: undefined, schema: objectOf(described.parameters) };
    }),
    forced_tool: forced || undefined,
    json_schema: schema,
    session: call.headers["x-session-affinity"] ?? call.headers["x-session-id"] ?? (stringOf(sent.prompt_cache_key) || undefined),
  };
}

function entry(message: JsonObject): HistoryEntry {
  if (message.role === "tool") {
    return { role: "tool", call_id: stringOf(message.tool_call_id), text: textOf(message.content), is_error: false };
  }
  if (message.role === "assistant") {
    const calls = objectsOf(message.tool_calls).map((one) => {
      const called = objectOf(one.function);
      return { id: stringOf(one.id), name: stringOf(called.name), arguments: stringOf(called.arguments) };
    });
    return { role: "assistant", text: textOf(message.content), calls };
  }
  const images = objectsOf(message.content).filter((part) => part.type === "image_url").length;
  return { role: "user", text: textOf(message.content), images };
}

const usage = ({ usage: numbers }: Reply): JsonObject => ({
  prompt_tokens: numbers.input,
  completion_tokens: numbers.output,
  total_tokens: numbers.input + numbers.output,
  prompt_tokens_details: { cached_tokens: numbers.cache_read },
  completion_tokens_details: { reasoning_tokens: numbers.reasoning },
});

const toolOf = (tool: ReplyTool): JsonObject => ({
  id: tool.id,
  type: "function",
  function: { name: tool.name, arguments: tool.custom ? JSON.stringify(tool.input) : tool.pieces.join("") },
});

function frames(reply: Reply, request: ModelRequest): Frame[] {
  const shared = {
    id: reply.id,
    object: "chat.completion.chunk",
    created: reply.created,
    model: reply.model,
    system_fingerprint: null,
  };
  const chunk = (delta: JsonObject, finish: string | null = null): JsonObject => ({
    ...shared,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    ...(request.usage_chunk ? { usage: null } : {}),
  });
  const out: Frame[] = [{ data: chunk({ role: "assistant", content: "", refusal: null }) }];
  let calls = 0;
  for (const block of reply.blocks) {
    if (block.type === "native_event") {
      out.push({ ...(block.event === undefined ? {} : { event: block.event }), data: block.data });
      continue;
    }
    for (const delta of deltas(block, calls)) out.push({ data: chunk(delta), content: true });
    if (block.type === "tool") calls += 1;
  }
  out.push({ data: chunk({}, reply.native_stop ?? STOPS[reply.stop]) });
  if (request.usage_chunk) out.push({ data: { ...shared, choices: [], usage: usage(reply) } });
  out.push({ data: "[DONE]" });
  return out;
}

function deltas(block: Exclude<ReplyBlock, { type: "native_event" }>, index: number): JsonObject[] {
  switch (block.type) {
    case "text":
      return block.pieces.map((content) => ({ content }));
    case "thinking":
      return block.pieces.map((reasoning_content) => ({ reasoning_content }));
    case "refusal":
      return block.pieces.map((refusal) => ({ refusal }));
    case "tool": {
      const pieces = block.custom ? [JSON.stringify(block.input)] : block.pieces;
      const first = { index, id: block.id, type: "function", function: { name: block.name, arguments: "" } };
      return [{ tool_calls: [first] }, ...pieces.map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] }))];
    }
    case "native":
      return [block.value];
    case "redacted_thinking":
    case "server_tool":
      return [];
    default:
      return block satisfies never;
  }
}

function body(reply: Reply): JsonObject {
  const joined = (type: "text" | "thinking" | "refusal"): string =>
    reply.blocks.flatMap((block) => (block.type === type ? block.pieces : [])).join("");
  const calls = reply.blocks.flatMap((block) => (block.type === "tool" ? [toolOf(block)] : []));
  const message: JsonObject = {
    role: "assistant",
    content: joined("text") || null,
    refusal: joined("refusal") || null,
    ...(joined("thinking") ? { reasoning_content: joined("thinking") } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  return {
    id: reply.id,
    object: "chat.completion",
    created: reply.created,
    model: reply.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: reply.native_stop ?? STOPS[reply.stop] }],
    usage: usage(reply),
  };
}
